package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"tongs-agents/proc"
)

// stage is one agent under test.
type stage struct {
	*lab
	open *session // in a terminal, at rest or, after ask, with a question; nil for none
	two  [2]*session
}

// step is something that a user does with an agent, and what the listing must
// say of it. Steps are taken in order; after one that fails the next begins
// with a new session.
type step struct {
	name string
	take func(*stage, context.Context) error
}

var steps = []step{
	{"start", (*stage).start},
	{"prompt", (*stage).prompt},
	{"tool", (*stage).tool},
	{"ask", (*stage).ask},
	{"grant", (*stage).grant},
	{"refuse", (*stage).refuse},
	{"interrupt", (*stage).interrupt},
	{"error", (*stage).fail},
	{"new", (*stage).clear},
	{"exit", (*stage).exit},
	{"two", (*stage).both},
	{"kill", (*stage).kill},
	{"headless", (*stage).headless},
}

// after is the state that the agent's row says comes after a step, else usual.
func (s *stage) after(step, usual string) state {
	if st, ok := s.agent.unlike[step]; ok {
		return st
	}
	return state{status: usual}
}

// current is the session that the steps share. It is started if there is none.
func (s *stage) current(ctx context.Context) (*session, error) {
	if s.open != nil {
		return s.open, nil
	}
	var err error
	s.open, err = s.lab.open(ctx)
	return s.open, err
}

func (s *stage) start(ctx context.Context) error {
	open, err := s.current(ctx)
	if err != nil {
		return err
	}
	want := state{status: "started"}
	if s.agent.lazy {
		want = state{status: "discovered", cleanup: true}
	}
	r, err := open.expect(ctx, want)
	if err != nil {
		return err
	}
	return s.check(r, "interactive")
}

// check looks at what does not change during a session.
func (s *stage) check(r row, mode string) error {
	var errs []error
	if r.Harness != s.agent.id {
		errs = append(errs, fmt.Errorf("the agent is %s", r.Harness))
	}
	if r.Mode != mode {
		errs = append(errs, fmt.Errorf("the mode is %s, not %s", r.Mode, mode))
	}
	if r.Cwd != s.work {
		errs = append(errs, fmt.Errorf("the directory is %q, not %q", r.Cwd, s.work))
	}
	if (r.TTY != "") != (mode == "interactive") {
		errs = append(errs, fmt.Errorf("the terminal is %q", r.TTY))
	}
	pid, _ := strconv.Atoi(r.PID)
	if _, err := proc.Root.Stat(pid); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		errs = append(errs, errors.New(r.String()))
	}
	return errors.Join(errs...)
}

func (s *stage) prompt(ctx context.Context) error {
	open, err := s.current(ctx)
	if err != nil {
		return err
	}
	t := s.model.holds()
	defer t.release()
	if err := open.say(ctx, t); err != nil {
		return err
	}
	r, err := open.expect(ctx, state{status: "running"})
	if err != nil {
		return err
	}
	if err := s.check(r, "interactive"); err != nil {
		return err
	}
	t.release()
	_, err = open.expect(ctx, state{status: "idle"})
	return err
}

func (s *stage) tool(ctx context.Context) error {
	open, err := s.current(ctx)
	if err != nil {
		return err
	}
	if err := open.say(ctx, s.model.runs("./"+allowedTool, false)); err != nil {
		return err
	}
	if err := until(ctx, s.toolRuns(allowedTool)); err != nil {
		return err
	}
	_, err = s.named(ctx, open)
	return errors.Join(err, s.finish(ctx, open, allowedTool))
}

// named expects a running tool that has a name, and returns the row.
func (s *stage) named(ctx context.Context, session *session) (r row, err error) {
	err = until(ctx, func() error {
		r, err = session.is(ctx, state{status: "running"})
		if err == nil && s.agent.unnamed == "" && (r.Tool == "" || !strings.Contains(r.Detail, r.Tool)) {
			err = fmt.Errorf("no tool is named: %v", r)
		}
		return err
	})
	return r, err
}

// finish ends a tool and expects the end of its turn.
func (s *stage) finish(ctx context.Context, session *session, tool string) error {
	if err := s.endTool(tool); err != nil {
		return err
	}
	_, err := session.expect(ctx, state{status: "idle"})
	return err
}

func (s *stage) ask(ctx context.Context) error {
	open, err := s.current(ctx)
	if err != nil {
		return err
	}
	if err := open.say(ctx, s.model.runs("./"+guardedTool, true)); err != nil {
		return err
	}
	if _, err := open.expect(ctx, state{status: "waiting"}); err != nil {
		return err
	}
	return until(ctx, func() error { return open.question(ctx, true) })
}

// asking is the session at a question, which is asked if it is not yet.
func (s *stage) asking(ctx context.Context) (*session, error) {
	if s.open == nil || s.open.question(ctx, true) != nil {
		if err := s.ask(ctx); err != nil {
			return nil, err
		}
	}
	return s.open, nil
}

func (s *stage) grant(ctx context.Context) error {
	open, err := s.asking(ctx)
	if err != nil {
		return err
	}
	if err := open.press(ctx, s.agent.grant, s.toolRuns(guardedTool)); err != nil {
		return err
	}
	_, err = open.expect(ctx, s.after("grant", "running"))
	return errors.Join(err, s.finish(ctx, open, guardedTool))
}

func (s *stage) refuse(ctx context.Context) error {
	open, err := s.asking(ctx)
	if err != nil {
		return err
	}
	if err := open.press(ctx, s.agent.refuse, func() error { return open.question(ctx, false) }); err != nil {
		return err
	}
	if _, err = open.expect(ctx, s.after("refuse", "idle")); err != nil {
		return err
	}
	return s.toolIsQuiet(guardedTool)
}

func (s *stage) interrupt(ctx context.Context) error {
	open, err := s.current(ctx)
	if err != nil {
		return err
	}
	t := s.model.holds()
	defer t.release()
	if err := open.say(ctx, t); err != nil {
		return err
	}
	if _, err := open.expect(ctx, state{status: "running"}); err != nil {
		return err
	}
	if err := open.press(ctx, s.agent.interrupt, closed(t.dropped, "the agent still waits for the model")); err != nil {
		return err
	}
	_, err = open.expect(ctx, s.after("interrupt", "idle"))
	return err
}

func (s *stage) fail(ctx context.Context) error {
	open, err := s.current(ctx)
	if err != nil {
		return err
	}
	if err := open.say(ctx, s.model.fails()); err != nil {
		return err
	}
	_, err = open.expect(ctx, s.after("error", "error"))
	return err
}

// clear goes to a new session in the same process.
func (s *stage) clear(ctx context.Context) error {
	open, err := s.reported(ctx)
	if err != nil {
		return err
	}
	old := open.id
	open.past, open.id = append(open.past, old), ""
	done := func() error {
		_, err := open.is(ctx, state{status: "started"})
		return err
	}
	if s.agent.lazy {
		done = func() error { return open.cleared(ctx) }
	}
	if err := open.submit(ctx, s.agent.clear, done); err != nil {
		return err
	}
	if s.agent.lazy {
		if err := s.answered(ctx, open); err != nil {
			return err
		}
	}
	return s.absent(ctx, "ps", old)
}

// reported is current, of which the listing knows the session: an agent may say
// nothing before the first prompt.
func (s *stage) reported(ctx context.Context) (*session, error) {
	open, err := s.current(ctx)
	if err == nil && open.id == "" {
		err = s.answered(ctx, open)
	}
	return open, err
}

// answered has a prompt answered.
func (s *stage) answered(ctx context.Context, session *session) error {
	if err := session.say(ctx, s.model.answers()); err != nil {
		return err
	}
	_, err := session.expect(ctx, state{status: "idle"})
	return err
}

func (s *stage) exit(ctx context.Context) error {
	open, err := s.reported(ctx)
	if err != nil {
		return err
	}
	if err := open.submit(ctx, s.agent.exit, open.over); err != nil {
		return err
	}
	s.open = nil
	if err := s.hasEnded(ctx, append(open.past, open.id)); err != nil {
		return err
	}
	return s.absent(ctx, "ps", open.id)
}

// hasEnded waits until one of the sessions that a process has worked on is
// listed as ended. Codex ends them all when it is left, in any order, and of
// one process the session with the last event is listed.
func (s *stage) hasEnded(ctx context.Context, sessions []string) error {
	return until(ctx, func() error {
		rows, err := s.list(ctx, "status")
		if err != nil {
			return err
		}
		for _, r := range rows {
			if slices.Contains(sessions, r.Session) && r.Status == "ended" {
				return nil
			}
		}
		return fmt.Errorf("none of %v has ended: %v", sessions, rows)
	})
}

// both has two sessions in one directory: one runs, the other is idle.
func (s *stage) both(ctx context.Context) error {
	for i := range s.two {
		var err error
		if s.two[i], err = s.lab.open(ctx); err != nil {
			return err
		}
	}
	t := s.model.holds()
	defer t.release()
	if err := s.two[0].say(ctx, t); err != nil {
		return err
	}
	if err := s.answered(ctx, s.two[1]); err != nil {
		return err
	}
	if _, err := s.two[0].expect(ctx, state{status: "running"}); err != nil {
		return err
	}
	if s.two[0].id == s.two[1].id {
		return fmt.Errorf("both are %s", s.two[0].id)
	}
	t.release()
	_, err := s.two[0].expect(ctx, state{status: "idle"})
	return err
}

// kill kills one of two.
func (s *stage) kill(ctx context.Context) error {
	if s.two[1] == nil {
		if err := s.both(ctx); err != nil {
			return err
		}
	}
	killed, left := s.two[0], s.two[1]
	r, err := killed.expect(ctx, state{status: "idle"})
	if err != nil {
		return err
	}
	if err := kill(r.PID); err != nil {
		return err
	}
	if err := s.absent(ctx, "ps", killed.id); err != nil {
		return err
	}
	if err := s.cleanup(ctx); err != nil {
		return err
	}
	if err := s.absent(ctx, "status", killed.id); err != nil {
		return err
	}
	_, err = left.expect(ctx, state{status: "idle"})
	return err
}

// headless is a run without a terminal.
func (s *stage) headless(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	t := s.model.runs("./"+allowedTool, false)
	var output strings.Builder
	cmd := exec.CommandContext(ctx, "env", s.command(s.agent.headless, t.Prompt)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.work, s.env, &output, &output
	cmd.WaitDelay = again
	if err := cmd.Start(); err != nil {
		return err
	}
	run := &session{lab: s.lab, root: cmd.Process.Pid}
	err := until(ctx, s.toolRuns(allowedTool))
	if err == nil {
		var r row
		if r, err = s.named(ctx, run); err == nil {
			err = s.check(r, "headless")
		}
	}
	err = errors.Join(err, s.endTool(allowedTool))
	if err != nil {
		cmd.Process.Kill()
	}
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("%w\n%s", err, output.String())
	}
	_, err = run.expect(ctx, s.after("headless", "ended"))
	return err
}
