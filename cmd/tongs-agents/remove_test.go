package main

import (
	"sync"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// A record that its hooks write meanwhile is hidden, and none of their events
// is lost.
func TestRemoveBesideWriter(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TONGS_AGENTS_STATE_DIR", dir)
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	first, err := makeRecord("codex", "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Import(first, time.Second); err != nil {
		t.Fatal(err)
	}
	const events = 200
	started := make(chan bool)
	var last *fsstore.Record
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range events {
			r, err := store.Update(first.Key, fsstore.Rules{Wait: 5 * time.Second}, func(old *fsstore.Record) (*fsstore.Record, error) {
				r := *old
				return &r, nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			last = r
			if i == 0 {
				close(started)
			}
			time.Sleep(time.Millisecond)
		}
	})
	<-started
	c, err := readRemovables(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for tries := 1; ; tries++ {
		done, err := c.remove(c.listed)
		if err == nil && len(done) == 1 && done[0].Record {
			break
		}
		if tries == 20 {
			t.Errorf("removed %+v, %v", done, err)
			break
		}
	}
	writer.Wait()
	if last.RemovedAt == 0 || last.Arrival != events+1 {
		t.Errorf("removed at %d, %d writes; want some time, %d", last.RemovedAt, last.Arrival, events+1)
	}
}
