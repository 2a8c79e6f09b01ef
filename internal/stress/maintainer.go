package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"tongs-agents/fsstore/maintain"
)

// maintainer is a program that maintains the store whenever it is asked to.
func maintainer(args []string) error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q struct{}
		if err := in.Decode(&q); err != nil {
			return ended(err)
		}
		a := maintenance{Result: maintain.Run(args[0], maintain.Options{Forced: true})}
		if a.Result.Err != nil {
			a.Err = a.Result.Err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

type maintenance struct {
	maintain.Result
	Err string
}

func (m *many) maintainOn(keeper *child) error {
	for every := time.NewTicker(maintain.Interval); !m.over(); {
		if err := m.maintain(keeper); err != nil {
			return err
		}
		select {
		case <-m.time.Done():
		case <-every.C:
		}
	}
	return nil
}

// maintain runs one maintenance, once the live view's own is over.
func (m *many) maintain(keeper *child) error {
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		before := m.fleet.snapshot()
		var a maintenance
		if err := keeper.ask(struct{}{}, &a); err != nil {
			return fmt.Errorf("the maintainer gives no answer: %w", err)
		}
		if a.Skipped == maintain.Busy && time.Since(begin) < patience {
			continue
		}
		m.maintained.seen(1)
		if a.Skipped != "" {
			m.maintained.fail("skipped: %s %s", a.Skipped, a.Err)
			return nil
		}
		m.fleet.sweep(before)
		m.removed(a.Removed)
		return nil
	}
}

// removed checks that what a maintenance has removed is over.
func (m *many) removed(changes []maintain.Change) {
	m.fleet.mu.Lock()
	defer m.fleet.mu.Unlock()
	for _, c := range changes {
		at, known := m.fleet.byID[c.Session]
		if !known { // an agent before its first event
			continue
		}
		if s := m.fleet.all[at]; !s.leaving && !s.ended {
			m.maintained.fail("%s is removed, because %s: %+v", c.Session, c.Why, *s)
		}
	}
}
