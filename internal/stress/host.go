package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"tongs-agents/fsstore"
)

// hostOrder asks a host for the nth event of one of its sessions.
type hostOrder struct {
	Session string
	N       int64
	End     bool
}

// hostAnswer is what came of it.
type hostAnswer struct {
	Arrival int64
	Err     string
}

// host is a program that has many sessions and writes them through the library.
func host(args []string) error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var orders []hostOrder
		if err := in.Decode(&orders); err != nil {
			return ended(err)
		}
		answers := make([]hostAnswer, len(orders))
		for i, o := range orders {
			r, err := write(args[0], o)
			if err != nil {
				answers[i].Err = err.Error()
			} else {
				answers[i].Arrival = r.Arrival
			}
		}
		if err := out.Encode(answers); err != nil {
			return err
		}
	}
}

func write(state string, o hostOrder) (*fsstore.Record, error) {
	s, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r := written(o.Session, o.N)
	if o.End {
		r.Status = fsstore.Ended
	}
	return s.Update(r.Key, fsstore.Rules{Create: o.N == 1, Wait: patience}, func(*fsstore.Record) (*fsstore.Record, error) {
		return r, nil
	})
}

// hostLife is a host from its beginning to its end, with a number of sessions at
// any time. The host and its sessions go on after it if the time is over.
func (m *many) hostLife(sessions int, begun func()) error {
	h, err := m.start(roleHost, m.state, m.state)
	if err != nil {
		return err
	}
	m.keep(h)
	mine := make([]*session, sessions)
	if err := m.hostBegin(h, mine); err != nil {
		return err
	}
	begun()
	for range 1 + rand.IntN(30) {
		if m.over() {
			return nil
		}
		if err := m.hostEvents(h, some(mine), false); err != nil {
			return err
		}
		if rand.IntN(5) > 0 {
			continue
		}
		ending := some(mine)
		if err := m.hostEvents(h, ending, true); err != nil {
			return err
		}
		for i, s := range mine {
			if slices.Contains(ending, s) {
				mine[i] = nil
			}
		}
		if err := m.hostBegin(h, mine); err != nil {
			return err
		}
	}
	if m.over() {
		return nil
	}
	// Killed in the middle of some events.
	for _, s := range mine {
		m.leaving(s)
	}
	if err := h.tell(m.hostOrders(some(mine), false)); err != nil {
		return err
	}
	time.Sleep(rand.N(5 * time.Millisecond))
	h.kill()
	m.drop(h)
	for _, s := range mine {
		m.fleet.change(s, func(s *session) { s.dead, s.quiet = true, true })
	}
	return nil
}

// some are one session in five, by chance.
func some(of []*session) (chosen []*session) {
	for _, i := range rand.Perm(len(of))[:(len(of)+4)/5] {
		chosen = append(chosen, of[i])
	}
	return chosen
}

// hostBegin fills the places that are empty with new sessions.
func (m *many) hostBegin(h *child, mine []*session) error {
	var fresh []*session
	for i := range mine {
		if mine[i] == nil {
			mine[i] = m.fleet.add("host")
			fresh = append(fresh, mine[i])
		}
	}
	m.begins.seen(len(fresh))
	return m.hostEvents(h, fresh, false)
}

func (m *many) hostOrders(of []*session, end bool) (orders []hostOrder) {
	for _, s := range of {
		orders = append(orders, hostOrder{s.id, m.fleet.invoke(s, 1, end), end})
	}
	return orders
}

// hostEvents lets one event come of each of some sessions of a host.
func (m *many) hostEvents(h *child, of []*session, end bool) error {
	orders := m.hostOrders(of, end)
	var answers []hostAnswer
	if err := h.ask(orders, &answers); err != nil {
		return fmt.Errorf("the host gives no answer: %w", err)
	}
	m.library.seen(len(orders))
	for i, a := range answers {
		o := orders[i]
		switch {
		case a.Err != "":
			m.library.fail("event %d of %s: %s", o.N, o.Session, a.Err)
		case a.Arrival != o.N:
			m.library.fail("event %d of %s is the %dth", o.N, o.Session, a.Arrival)
		}
		m.fleet.ack(of[i])
	}
	return nil
}
