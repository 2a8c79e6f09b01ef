package wait

import (
	"slices"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/listing"
	"tongs-agents/proc"
)

// session is one that is waited for.
type session struct {
	Session
	rows   []*fsstore.Annotated // in the last listing
	hidden *fsstore.Hidden      // or why it has none; nil: its record is gone

	// unreadable are the files that were no records when the session was last
	// listed. One that is added may be its own.
	unreadable map[string]bool
	inDoubt    bool

	from      *event // does not count; nil: all do
	process   *process
	unwatched bool // nobody tells of the end of the process
}

// event tells apart what set the state of a session.
type event struct {
	instance     string
	status       fsstore.Status
	ts, boottime int64
}

func eventOf(r *fsstore.Annotated) *event {
	return &event{r.Instance, r.Status, r.TS, r.Boottime}
}

// see finds the session in a listing.
func (s *session) see(l listing.Listing, unreadable map[string]bool) {
	s.rows, s.hidden, s.inDoubt = nil, nil, false
	for _, r := range l.Rows {
		if s.is(&r.Record) {
			s.rows = append(s.rows, r)
		}
	}
	if len(s.rows) > 0 {
		s.unreadable = unreadable
		return
	}
	for i := range l.Hidden {
		if h := &l.Hidden[i]; s.is(h.Record) {
			s.hidden = h
		}
	}
	for name := range unreadable {
		s.inDoubt = s.inDoubt || !s.unreadable[name]
	}
}

// is reports whether a record is the session's. What a scan has found of a
// process becomes the session that the process reports.
func (s *session) is(r *fsstore.Record) bool {
	if r.Harness != s.Row.Harness {
		return false
	}
	return r.Session == s.Row.Session ||
		s.Row.Kind == fsstore.KindProcess && r.PID == s.Row.PID && r.ProcessStart == s.Row.ProcessStart
}

// judge decides whether the session has come to one of the states, or is gone.
func (s *session) judge(until []State, processes liveness.Processes) {
	living := func(r *fsstore.Annotated) bool { return r.Status != fsstore.Ended && !processes.Dead(&r.Record) }
	if row := s.row(living); row != nil {
		s.Row = row
		state := s.matches(until)
		if s.from != nil && *s.from != *eventOf(row) {
			s.from = nil
		}
		if state != "" && s.from == nil {
			s.Outcome, s.State = Reached, state
		}
		return
	}
	if row := s.row(func(*fsstore.Annotated) bool { return true }); row != nil {
		s.Row = row
	}
	answer, why := processes.Check(&s.Row.Record)
	switch listed := len(s.rows) > 0; {
	case listed && s.Row.Status == fsstore.Ended:
		s.end(until, "it has ended")
	case s.hidden != nil && s.hidden.RemovedAt != 0:
		s.Outcome, s.Why = Gone, s.hidden.Why
	case s.hidden != nil:
		s.end(until, s.hidden.Why)
	case listed, answer == proc.Dead:
		s.end(until, why)
	case !s.inDoubt:
		s.Outcome, s.Why = Gone, "its record was removed"
	}
}

// row returns the listed row of the session that is good: that of the process
// that it was in, if there are several.
func (s *session) row(good func(*fsstore.Annotated) bool) *fsstore.Annotated {
	var found *fsstore.Annotated
	for _, r := range s.rows {
		if (found == nil || r.Instance == s.Row.Instance) && good(r) {
			found = r
		}
	}
	return found
}

// end decides for a session that is over.
func (s *session) end(until []State, why string) {
	s.Outcome, s.Why = Gone, why
	if slices.Contains(until, State(fsstore.Ended)) {
		s.Outcome, s.State = Reached, State(fsstore.Ended)
	}
}

// matches returns which of the states the session is in, or "".
func (s *session) matches(until []State) State {
	for _, state := range until {
		if state == State(s.Row.Status) || state == Attention && s.Row.NeedsAttention {
			return state
		}
	}
	return ""
}

// follow watches the process of the session, of whose end ended is told, and
// reports whether it has begun to.
func (s *session) follow(here proc.Host, ended func()) bool {
	r := &s.Row.Record
	s.unwatched = false
	if r.PID == "" || !isHere(r, here) {
		return false
	}
	if s.process.of(r) {
		s.unwatched = s.process.gone.Load()
		return false
	}
	s.process.close()
	s.process = watch(r, ended)
	s.unwatched = s.process == nil
	return !s.unwatched
}

// isHere reports whether the pid of a record means something to the kernel.
func isHere(r *fsstore.Record, here proc.Host) bool {
	return (r.BootID == "" || r.BootID == here.BootID) && (r.PIDNamespace == "" || r.PIDNamespace == here.PIDNamespace)
}
