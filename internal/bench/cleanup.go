package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

// cleanup compares a maintenance run on a store of which half is over with a
// program that only reads all records and unlinks that half.
func cleanup(b *run) error {
	reader, err := b.buildGo("read.go")
	if err != nil {
		return err
	}
	t := &table{
		title: "7. cleanup against a program that only reads all records and unlinks half",
		head:  []string{"records, half of them over", "CPU ms", "reader's", "CPU ÷ reader", "wall ÷ reader", "budget"},
	}
	// A new store each time: on ext4 new files cost more where others were
	// unlinked a moment ago.
	stores := 0
	newStore := func(n int, mode string) (string, error) {
		stores++
		state := filepath.Join(b.dir, fmt.Sprintf("state-cleanup-%d", stores))
		return state, halfDead(state, n, mode)
	}
	n := b.sizes[len(b.sizes)-1]
	for _, half := range []struct{ name, mode string }{
		{fmt.Sprintf("%d, which cannot be resumed", n), fsstore.Headless},
		{fmt.Sprintf("%d, each written to the archive", n), fsstore.Interactive},
	} {
		clean := &program{name: "cleanup", argv: []string{b.bin + "/tongs-agents", "cleanup"}}
		clean.ready = func() error {
			state, err := newStore(n, half.mode)
			clean.env = b.env(state)
			return err
		}
		read := &program{name: "reader", env: b.env(b.dir)}
		read.ready = func() error {
			state, err := newStore(n, half.mode)
			read.argv = []string{reader, state + "/sessions", `"harness_id":"claude"`}
			return err
		}
		samples, err := rounds(5, clean, read)
		if err != nil {
			return err
		}
		r := compare(samples[0], samples[1], cpu)
		t.add(half.name, milliseconds(median(samples[0], cpu)), milliseconds(median(samples[1], cpu)),
			r.String(), compare(samples[0], samples[1], wall).String(), atMost(r.mid, 6.0))
	}
	t.print()
	return nil
}

// halfDead makes a store of which the processes of half of the records are
// gone; the mode is that of these sessions. All others are of this process, and of no agent found by its name.
func halfDead(state string, n int, mode string) error {
	store, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		return err
	}
	defer store.Close()
	host := proc.Root.Host()
	self, err := proc.Root.Stat(os.Getpid())
	if err != nil {
		return err
	}
	for i := range n {
		r := otherRecord(i, host)
		r.Mode = mode
		if r.Status == fsstore.Ended {
			r.Status = fsstore.Idle
		}
		if i%2 == 0 {
			r.Harness = harness.Other
			r.PID, r.ProcessStart = strconv.Itoa(self.PID), self.Start
			r.Instance = r.PID + ":" + r.ProcessStart
		}
		if _, err := store.Import(r, time.Minute); err != nil {
			return err
		}
	}
	return nil
}
