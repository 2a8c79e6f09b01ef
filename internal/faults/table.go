package main

import (
	"fmt"
	"io"
	"strings"

	"tongs-agents/internal/mdtable"
)

// row is what came of the faults in the calls of one scenario: ours, or those
// of the Go runtime.
type row struct {
	scenario string
	runtime  bool
	calls    int
	kills    int
	errors   int // calls that were made to fail
	crashed  int // so that the runtime ended the program
	missed   int
	failures int
}

// count counts the calls of the runtime, or the others.
func count(calls []Call, runtime bool) (n int) {
	for _, c := range calls {
		if c.Runtime == runtime {
			n++
		}
	}
	return n
}

// add counts a trial, and prints what was wrong.
func (r *row) add(t trial, a answer) {
	if t.Fault == kill {
		r.kills++
	} else {
		r.errors++
	}
	if a.Crashed {
		r.crashed++
	}
	if a.Missed {
		r.missed++
	}
	if a.Missed && !r.runtime { // which does not call the same in every run
		fmt.Printf("%s: %s: never hit\n", r.scenario, t)
	}
	if len(a.Failures) > 0 {
		r.failures++
		fmt.Printf("%s: %s\n  %s\n  %s\n  %s\n", r.scenario, t, a.Line, a.Status, strings.Join(a.Failures, "\n  "))
	}
}

func printTable(out io.Writer, rows []row) error {
	t := mdtable.Table{Texts: 2, Head: []string{
		"scenario", "calls of", "calls", "killed at", "made to fail", "crashed", "never hit", "failures",
	}}
	for _, r := range rows {
		of := "ours"
		if r.runtime {
			of = "Go runtime"
		}
		t.Add(r.scenario, of, r.calls, r.kills, r.errors, r.crashed, r.missed, r.failures)
	}
	return t.Print(out)
}
