package main

import "fmt"

// payloadSize feeds the hook with tool results of growing size.
func payloadSize(b *run) error {
	drain, err := b.buildGo("drain.go")
	if err != nil {
		return err
	}
	state := b.state(b.sizes[0])
	t := &table{
		title: "4. The hook by the size of the payload (PostToolUse, a pipe), against a program that only reads the pipe",
		head:  []string{"payload", "CPU ms", "wall ms", "faults", "KiB", "MB/s", "CPU ÷ reader", "budget"},
	}
	const huge = 16 << 20
	for _, of := range []struct {
		name  string
		bytes int
		text  func(int) []byte
		n     int
	}{
		{"300 B", 300, escapedText, b.n / 2},
		{"64 KiB of program text", 64 << 10, escapedText, b.n / 2},
		{"64 KiB of base64", 64 << 10, base64Text, b.n / 2},
		{"1 MiB of program text", 1 << 20, escapedText, b.n / 4},
		{"1 MiB of base64", 1 << 20, base64Text, b.n / 4},
		{"16 MiB of program text", huge, escapedText, b.n / 10},
		{"16 MiB of base64", huge, base64Text, b.n / 10},
	} {
		hook := b.hook(of.name, state, toolDone(of.bytes, of.text))
		reader := &program{name: "reader of a pipe", argv: []string{drain}, env: hook.env, input: hook.input}
		samples, err := b.checked(state, max(of.n, 3), hook, reader)
		if err != nil {
			return err
		}
		kib, kibErr := medianOf(3, resident, hook)
		speed, budget := none, ""
		if of.bytes >= 1<<20 { // else it is the start of the process that counts
			speed = fmt.Sprintf("%.0f", megabytes(of.bytes, samples[0]))
		}
		if of.bytes == huge {
			budget = "MB/s " + atLeast(megabytes(of.bytes, samples[0]), 150)
			if kibErr == nil {
				budget += ", KiB " + atMost(kib, 16<<10)
			}
		}
		t.add(hook.name, milliseconds(median(samples[0], cpu)), milliseconds(median(samples[0], wall)),
			fmt.Sprintf("%.0f", median(samples[0], faults)), cell(kib, kibErr), speed,
			compare(samples[0], samples[1], cpu).String(), budget)
	}
	t.print()
	return nil
}

// megabytes are how many of them went through in a second of wall time.
func megabytes(bytes int, samples []sample) float64 {
	return float64(bytes) / 1e6 / median(samples, wall)
}
