package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peers compares our commands with what a user could run instead, and with a
// program that does nothing: that costs a status bar each second, too.
func peers(b *run) error {
	empty, err := b.buildGo("empty.go")
	if err != nil {
		return err
	}
	const usual = 50
	if err := fill(b.state(usual), usual); err != nil {
		return err
	}
	for i, n := range []int{usual, b.sizes[len(b.sizes)-1]} {
		t := &table{
			title: fmt.Sprintf("6%c. The commands and what else could be run, with %d records", 'a'+i, n),
			head:  []string{"program", "CPU ms", "wall ms", "faults", "CPU ÷ empty Go program", "CPU, status --format tmux ÷ it"},
		}
		env := b.env(b.state(n))
		all := []*program{
			{name: "empty Go program", argv: []string{empty}},
			{name: "status --format tmux", argv: []string{b.bin + "/tongs-agents", "status", "--format", "tmux"}},
			{name: "status", argv: []string{b.bin + "/tongs-agents", "status"}},
			{name: "ps", argv: []string{b.bin + "/tongs-agents", "ps"}},
		}
		others, err := alternatives(b.state(n) + "/sessions")
		if err != nil {
			return err
		}
		all = append(all, others...)
		for _, p := range all {
			p.env = env
		}
		pairs := b.n / 4
		if n > usual {
			pairs = b.n / 20
		}
		samples, err := rounds(max(pairs, 3), all...)
		if err != nil {
			return err
		}
		for i, p := range all {
			s := samples[i]
			t.add(p.name, milliseconds(median(s, cpu)), milliseconds(median(s, wall)), fmt.Sprintf("%.0f", median(s, faults)),
				compare(s, samples[0], cpu).String(), compare(samples[1], s, cpu).String())
		}
		t.print()
	}
	return nil
}

// alternatives are what a user without the program counts agents with: the
// processes by name, and scripts that read the same files and print the same
// numbers, but look at nothing else: no pid, no age, no duplicate.
func alternatives(sessions string) ([]*program, error) {
	names, err := filepath.Glob(sessions + "/*.json")
	if err != nil {
		return nil, err
	}
	list := filepath.Join(filepath.Dir(sessions), "records") // an argument list has its limits
	text := []byte(nil)
	for _, name := range names {
		text = append(append(text, name...), 0)
	}
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return nil, err
	}
	interpreter, err := python()
	if err != nil {
		interpreter = "python3" // looked for below
	}
	var all []*program
	for _, p := range []program{
		{name: "pgrep -c", argv: []string{"pgrep", "-c", "-x", "claude"}}, // this program has that name
		{name: "ps -e", argv: []string{"ps", "-eo", "pid,tty,etime,comm,args"}},
		{name: "jq", argv: []string{"sh", "-c", `xargs -0 cat <"$0" | jq -nc 'reduce inputs.status as $s ({}; .[$s] += 1)'`, list}},
		{name: "python3", argv: []string{interpreter, "-c", source("count.py"), list}},
	} {
		if p.argv[0], err = exec.LookPath(p.argv[0]); err != nil {
			note(err.Error())
			continue
		}
		all = append(all, &p)
	}
	return all, nil
}
