package focus

import (
	"context"
	"errors"
	"strconv"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/listing"
	"tongs-agents/proc"
)

// patience is how long one program, or one desktop, is waited for. Tests on a
// busy machine have more.
var patience = 2 * time.Second

// Query brings the session that a query names to the front. The error is that
// of listing.Find, and there is a result for it, too.
func Query(ctx context.Context, rows []*fsstore.Annotated, query string) (Result, error) {
	row, err := listing.Find(rows, query)
	switch {
	case errors.As(err, new(*listing.AmbiguousError)):
		return Result{}.ended(Ambiguous, err.Error()), err
	case err != nil:
		return Result{}.ended(NotFound, err.Error()), err
	}
	return Focus(ctx, row), nil
}

// Focus brings the terminal of a session to the front. It takes some
// milliseconds, and patience for each program and desktop that does not
// answer.
func Focus(ctx context.Context, row *fsstore.Annotated) Result {
	r := Result{Backend: row.Terminal, PID: row.PID}
	s, state, why := begin(row)
	if s == nil {
		return r.ended(state, why)
	}
	p, err := s.nearest(ctx)
	if err != nil {
		r.Activation.Detail = err.Error()
		return r.concluded()
	}
	s.show(ctx, p, &r, 0)
	return r.concluded()
}

// search is the way from a session to its window.
type search struct {
	record *fsstore.Record
	owner  int       // its process
	tty    string    // of the session, empty if it has none
	starts []lineage // of the owner, and of what else runs on the terminal
}

// begin verifies the process of a session. Without a terminal to look for there
// is no search but a state, and why.
func begin(row *fsstore.Annotated) (s *search, state State, why string) {
	answer, why := liveness.NewProcesses(proc.Root).Check(&row.Record)
	switch answer {
	case proc.Dead:
		return nil, Failed, why
	case proc.Unknown:
		return nil, Unavailable, why
	}
	// A plugin's word is enough to list a session, not to say where it is.
	pid, err := strconv.Atoi(row.PID)
	if err != nil {
		return nil, Unavailable, "no process recorded"
	}
	owner, err := proc.Root.Stat(pid)
	if err != nil || row.ProcessStart != "" && owner.Start != row.ProcessStart {
		return nil, Failed, "process " + row.PID + " is another one now"
	}
	s = &search{record: &row.Record, owner: pid}
	s.start(owner)
	if len(s.starts) == 0 {
		return nil, Unavailable, s.homeless()
	}
	return s, "", ""
}

// start finds out from which processes the terminal is to be looked for.
func (s *search) start(owner proc.Stat) {
	s.tty = proc.TTYName(owner.TTY)
	// The terminal of a server is that of whoever started it. The record has
	// that of a client, if one is known.
	hosted := s.record.Mode == fsstore.Daemon || s.record.Mode == fsstore.Background
	if hosted {
		s.tty = s.record.TTY
	}
	if s.tty == "" && s.record.Focus.Kind == fsstore.FocusUnavailable {
		return
	}
	if !hosted {
		s.starts = append(s.starts, ancestry(owner.PID))
	}
	// A process whose parent has ended is nobody's child. The one that was first
	// on its terminal is the terminal's.
	if on := onTTY(s.tty); len(on) > 0 && on[0].PID != owner.PID {
		s.starts = append(s.starts, ancestry(on[0].PID))
	}
}

// homeless says why there is no terminal to look for.
func (s *search) homeless() string {
	switch {
	case s.tty != "":
		return "nothing runs on its terminal, " + s.tty
	case s.record.Mode == fsstore.Daemon || s.record.Mode == fsstore.Background:
		return "a server hosts the session, and it is shown on no terminal that is known"
	}
	return "the session has no terminal"
}

// nearest finds the innermost place of a session.
func (s *search) nearest(ctx context.Context) (p *place, err error) {
	for _, l := range s.starts {
		if p, err = s.place(ctx, l); err == nil {
			return p, nil
		}
	}
	// Nothing leads there but what was recorded, which is no proof. tmux can say
	// what became of its pane.
	if s.record.LookupEnv("TMUX") != "" {
		return &place{terminal: tmux{}, lineage: s.starts[0], env: environs{recorded(s.record)}}, nil
	}
	return nil, err
}

// maxNesting bounds the multiplexers within each other.
const maxNesting = 8

// show selects a place and raises the window that it is in.
func (s *search) show(ctx context.Context, p *place, r *Result, depth int) {
	r.Backend = p.name()
	shown, err := p.choose(ctx, p)
	declined := errors.As(err, new(declinedError))
	r.Selection.Attempted = !declined
	r.TargetFound = shown.what != ""
	switch {
	case err == nil:
		r.Selection.Succeeded, r.Selection.Detail = true, shown.what
	case declined && !p.multiplexer() && p.shows() == 1:
		r.only = true
		r.Selection.Detail = p.name() + " shows nothing else"
	default:
		r.Selection.Detail = err.Error()
	}
	switch {
	case !p.multiplexer():
		p.raise(ctx, shown, r)
	case len(shown.clients) == 0:
		r.Activation.Detail = shown.hint
	case depth == maxNesting:
		r.Activation.Detail = "the multiplexers are in each other without end"
	default:
		s.showClient(ctx, shown.clients, r, depth)
	}
}

// showClient brings the first of the clients of a multiplexer forward that can
// be.
func (s *search) showClient(ctx context.Context, clients []int, r *Result, depth int) {
	var outer Result
	for _, pid := range clients {
		outer = Result{}
		p, err := s.place(ctx, ancestry(pid))
		if err != nil {
			outer.Activation.Detail = err.Error()
			continue
		}
		s.show(ctx, p, &outer, depth+1)
		if outer.Activation.Succeeded {
			break
		}
	}
	r.within(outer)
}
