package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// sessions are those in terminals.
func (s *stage) sessions() []*session {
	var all []*session
	for _, one := range append([]*session{s.open}, s.two[:]...) {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

// evidence is what tells why a step failed: the screens, what is said of each
// session and why, and what the hooks could not do.
func (s *stage) evidence(ctx context.Context) string {
	var b strings.Builder
	for _, one := range s.sessions() {
		screen, err := one.pane.screen(ctx)
		if err != nil {
			screen = err.Error()
		}
		fmt.Fprintf(&b, "screen of process %d:\n%s\n", one.root, indent(screen))
	}
	rows, err := s.list(ctx, "status")
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, r := range rows {
		if r.Cwd == s.work { // else another agent of this machine
			fmt.Fprintln(&b, r)
		}
	}
	for _, one := range s.sessions() {
		r, err := one.find(rows)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		text, err := s.run(ctx, s.program, "explain", r.ID)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(&b, "explain:\n%s\n", indent(string(text)))
	}
	if err := s.hookErrors(); err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// abandon ends the sessions and forgets them, and what their tools have left.
func (s *stage) abandon(ctx context.Context) error {
	var errs []error
	for _, one := range s.sessions() {
		errs = append(errs, endBelow(one.root)) // before they are nobody's children
		_, err := one.pane.tmux(ctx, "kill-pane", "-t", one.pane.id)
		errs = append(errs, err)
	}
	for _, tool := range []string{allowedTool, guardedTool} {
		for _, sign := range []string{".runs", ".ends"} {
			if err := os.Remove(s.work + "/" + tool + sign); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	s.open, s.two = nil, [2]*session{}
	return errors.Join(errs...)
}
