package focus

import (
	"context"
	"slices"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// sight is whether the user looks at something.
type sight int

const (
	unclear sight = iota
	seen
	unseen
)

// InFront reports whether the user certainly looks at a session: it is the only
// thing that the active window shows, or tmux says so of its pane and no window
// contradicts. Not knowing is no. It changes nothing, and takes patience at most.
func InFront(ctx context.Context, row *fsstore.Annotated) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, _, _ := begin(row)
	if s == nil {
		return false
	}
	p, err := s.nearest(ctx)
	return err == nil && s.sight(ctx, p, 0) == seen
}

// sight is whether the user looks at a place. Of the multiplexers only tmux
// tells what each client shows.
func (s *search) sight(ctx context.Context, p *place, depth int) sight {
	switch {
	case !p.multiplexer():
		return p.sight()
	case p.terminal != terminal(tmux{}) || depth == maxNesting:
		return unclear
	}
	_, panes, clients, err := tmuxAt(ctx, p)
	if err != nil {
		return unclear
	}
	pane := unseen
	for _, c := range clients {
		if c.pane != panes[0].id { // one pane, whatever sessions have it
			continue
		}
		switch s.clientSight(ctx, c, depth) {
		case seen:
			return seen
		case unclear:
			pane = unclear
		}
	}
	return pane
}

// clientSight is whether the user looks at a client: what its terminal says of
// the focus, and what is known of the window around it.
func (s *search) clientSight(ctx context.Context, c tmuxClient, depth int) sight {
	around := unclear
	if p, err := s.place(ctx, ancestry(c.pid)); err == nil {
		around = s.sight(ctx, p, depth+1)
	}
	switch {
	case c.focus == unseen || around == unseen:
		return unseen
	case c.focus == seen || around == seen:
		return seen
	}
	return unclear
}

// sight is whether the user looks at a place in a window. What an application
// shows that is no terminal cannot be told: an editor has a terminal in a buffer,
// and shows another one.
func (p *place) sight() sight {
	windows := p.view.candidates(p, "")
	g, other := p.terminal.(generic)
	other = other && !slices.Contains(windowed[:], g.comm)
	switch {
	case len(windows) == 0:
		return unclear
	case !slices.ContainsFunc(windows, func(w window) bool { return w.active }):
		return unseen
	case len(windows) > 1 || other:
		return unclear
	case slices.Equal(terminalsOf(p.host), []string{proc.TTYName(p.lineage[0].TTY)}):
		return seen
	}
	return unclear
}
