package hook

import (
	"bytes"
	"strings"
	"syscall"

	"tongs-agents/proc"
)

// environ is the environment that the process was started with, as the kernel
// keeps it: NAME=VALUE, each with a NUL behind it. It is nil if Run has not
// read it; then package syscall is asked, which at the first question makes a
// map of all variables, in 14 pages of memory and 5 % of the CPU time of an
// empty Go program. Nothing that Run leads to sets a variable.
var environ []byte

// environSpace is longer than most environments. A longer one is left to
// package syscall.
var environSpace [64 << 10]byte

func readEnviron() {
	if text, err := proc.Root.OwnEnviron(environSpace[:]); err == nil {
		environ = text
	}
}

// Getenv returns the value of a variable, empty if there is none.
func Getenv(name string) string {
	if environ == nil {
		value, _ := syscall.Getenv(name)
		return value
	}
	for rest := environ; len(rest) > 0; {
		var entry []byte
		entry, rest, _ = bytes.Cut(rest, nul)
		if len(entry) > len(name) && entry[len(name)] == '=' && string(entry[:len(name)]) == name {
			return string(entry[len(name)+1:])
		}
	}
	return ""
}

var nul = []byte{0}

// eachVariable calls do with each variable and its value.
func eachVariable(do func(name, value string)) {
	if environ == nil {
		for _, entry := range syscall.Environ() {
			name, value, _ := strings.Cut(entry, "=")
			do(name, value)
		}
		return
	}
	for entry := range bytes.SplitSeq(environ, nul) {
		name, value, _ := strings.Cut(string(entry), "=")
		do(name, value)
	}
}
