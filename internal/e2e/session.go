package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/proc"
)

// session is a running agent, and the session of the listing that it works on.
type session struct {
	*lab
	pane *pane // nil for one without a terminal
	root int   // the process that was started: the agent, or what starts it
	id   string
	past []string // earlier sessions of the process
}

// open starts the agent in a terminal and waits until it takes a prompt.
func (l *lab) open(ctx context.Context) (*session, error) {
	p, err := l.terminal.open(ctx, l.work, l.command(l.agent.interactive, "")...)
	if err != nil {
		return nil, err
	}
	s := &session{lab: l, pane: p, root: p.pid}
	var answered *regexp.Regexp // the dialog that may still be there
	return s, until(ctx, func() error {
		screen, err := p.screen(ctx)
		if err != nil {
			return err
		}
		for _, d := range l.agent.dialogs {
			if !d.screen.MatchString(screen) {
				continue
			}
			if answered != d.screen {
				answered = d.screen
				err = p.press(ctx, d.keys...)
			}
			return errors.Join(err, fmt.Errorf("it asks %q", d.screen))
		}
		if !l.agent.ready.MatchString(screen) {
			return errors.New("it does not take a prompt")
		}
		return nil
	})
}

// say submits the prompt of a turn and waits until the model is asked.
func (s *session) say(ctx context.Context, t *turn) error {
	return s.submit(ctx, t.Prompt, closed(t.asked, "the prompt does not reach the model"))
}

// closed is nil once a channel is closed.
func closed(c <-chan struct{}, lack string) func() error {
	return func() error {
		select {
		case <-c:
			return nil
		default:
			return errors.New(lack)
		}
	}
}

// submit types a line and presses Enter until the line is done.
func (s *session) submit(ctx context.Context, line string, done func() error) error {
	if err := s.pane.write(ctx, line); err != nil {
		return err
	}
	return s.press(ctx, []string{"Enter"}, done)
}

// press presses keys until they have done what they should: an agent that is
// still at something else passes over them.
func (s *session) press(ctx context.Context, keys []string, done func() error) error {
	var pressed time.Time
	return until(ctx, func() error {
		err := done()
		if err != nil && time.Since(pressed) > again {
			err = errors.Join(err, s.pane.press(ctx, keys...))
			pressed = time.Now()
		}
		return err
	})
}

// cleared is nil if the screen has nothing of a conversation.
func (s *session) cleared(ctx context.Context) error {
	screen, err := s.pane.screen(ctx)
	if err == nil && turnName.MatchString(screen) {
		err = errors.New("the old conversation is on the screen")
	}
	return err
}

// question is nil if the dialog that asks for permission is there, or is not.
func (s *session) question(ctx context.Context, there bool) error {
	screen, err := s.pane.screen(ctx)
	if err == nil && s.agent.question.MatchString(screen) != there {
		err = fmt.Errorf("that it asks for permission is not %t", there)
	}
	return err
}

// find returns the row of the session: by its id, or, as long as that is not
// known, by the process.
func (s *session) find(rows []row) (*row, error) {
	tree := []string{strconv.Itoa(s.root)}
	processes, err := below(s.root)
	if err != nil {
		return nil, err
	}
	for _, st := range processes {
		tree = append(tree, strconv.Itoa(st.PID))
	}
	for i, r := range rows {
		if s.id != "" && r.Session == s.id || s.id == "" && slices.Contains(tree, r.PID) && !slices.Contains(s.past, r.Session) {
			return &rows[i], nil
		}
	}
	return nil, fmt.Errorf("no session of process %d is listed among %v", s.root, rows)
}

// expect waits for a state, and returns the row.
func (s *session) expect(ctx context.Context, want state) (r row, err error) {
	err = until(ctx, func() error {
		r, err = s.is(ctx, want)
		return err
	})
	return r, err
}

// is returns the row of the session if it has the state.
func (s *session) is(ctx context.Context, want state) (row, error) {
	if want.cleanup {
		if err := s.cleanup(ctx); err != nil {
			return row{}, err
		}
	}
	rows, err := s.list(ctx, "status")
	if err != nil {
		return row{}, err
	}
	r, err := s.find(rows)
	if want.status == gone && err != nil {
		return row{}, nil
	}
	if err != nil {
		return row{}, err
	}
	if r.Status != want.status {
		return row{}, fmt.Errorf("want %s: %v", want.status, r)
	}
	if r.Kind == "session" {
		s.id = r.Session
	}
	return *r, nil
}

// absent waits until a listing does not have a session.
func (l *lab) absent(ctx context.Context, command, id string) error {
	return until(ctx, func() error {
		rows, err := l.list(ctx, command)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Session == id {
				return fmt.Errorf("%s still has %v", command, r)
			}
		}
		return nil
	})
}

// over is nil if the process has gone.
func (s *session) over() error {
	if st, err := proc.Root.Stat(s.root); err == nil && !st.Dead() {
		return fmt.Errorf("process %d is still there", s.root)
	}
	return nil
}

// The tool is a script that says that it runs, and ends when it is told to. One
// is allowed by the settings of the agent, for the other it asks.
const (
	allowedTool = "allowed"
	guardedTool = "guarded"
	toolScript  = `#!/bin/sh
: >"$0.runs"
for i in $(seq 1500); do
	[ -e "$0.ends" ] && rm "$0.ends" && exit
	sleep 0.2
done
`
)

// toolRuns is nil once after a tool has begun.
func (l *lab) toolRuns(tool string) func() error {
	return func() error { return os.Remove(l.work + "/" + tool + ".runs") }
}

func (l *lab) endTool(tool string) error {
	return os.WriteFile(l.work+"/"+tool+".ends", nil, 0o600)
}

// toolIsQuiet reports a tool that has run and should not have.
func (l *lab) toolIsQuiet(tool string) error {
	if _, err := os.Stat(l.work + "/" + tool + ".runs"); err == nil {
		return errors.New("the tool has run")
	}
	return nil
}

// kill ends a process, at once.
func kill(pid string) error {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 1 {
		return fmt.Errorf("no process: %q", pid)
	}
	return unix.Kill(n, unix.SIGKILL)
}
