package main

import "fmt"

// bars compares the line for a status bar, which is asked for every second,
// with a program that does nothing and with the whole list.
func bars(b *run) error {
	empty, err := b.buildGo("empty.go")
	if err != nil {
		return err
	}
	const usual = 50
	if err := fill(b.state(usual), usual); err != nil {
		return err
	}
	t := &table{
		title: "6. status --format tmux against an empty Go program and against status --json",
		head:  []string{"records", "CPU ms", "wall ms", "CPU ÷ empty", "CPU ÷ status --json", "wall ÷ status --json"},
	}
	for _, n := range []int{usual, b.sizes[len(b.sizes)-1]} {
		env := b.env(b.state(n))
		status := []string{b.bin + "/tongs-agents", "status"}
		line := &program{name: "status --format tmux", argv: append(status[:2:2], "--format", "tmux"), env: env}
		list := &program{name: "status --json", argv: append(status[:2:2], "--json"), env: env}
		nothing := &program{name: "empty Go program", argv: []string{empty}, env: env}
		pairs := b.n / 4
		if n > usual {
			pairs = b.n / 20
		}
		samples, err := rounds(max(pairs, 3), line, list, nothing)
		if err != nil {
			return err
		}
		t.add(fmt.Sprint(n), milliseconds(median(samples[0], cpu)), milliseconds(median(samples[0], wall)),
			compare(samples[0], samples[2], cpu).String(), compare(samples[0], samples[1], cpu).String(),
			compare(samples[0], samples[1], wall).String())
	}
	t.print()
	return nil
}
