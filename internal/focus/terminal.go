package focus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"tongs-agents/proc"
)

// terminal is a kind of program that shows pseudoterminals.
type terminal interface {
	name() string
	// is reports whether a process is one, by its comm.
	is(comm string) bool
	// multiplexer reports whether it has no window but is shown in terminals.
	multiplexer() bool
	// choose selects a place, and checks that it is selected. With an error it
	// shows nothing, but a declinedError says only that there is no way to select.
	choose(ctx context.Context, p *place) (shown, error)
}

// terminals are the kinds that can be told what to show.
var terminals = [...]terminal{tmux{}, screen{}, zellij{}, kitty{}, wezterm{}, konsole{}}

// place is where a process is shown.
type place struct {
	terminal
	lineage     // of the process
	host    int // pid of the terminal, 0 if it is only said to be one
	child   int // pid of the child of the terminal, 0 if it is not known
	tty     string
	env     environs // what the terminal gave to its child
	desk    environs // what may lead to the desktop
	view    view     // of the desktop, none if viewErr says why
	viewErr error
}

// shown is what a terminal was made to show.
type shown struct {
	what    string // "tmux pane %3"
	clients []int  // of a multiplexer: the processes that show it, best first
	hint    string // why there are none, and what helps
	window  string // of X11 that shows it, if the terminal says so
	raised  bool   // the terminal says that its window has the focus
}

// declinedError says why a terminal cannot be told what to show.
type declinedError struct{ why string }

func (e declinedError) Error() string { return e.why }

func declined(format string, args ...any) error { return declinedError{fmt.Sprintf(format, args...)} }

// shows is the number of terminals that the program shows, 0 if not known.
func (p *place) shows() int { return len(terminalsOf(p.host)) }

// place finds what shows the first process of a lineage: the nearest ancestor
// that is a terminal, or has a window.
func (s *search) place(ctx context.Context, l lineage) (*place, error) {
	if len(l) == 0 {
		return nil, errors.New("its process is gone")
	}
	desk := environs{environ(l[0].PID), os.Environ()}
	if l[0].PID == s.owner {
		desk = slices.Insert(desk, 1, recorded(s.record))
	}
	view, viewErr := look(ctx, desk, l)
	for i, p := range l {
		t := terminalNamed(p.Comm)
		switch {
		case i > 0 && slices.Contains(remote[:], p.Comm):
			return nil, errors.New("it is shown on another machine, by " + p.Comm)
		case i > 0 && t != nil:
		case view.owns(p.PID):
			t = generic{p.Comm}
		default:
			continue
		}
		found := &place{terminal: t, lineage: l, host: p.PID, desk: desk, view: view, viewErr: viewErr}
		if i > 0 {
			found.child, found.tty = l[i-1].PID, proc.TTYName(l[i-1].TTY)
			found.env = environs{environ(found.child)}
			if len(found.env[0]) == 0 && l[0].PID == s.owner {
				found.env[0] = recorded(s.record)
			}
		}
		return found, nil
	}
	if viewErr == nil { // by WINDOWID, in a window that does not say whose it is
		return &place{terminal: generic{l[0].Comm}, lineage: l, desk: desk, view: view}, nil
	}
	return nil, fmt.Errorf("no terminal or window shows process %d: %w", l[0].PID, viewErr)
}

// remote are the programs whose children are shown on another machine.
var remote = [...]string{"sshd", "sshd-session", "dropbear", "mosh-server", "etserver"}

func terminalNamed(comm string) terminal {
	for _, t := range terminals {
		if t.is(comm) {
			return t
		}
	}
	if slices.Contains(windowed[:], comm) {
		return generic{comm}
	}
	return nil
}
