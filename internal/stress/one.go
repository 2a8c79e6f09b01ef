package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
)

const partOne = "one session"

// hookWait is how long a hook waits for the locks of its session.
const hookWait = 2 * time.Second

// oneSession lets many processes write one session at once: through the library,
// which says what each event came to, and then through the hook.
func (d *driver) oneSession() error {
	what := func(writers, events int) string { return fmt.Sprintf("%d processes × %d events", writers, events) }
	library := d.report.add(partOne, what(d.writers, d.events)+", library: none lost, in order")
	if err := d.countEvents(filepath.Join(d.dir, "counted"), library); err != nil {
		return err
	}
	// A quarter of both, since each event costs a process: two processors that
	// have other work too start so few of them that some would wait too long.
	writers, events := (d.writers+3)/4, (d.events+3)/4
	hook := d.report.add(partOne, what(writers, events)+", hook: none lost")
	return d.hookEvents(filepath.Join(d.dir, "hooked"), writers, events, hook)
}

// counted is an event of a counter: what its arrival sequence was, and when it
// began and had ended.
type counted struct{ Arrival, Call, Return int64 }

func (d *driver) countEvents(state string, c *check) error {
	writers := make([]*child, d.writers)
	for i := range writers {
		w, err := d.start(roleCounter, state, state)
		if err != nil {
			return err
		}
		defer w.kill()
		writers[i] = w
	}
	start := linux.Boottime() + int64(time.Second)
	for _, w := range writers {
		if err := w.tell(countOrder{d.events, start}); err != nil {
			return err
		}
	}
	var all []counted
	for i, w := range writers {
		var a countAnswer
		if err := w.out.Decode(&a); err != nil {
			return fmt.Errorf("counter %d: %w", i, err)
		}
		for _, e := range a.Errs {
			c.fail("process %d: %s", i, e)
		}
		all = append(all, a.Events...)
	}
	c.seen(len(all))
	checkOrder(c, all)
	return checkTotal(c, state, int64(d.writers*d.events))
}

// checkOrder checks that the arrival sequences are 1, 2, 3… and that no event
// arrived before one that had ended when it began.
func checkOrder(c *check, all []counted) {
	slices.SortFunc(all, func(a, b counted) int { return int(a.Arrival - b.Arrival) })
	earliest := int64(1<<63 - 1) // end of the events that arrived later
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Arrival != int64(i+1) {
			c.fail("arrival sequence %d in place of %d", all[i].Arrival, i+1)
		}
		if earliest < all[i].Call {
			c.fail("arrival sequence %d began after a later one had ended", all[i].Arrival)
		}
		earliest = min(earliest, all[i].Return)
	}
}

// checkTotal checks that the one record of a store has had that many events.
func checkTotal(c *check, state string, want int64) error {
	s, err := fsstore.Open(state, fsstore.Read)
	if err != nil {
		return err
	}
	defer s.Close()
	records, unreadable, err := s.All()
	if err != nil {
		return err
	}
	if len(records) != 1 || len(unreadable) > 0 {
		c.fail("%d records, unreadable %v", len(records), unreadable)
	}
	for _, r := range records {
		if r.Arrival != want {
			c.fail("the record has had %d events, want %d", r.Arrival, want)
		}
	}
	return nil
}

type countOrder struct {
	Events int
	Start  int64 // CLOCK_BOOTTIME
}

type countAnswer struct {
	Events []counted
	Errs   []string
}

// counter makes updates of one session.
func counter(args []string) error {
	state := args[0]
	var o countOrder
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return ended(err)
	}
	key := fsstore.Key{Harness: "other", Session: "counted", Instance: "emitter"}
	var a countAnswer
	until(o.Start)
	for range o.Events {
		call := linux.Boottime()
		r, err := count(state, key)
		if err != nil {
			a.Errs = append(a.Errs, err.Error())
			continue
		}
		a.Events = append(a.Events, counted{r.Arrival, call, linux.Boottime()})
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// count makes one update, as a process that makes no other.
func count(state string, key fsstore.Key) (*fsstore.Record, error) {
	s, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r, err := s.Update(key, fsstore.Rules{Create: true, Wait: hookWait}, func(old *fsstore.Record) (*fsstore.Record, error) {
		r := written(key.Session, 0)
		r.PID, r.ProcessStart = "", "" // of none of the processes
		if old != nil {
			r.Subagents = old.Subagents
		}
		r.Subagents++
		return r, nil
	})
	if err == nil && r.Subagents != r.Arrival {
		err = errors.New("event " + strconv.FormatInt(r.Arrival, 10) + " continues that of count " + strconv.FormatInt(r.Subagents-1, 10))
	}
	return r, err
}

// until waits until a moment of CLOCK_BOOTTIME, for whoever is to begin together
// with others.
func until(moment int64) { time.Sleep(time.Duration(moment - linux.Boottime())) }

// ended is the error of a process whose standard input fails: none if the driver
// has closed it.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (d *driver) hookEvents(state string, writers, times int, c *check) error {
	a, err := d.startAgent(state)
	if err != nil {
		return err
	}
	defer a.killGroup()
	start := []string{payload("hooked", "SessionStart", 1)}
	if err := a.run(start, 1); err != nil {
		return err
	}
	var events []string
	for i := range writers {
		events = append(events, payload("hooked", "PreToolUse", int64(i)))
	}
	if err := a.run(events, times); err != nil {
		c.fail("%v", err)
	}
	a.leave()
	if <-a.silent; a.said != "" {
		c.fail("the hooks say %s", a.said)
	}
	c.seen(writers * times)
	if err := checkHookErrors(c, state); err != nil {
		return err
	}
	return checkTotal(c, state, int64(writers*times)+1)
}
