// Package wait waits until sessions come to a state.
//
// The store's feed tells of every report on these sessions, a pidfd of the end
// of a process: nothing is asked again and again, where the kernel permits.
package wait

import (
	"context"
	"errors"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/listing"
	"tongs-agents/proc"
)

// State is what can be waited for: a status, or Attention.
type State string

// Attention is the state of a session that needs the user, whatever its status.
const Attention State = "attention"

// Default are the states in which an agent goes on only if the user does
// something.
var Default = []State{State(fsstore.Waiting), State(fsstore.Error), State(fsstore.Idle)}

// States returns all that can be waited for.
func States() []State {
	var states []State
	for _, s := range fsstore.Statuses {
		states = append(states, State(s))
	}
	return append(states, Attention)
}

// Request is what to wait for.
type Request struct {
	Queries []string // as of listing.Find, each of one session
	Until   []State  // any of them; none: Default
	// Any: one session is enough. Else each has to come to a state, not all at
	// the same time.
	Any bool
	// Next: a state that a session is in already does not count until the
	// session has come to it anew.
	Next bool
}

// Outcome is what a wait came to, for one session or for all.
type Outcome string

const (
	Reached  Outcome = "reached"
	Gone     Outcome = "gone"    // it cannot be reached any more
	TimedOut Outcome = "timeout" // of a session also: others decided
)

// Result is what a wait came to.
type Result struct {
	Outcome  Outcome
	Sessions []Session // in the order of the queries
}

// Session is what became of one of the sessions.
type Session struct {
	Query   string
	Row     *fsstore.Annotated // as it was listed last
	Outcome Outcome
	State   State  // the one of Until that was reached
	Why     string // it is gone, in a few words for the user
}

// Run waits for sessions of the store in a state directory. The outcome is
// Reached once one session (Any) or each has come to one of the states, Gone
// once that cannot be any more, and TimedOut when the deadline of ctx passes.
//
// Each query names one of the sessions that are listed at the start. It is
// followed from process to process. A session is gone when it has ended, its
// process has, its process works on another session, or its record was
// removed; all but the last are the state fsstore.Ended, too.
//
// The error is that of listing.Find for one of the queries, of the store, or of
// a ctx that was cancelled. A deadline that has passed already is a look at
// what is.
func Run(ctx context.Context, dir string, request Request) (Result, error) {
	if len(request.Until) == 0 {
		request.Until = Default
	}
	w := &waiter{Request: request, wake: make(chan struct{}, 1)}
	defer w.close()
	feed := listing.Follow(dir, listing.FeedOptions{Pace: pace, Wake: w.wake})
	defer feed.Close()
	again := time.AfterFunc(recheckEvery, w.wakeUp)
	defer again.Stop()

	l, err := feed.Next(context.WithoutCancel(ctx)) // at once
	if err == nil {
		err = w.resolve(l)
	}
	if err != nil {
		return Result{}, err
	}
	for {
		w.see(l)
		outcome := w.judge()
		if outcome != TimedOut {
			return w.result(outcome), nil
		}
		if w.unwatched() {
			again.Reset(recheckEvery)
		}
		feed.Narrow(w.rows())
		l, err = feed.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return w.result(TimedOut), nil
		}
		if err != nil {
			return Result{}, err
		}
	}
}

// pace bounds what a wait costs beside a busy store. A state of less time, soon
// after another change, may not be seen.
const pace = 100 * time.Millisecond

// recheckEvery is how often a process is looked at of which the kernel does
// not tell when it ends, or whose end does not count yet.
const recheckEvery = time.Second

// waiter waits for several sessions.
type waiter struct {
	Request
	sessions []*session
	wake     chan struct{} // has a value when there is something to look at
}

func (w *waiter) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// resolve finds the sessions that the queries name.
func (w *waiter) resolve(l listing.Listing) error {
	for _, query := range w.Queries {
		row, err := listing.Find(l.Rows, query)
		if err != nil {
			return err
		}
		s := &session{Session: Session{Query: query, Row: row, Outcome: TimedOut}}
		if w.Next && s.matches(w.Until) != "" {
			s.from = eventOf(row)
		}
		w.sessions = append(w.sessions, s)
	}
	return nil
}

// see takes over a listing.
func (w *waiter) see(l listing.Listing) {
	unreadable := make(map[string]bool, len(l.Unreadable))
	for _, u := range l.Unreadable {
		unreadable[u.Name] = true
	}
	for _, s := range w.sessions {
		s.see(l, unreadable)
	}
}

// judge looks at each session that is waited for, and returns the outcome for
// all: TimedOut while there is none.
func (w *waiter) judge() Outcome {
	reached, gone := 0, 0
	for _, s := range w.sessions {
		if s.Outcome == TimedOut {
			w.judgeOne(s)
		}
		switch s.Outcome {
		case Reached:
			reached++
		case Gone:
			gone++
		}
	}
	switch all := len(w.sessions); {
	case w.Any && reached > 0, reached == all:
		return Reached
	case !w.Any && gone > 0, gone == all:
		return Gone
	}
	return TimedOut
}

func (w *waiter) judgeOne(s *session) {
	for {
		processes := liveness.NewProcesses(proc.Root)
		s.judge(w.Until, processes)
		// A process is looked at after its pidfd was opened: before, another one
		// could have got its pid.
		if s.Outcome != TimedOut || !s.follow(processes.Here(), w.wakeUp) {
			return
		}
	}
}

// unwatched reports whether nobody tells of the end of a process that is
// waited for.
func (w *waiter) unwatched() bool {
	for _, s := range w.sessions {
		if s.Outcome == TimedOut && s.unwatched {
			return true
		}
	}
	return false
}

// rows are those that are waited for, if no other record can become one of
// them; else none. What a scan has found of a process becomes another record,
// and so does what an older program has written.
func (w *waiter) rows() (rows []*fsstore.Annotated) {
	for _, s := range w.sessions {
		if s.Outcome != TimedOut {
			continue
		}
		for _, r := range s.rows {
			if r.Kind == fsstore.KindProcess || r.Legacy {
				return nil
			}
		}
		if len(s.rows) == 0 {
			return nil
		}
		rows = append(rows, s.rows...)
	}
	return rows
}

func (w *waiter) result(outcome Outcome) Result {
	r := Result{Outcome: outcome}
	for _, s := range w.sessions {
		r.Sessions = append(r.Sessions, s.Session)
	}
	return r
}

func (w *waiter) close() {
	for _, s := range w.sessions {
		s.process.close()
	}
}
