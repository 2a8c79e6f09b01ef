package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// trace runs a program under strace(1) and returns what that printed. Option
// -D keeps the program a child of ours: with strace in between, a hook would
// look at one ancestor more.
func trace(p *program, options ...string) (string, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(strace, slices.Concat([]string{"-D", "-f", "-qq"}, options, p.argv)...)
	cmd.Env = p.env
	if p.input != nil {
		cmd.Stdin = bytes.NewReader(p.input())
	}
	var out bytes.Buffer
	cmd.Stderr = &out // Wait ends with the last process that has it
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("strace %s: %w\n%s", p.name, err, out.Bytes())
	}
	return out.String(), nil
}

// calls counts the system calls of a program and its children.
func calls(p *program) (int, error) {
	out, err := trace(p, "-c")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		// % time, seconds, usecs/call, calls, errors if any, name
		if f := strings.Fields(line); len(f) >= 5 && f[len(f)-1] == "total" {
			return strconv.Atoi(f[3])
		}
	}
	return 0, fmt.Errorf("strace %s: no total in\n%s", p.name, out)
}

// call matches a system call in the output of strace: its name and arguments.
var call = regexp.MustCompile(`(?m)^(?:\[pid +\d+\] )?(\w+)\((.*)`)

// work lists the system calls on files that a program makes from its first
// look at standard input on: what comes earlier is the Go runtime's.
func work(p *program) ([]string, error) {
	out, err := trace(p, "-e", "trace=%file,%desc,getppid,geteuid")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range call.FindAllStringSubmatch(out, -1) {
		name, args := m[1], m[2]
		switch {
		case name == "mmap", name == "pread64": // the runtime's at any time
			continue
		case name == "newfstatat" && strings.Contains(args, `, "",`):
			name = "fstat" // as glibc spells it
		}
		names = append(names, name)
	}
	return names[max(slices.Index(names, "ioctl"), 0):], nil
}

// difference says where two programs make other calls, "" if they do not.
func difference(a, b *program) (string, error) {
	of, err := work(a)
	if err != nil {
		return "", err
	}
	other, err := work(b)
	if err != nil || slices.Equal(of, other) {
		return "", err
	}
	for i := range max(len(of), len(other)) {
		if i == len(of) || i == len(other) || of[i] != other[i] {
			return fmt.Sprintf("call %d: %s makes %q, %s makes %q", i+1,
				a.name, of[min(i, len(of)):min(i+3, len(of))], b.name, other[min(i, len(other)):min(i+3, len(other))]), nil
		}
	}
	return "", nil
}
