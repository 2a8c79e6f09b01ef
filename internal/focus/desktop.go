package focus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// desktop is a window system that says whose its windows are, and lets others
// activate them.
type desktop interface {
	name() string
	// windows returns errAbsent where the environment leads to another one.
	windows(ctx context.Context) ([]window, error)
	// activate asks for the input focus. Whether the window got it, windows says.
	activate(ctx context.Context, id string) error
}

// window is a window of a desktop.
type window struct {
	id     string
	pid    int // of its process, 0 if it is not known
	active bool
}

// desktops are the kinds of desktop, each by a function that returns nil where
// the environment does not lead to one. X11 is the last: its windows are
// windows of the compositor, too.
var desktops = [...]func(environs) desktop{newSway, newHyprland, newNiri, newKWin, newX11}

// view is what a desktop shows of some processes.
type view struct {
	desktop
	list []window
	id   string // WINDOWID: the window of X11 that a process was started in
}

// owns reports whether a process has a window.
func (v view) owns(pid int) bool {
	return slices.ContainsFunc(v.list, func(w window) bool { return w.pid == pid })
}

// errAbsent is the error of a desktop that does not run where it would.
var errAbsent = errors.New("it does not run")

// look returns the first desktop on which one of the processes has a window.
// The error says why there is none.
func look(ctx context.Context, env environs, l lineage) (view, error) {
	var silent []string // those that did not answer, and why
	asked := map[desktop]bool{}
	answered := map[string]bool{}
	for _, open := range desktops {
		for _, one := range env {
			d := open(environs{one})
			if d == nil || asked[d] {
				continue
			}
			asked[d] = true
			v := view{desktop: d, id: env.get("WINDOWID")}
			var err error
			switch v.list, err = v.windows(ctx); {
			case errors.Is(err, errAbsent):
			case err != nil:
				silent = append(silent, d.name()+": "+err.Error())
			case slices.ContainsFunc(v.list, func(w window) bool { return l.has(w.pid) || w.pid == 0 && w.id == v.id }):
				return v, nil
			default:
				answered[d.name()] = true
			}
		}
	}
	delete(answered, x11{}.name()) // for it knows nothing of the windows of Wayland
	switch {
	case len(silent) > 0:
		return view{}, errors.New(strings.Join(silent, "; "))
	case env.get("WAYLAND_DISPLAY") != "" && len(answered) == 0:
		return view{}, errors.New("this Wayland compositor lets nobody raise a window")
	case len(asked) > 0:
		return view{}, errors.New("none of its windows is on this desktop")
	}
	return view{}, errors.New("no desktop is known")
}

// raise activates the window of a terminal; said is its id, if the terminal
// told it.
func (p *place) raise(ctx context.Context, said shown, r *Result) {
	a := &r.Activation
	if p.view.desktop == nil {
		a.Detail = fmt.Sprintf("the window of %s cannot be raised: %v", p.name(), p.viewErr)
		if said.raised {
			*a = Step{true, true, "the window of " + p.name()}
		}
		return
	}
	w, err := p.view.window(p, said.window)
	if err != nil {
		a.Detail = err.Error()
		return
	}
	r.TargetFound, a.Attempted = true, true
	if err := p.view.raise(ctx, w); err != nil {
		a.Detail = fmt.Sprintf("the window of %s was not raised: %v", p.name(), err)
		return
	}
	a.Succeeded, a.Detail = true, "the window of "+p.name()
}

// window finds the window that shows a place.
func (v view) window(p *place, said string) (string, error) {
	switch list := v.candidates(p, said); len(list) {
	case 0:
		return "", fmt.Errorf("%s has no window on %s", p.name(), v.name())
	case 1:
		return list[0].id, nil
	default:
		return "", fmt.Errorf("%s has %d windows on %s: which one shows the session is not known", p.name(), len(list), v.name())
	}
}

// candidates are the windows of which one shows a place; said is the id of it,
// if the terminal told it.
func (v view) candidates(p *place, said string) []window {
	var own, named []window
	for _, w := range v.list {
		if w.pid == p.host {
			own = append(own, w)
		}
		if w.pid != p.host && w.pid != 0 {
			continue
		}
		switch w.id {
		case said:
			return []window{w}
		case v.id:
			named = []window{w}
		}
	}
	if len(own) != 1 && len(named) > 0 {
		return named
	}
	return own
}

// raise activates a window, and waits until it is the active one.
func (v view) raise(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := v.activate(ctx, id); err != nil {
		return err
	}
	for {
		list, err := v.windows(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if slices.ContainsFunc(list, func(w window) bool { return w.id == id && w.active }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not give it the focus", v.name())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
