package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// runner runs a command for transitions, one at a time. What waits for it is
// at most one transition of each session.
type runner struct {
	command        string
	stdout, stderr io.Writer

	mu      sync.Mutex
	waiting []listing.Transition
	wake    chan struct{}
}

func startRunner(command string, stdout, stderr io.Writer) *runner {
	r := &runner{command: command, stdout: stdout, stderr: stderr, wake: make(chan struct{}, 1)}
	go func() {
		for range r.wake {
			for c, ok := r.take(); ok; c, ok = r.take() {
				r.run(c)
			}
		}
	}()
	return r
}

// add has the command run for a transition, or goes on with one of the same
// session that has not begun: no state is the last that is not reported.
func (r *runner) add(c listing.Transition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.waiting {
		if w := &r.waiting[i]; w.Row.Key == c.Row.Key {
			w.Row, w.To, w.Needs = c.Row, c.To, w.Needs && c.Row.NeedsAttention || c.Needs
			return
		}
	}
	r.waiting = append(r.waiting, c)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *runner) take() (listing.Transition, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		return listing.Transition{}, false
	}
	c := r.waiting[0]
	r.waiting = r.waiting[1:]
	return c, true
}

// run runs the command. That it has failed is a warning.
func (r *runner) run(c listing.Transition) {
	cmd := exec.Command("sh", "-c", r.command) // without input
	cmd.Stdout, cmd.Stderr = r.stdout, r.stderr
	cmd.Env = append(os.Environ(), transitionEnv(c)...)
	if err := cmd.Run(); err != nil {
		warn(r.stderr, fmt.Errorf("--exec: %w", err))
	}
}

// transitionEnv is a transition as variables. Nothing of it becomes part of the
// command's text.
func transitionEnv(c listing.Transition) []string {
	row := c.Row
	attention := ""
	if c.Needs {
		attention = "1"
	}
	env := []string{"TONGS_AGENTS_FROM=" + c.From, "TONGS_AGENTS_TO=" + c.To, "TONGS_AGENTS_ATTENTION=" + attention}
	for _, v := range []fsstore.Var{
		{Name: "AGENT", Value: row.Harness}, {Name: "SESSION", Value: row.Session}, {Name: "REPO", Value: row.Repo},
		{Name: "CWD", Value: row.Cwd}, {Name: "STATUS", Value: string(row.Status)}, {Name: "DETAIL", Value: row.Detail},
		{Name: "TITLE", Value: row.Title}, {Name: "PID", Value: row.PID}, {Name: "ID", Value: row.CanonicalID()},
	} {
		env = append(env, "TONGS_AGENTS_"+v.Name+"="+text.Clean(v.Value))
	}
	return env
}
