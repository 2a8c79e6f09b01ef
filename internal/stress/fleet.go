package main

import (
	"fmt"
	"sync"
)

// session is what is known of a session, whatever the store says.
type session struct {
	id string

	invoked int64 // events that have begun
	acked   int64 // those of them that certainly have ended
	seen    int64 // the latest that a listing has shown
	final   int64 // the event that is its end; 0: none yet

	begun   bool // its first event has ended
	ending  bool // its last one has begun
	ended   bool // and ended
	leaving bool // its process is to end
	dead    bool // it has ended
	quiet   bool // and with it all that wrote for it
	swept   bool // a whole maintenance has been since
}

// fleet are all sessions that there ever were.
type fleet struct {
	mu   sync.Mutex
	all  []*session
	byID map[string]int // index in all
}

func newFleet() *fleet { return &fleet{byID: map[string]int{}} }

// add makes a session.
func (f *fleet) add(kind string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &session{id: fmt.Sprintf("%s-%d", kind, len(f.all))}
	f.byID[s.id] = len(f.all)
	f.all = append(f.all, s)
	return s
}

// change changes what is known of a session.
func (f *fleet) change(s *session, change func(*session)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(s)
}

// invoke notes that n events of a session begin, whose last may be its end, and
// returns how many have begun then.
func (f *fleet) invoke(s *session, n int64, end bool) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.invoked += n
	if end {
		s.ending, s.final = true, s.invoked
	}
	return s.invoked
}

// ack notes that all events that have begun have ended.
func (f *fleet) ack(s *session) {
	f.change(s, func(s *session) { s.acked, s.begun, s.ended = s.invoked, true, s.ending })
}

// snapshot is what is known now.
func (f *fleet) snapshot() []session {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := make([]session, len(f.all))
	for i, s := range f.all {
		now[i] = *s
	}
	return now
}

// sweep notes that a whole maintenance has been since the sessions were as
// before says.
func (f *fleet) sweep(before []session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, s := range before {
		f.all[i].swept = f.all[i].swept || s.quiet
	}
}

// quiet notes that all sessions are over.
func (f *fleet) quiet() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.all {
		s.leaving, s.dead, s.quiet = true, true, true
	}
}

// judge compares a listing with what was known before it began and is known now
// that it has ended.
func (m *many) judge(command string, rows []shown, before []session) {
	m.fleet.mu.Lock()
	defer m.fleet.mu.Unlock()
	listed := make(map[string]bool, len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Kind != "session" { // an agent, before its first event
			continue
		}
		if listed[r.Session] {
			m.missing.fail("%s lists %s twice", command, r.Session)
		}
		listed[r.Session] = true
		at, known := m.fleet.byID[r.Session]
		if !known {
			m.ghosts.fail("%s lists %s, which never was", command, r.Session)
			continue
		}
		now, was := m.fleet.all[at], session{}
		if at < len(before) {
			was = before[at]
		}
		if why := r.torn(now.final); why != "" {
			m.whole.fail("%s: %s: %s", command, r.Session, why)
		}
		if floor := max(was.acked, was.seen); r.Arrival < floor || r.Arrival > now.invoked {
			m.recent.fail("%s shows event %d of %s, when %d was over and %d had begun", command, r.Arrival, r.Session, floor, now.invoked)
		}
		now.seen = max(now.seen, r.Arrival)
		switch {
		case command == "ps" && (was.dead || was.ended):
			m.ghosts.fail("ps lists %s, which had ended: %+v", r.Session, was)
		case was.swept:
			m.ghosts.fail("%s lists %s, whose process had ended before the last maintenance", command, r.Session)
		}
	}
	expected, over := 0, 0
	for i, was := range before {
		now := m.fleet.all[i]
		switch {
		case was.swept, command == "ps" && (was.dead || was.ended):
			over++
		case was.begun && !now.leaving && !now.ending:
			if expected++; !listed[was.id] {
				m.missing.fail("%s does not list %s: %+v", command, was.id, *now)
			}
		}
	}
	m.whole.seen(len(rows))
	m.recent.seen(len(rows))
	m.missing.seen(expected)
	m.ghosts.seen(over)
}
