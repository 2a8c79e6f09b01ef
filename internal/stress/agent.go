package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"tongs-agents/fsstore"
)

// agentChild is an agent, whose events are reported by the real hook.
type agentChild struct{ *child }

// runs asks an agent to run the hook with each of the payloads at once, and each
// several times in a row.
type runs struct {
	Payloads []string
	Times    int
}

type ran struct{ Err string }

func (d *driver) startAgent(state string) (agentChild, error) {
	c, err := d.start(roleAgent, state, filepath.Join(d.bin, hookProgram))
	return agentChild{c}, err
}

// run returns when all the hooks have ended.
func (a agentChild) run(payloads []string, times int) error {
	var answer ran
	if err := a.ask(runs{payloads, times}, &answer); err != nil {
		return fmt.Errorf("the agent gives no answer: %w", err)
	}
	if answer.Err != "" {
		return errors.New(answer.Err)
	}
	return nil
}

// agent is such a process.
func agent(args []string) error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q runs
		if err := in.Decode(&q); err != nil {
			return ended(err)
		}
		errs := make([]error, len(q.Payloads))
		var all sync.WaitGroup
		for i, text := range q.Payloads {
			all.Go(func() {
				for range q.Times {
					errs[i] = errors.Join(errs[i], runHook(args[0], text))
				}
			})
		}
		all.Wait()
		var a ran
		if err := errors.Join(errs...); err != nil {
			a.Err = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

// runHook runs the hook with a payload that is all there when it begins: it does
// not wait long for one, and this machine is busy.
func runHook(program, text string) error {
	in, payload, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.WriteString(payload, text) // the pipe holds much more
	payload.Close()
	if err != nil {
		return err
	}
	cmd := exec.Command(program)
	cmd.Stdin = in
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // it is to say nothing; see child
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("hook: %w", err)
	}
	return nil
}

// checkHookErrors looks for what hooks have noted that they could not do.
func checkHookErrors(c *check, state string) error {
	s, err := fsstore.Open(state, fsstore.Read)
	if err != nil {
		return err
	}
	defer s.Close()
	switch e, err := s.HookErrors(); {
	case err == nil:
		c.fail("hooks have noted %d failures, the last one: %s", e.Count, e.Last)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// payload is an event as Claude Code reports it. That of a tool tells its number.
func payload(session, event string, n int64) string {
	tool := ""
	if event == "PreToolUse" {
		tool = fmt.Sprintf(`,"tool_name":%q`, toolName(n))
	}
	return fmt.Sprintf(`{"session_id":%q,"hook_event_name":%q,"cwd":"/src/app"%s}`, session, event, tool)
}

// toolName is a name of changing length, all of which tells the number.
func toolName(n int64) string {
	digits := fmt.Sprint(n)
	return digits + strings.Repeat("-"+digits, int(n*7%24))
}
