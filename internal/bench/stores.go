package main

import (
	"fmt"
	"slices"
)

// storeSize compares the hook in a small and in a large store.
func storeSize(b *run) error {
	few, many := b.sizes[0], b.sizes[len(b.sizes)-1]
	small := b.hook(fmt.Sprint(few), b.state(few), prompt(session))
	large := b.hook(fmt.Sprint(many), b.state(many), prompt(session))
	if _, err := once(small); err != nil {
		return err
	}
	samples, err := b.checked(b.state(many), max(b.n/2, 3), small, large)
	if err != nil {
		return err
	}
	r := compare(samples[1], samples[0], cpu)
	t := &table{
		title: "3. The hook by the number of records of other sessions",
		head:  slices.Concat([]string{"records"}, figuresHead, []string{"CPU ÷ fewest", "budget"}),
	}
	t.add(slices.Concat([]string{small.name}, figures(small, samples[0]), []string{"1", ""})...)
	t.add(slices.Concat([]string{large.name}, figures(large, samples[1]), []string{r.String(), atMost(r.mid, 1.05)})...)
	t.print()
	return nil
}

// listings compares the commands that list a store with a program that only
// reads it.
func listings(b *run) error {
	reader, err := b.buildGo("read.go")
	if err != nil {
		return err
	}
	t := &table{
		title: "5. Listings against a program that only opens, reads and closes the records",
		head:  []string{"command", "records", "CPU ms", "reader's", "CPU ÷ reader", "wall ÷ reader", "budget", "KiB"},
	}
	for i, n := range b.sizes {
		read := &program{name: "reader", argv: []string{reader, b.state(n) + "/sessions"}, env: b.env(b.state(n))}
		for j, command := range []string{"status", "ps"} {
			pairs := max(b.n/[]int{4, 10, 20}[i]/(j+1), 3)
			list := &program{name: command, argv: []string{b.bin + "/tongs-agents", command, "--json"}, env: b.env(b.state(n))}
			samples, err := rounds(pairs, list, read)
			if err != nil {
				return err
			}
			r, verdict := compare(samples[0], samples[1], cpu), ""
			if command == "status" && i == len(b.sizes)-1 {
				verdict = atMost(r.mid, 2.0)
			}
			t.add(command+" --json", fmt.Sprint(n), milliseconds(median(samples[0], cpu)), milliseconds(median(samples[1], cpu)),
				r.String(), compare(samples[0], samples[1], wall).String(), verdict, cell(medianOf(1, resident, list)))
		}
	}
	t.print()
	fmt.Println("\nThe processes of these records are gone, which ps finds out for each.")
	return nil
}
