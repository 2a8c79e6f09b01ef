package main

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"tongs-agents/internal/mdtable"
)

// report is the table.
type report struct {
	checks []*check
}

// check is a row of it: something that was looked at, how often, and how often
// it was wrong.
type check struct {
	part, what string

	mu       sync.Mutex
	count    int
	failures int
}

// shownFailures is how many failures of a check are printed.
const shownFailures = 5

// add adds a row.
func (r *report) add(part, what string) *check {
	c := &check{part: part, what: what}
	r.checks = append(r.checks, c)
	return c
}

// seen counts what was looked at.
func (c *check) seen(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count += n
}

// fail counts a failure, and says what it is if there were few.
func (c *check) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures++; c.failures <= shownFailures {
		fmt.Printf("%s, %s: %s\n", c.part, c.what, fmt.Sprintf(format, args...))
	}
}

// print prints the table. What never happened could not be wrong, and shows
// nothing.
func (r *report) print(out io.Writer) error {
	t := mdtable.Table{Texts: 2, Head: []string{"part", "what", "count", "failures"}}
	for _, c := range r.checks {
		if c.count == 0 {
			c.fail("never happened")
		}
		t.Add(c.part, c.what, c.count, c.failures)
	}
	return t.Print(out)
}

// good reports whether nothing of what was printed was wrong.
func (r *report) good() bool {
	return len(r.checks) > 0 && !slices.ContainsFunc(r.checks, func(c *check) bool { return c.failures > 0 })
}
