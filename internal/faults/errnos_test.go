package main

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestErrnos: every errno of the tables is one.
func TestErrnos(t *testing.T) {
	known := map[string]bool{}
	for n := range 200 {
		known[unix.ErrnoName(unix.Errno(n))] = true
	}
	for _, table := range []map[string][]string{errnos, runtimeErrnos, {"": slices.Concat(creating, inherited)}} {
		for call, names := range table {
			for _, name := range names {
				if !known[name] {
					t.Errorf("%s: no errno %s", call, name)
				}
			}
		}
	}
}
