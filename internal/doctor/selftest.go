package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

const (
	trials    = 10
	trialTime = 10 * time.Second      // more than the hook may wait for anything
	slow      = 50 * time.Millisecond // what a user would begin to feel at each tool call
)

// selfTest runs the hook on a throw-away store: a start and some prompts of a
// session that does not exist.
func (p *patient) selfTest() []Finding {
	if p.hook.err != nil {
		return nil // which the check of the programs says
	}
	agent := owner()
	if !agent.Hooks.NoSession && !hasSession(agent) {
		return []Finding{warn("the hook was not tried: this runs in %s, which has no hooks but a plugin; a terminal would do", agent.ID)}
	}
	dir, err := os.MkdirTemp("", "tongs-agents-doctor-")
	if err != nil {
		return []Finding{warn("the hook was not tried: %v", err)}
	}
	defer os.RemoveAll(dir)
	t := trial{hook: p.hook.path, dir: dir, agent: agent, session: "self-test"}
	median, err := t.times(trials)
	if err == nil {
		err = t.recorded()
	}
	switch {
	case err != nil:
		return []Finding{fail("%s: %v", p.hook.path, err).with(reinstall)}
	case median > slow:
		return []Finding{warn("the hook takes %s (median of %d), each time that an agent uses a tool", milliseconds(median), trials)}
	}
	return []Finding{ok("the hook records an event in %s (median of %d)", milliseconds(median), trials)}
}

// owner is the agent that this program runs in, whose events alone the hook
// records here; claude if it runs in none.
func owner() *harness.Harness {
	if _, h, _ := proc.Root.Owner(os.Getppid()); h != nil {
		return h
	}
	return harness.ByID("claude")
}

// hasSession reports whether an agent's payloads name the session.
func hasSession(h *harness.Harness) bool {
	return slices.ContainsFunc(h.Hooks.Keys, func(k harness.Key) bool { return k.Field == harness.SessionID })
}

// trial is a hook that is tried.
type trial struct {
	hook    string
	dir     string // throw-away
	agent   *harness.Harness
	session string
}

func (t trial) state() string { return filepath.Join(t.dir, "state") }

// times runs the hook n times and returns the median of how long it took.
func (t trial) times(n int) (time.Duration, error) {
	var took []time.Duration
	for range n {
		event := harness.PromptSubmit
		if len(took) == 0 {
			event = harness.SessionStart
		}
		d, err := t.run(event)
		if err != nil {
			return 0, fmt.Errorf("%v: %w", event, err)
		}
		took = append(took, d)
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// run runs the hook once. It must end with status 0 and print nothing.
func (t trial) run(event harness.Event) (time.Duration, error) {
	cmd := exec.Command(t.hook, event.String(), "--agent", t.agent.ID)
	cmd.Dir = t.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.dir, "TONGS_AGENTS_STATE_DIR=" + t.state()}
	cmd.Stdin = strings.NewReader(t.payload())
	o := run(cmd, trialTime)
	switch {
	case o.late:
		return 0, fmt.Errorf("did not end within %s", trialTime)
	case o.err != nil:
		return 0, fmt.Errorf("%w%s", o.err, printed(o))
	case o.stdout+o.stderr != "":
		return 0, fmt.Errorf("must print nothing, and%s", printed(o))
	}
	return o.took, nil
}

// printed quotes the first line that a program has printed.
func printed(o outcome) string {
	line, _, _ := strings.Cut(o.stdout+o.stderr, "\n")
	if line == "" {
		return ""
	}
	return fmt.Sprintf(" printed %q", line)
}

// payload is what the agent would say of its session.
func (t trial) payload() string {
	payload := map[string]string{}
	for _, key := range t.agent.Hooks.Keys {
		switch key.Field {
		case harness.SessionID:
			payload[key.Name] = t.session
		case harness.Cwd:
			payload[key.Name] = t.dir
		}
	}
	text, err := json.Marshal(payload)
	if err != nil {
		panic("doctor: " + err.Error())
	}
	return string(text)
}

// recorded reports why the store does not hold what the events said.
func (t trial) recorded() error {
	store, err := fsstore.Open(t.state(), fsstore.Read)
	if err != nil {
		return t.nothing()
	}
	defer store.Close()
	records, bad, err := store.All()
	switch {
	case err != nil:
		return err
	case len(bad) > 0:
		return fmt.Errorf("wrote %s, which is no record: %w", bad[0].Name, bad[0].Err)
	case len(records) == 0:
		return t.nothing()
	case len(records) > 1:
		return fmt.Errorf("wrote %d records of one session", len(records))
	case records[0].Status != fsstore.Running:
		return fmt.Errorf("recorded the session as %s after a prompt", records[0].Status)
	}
	return nil
}

// nothing says why there is no record, if the hook has noted it.
func (t trial) nothing() error {
	if e, err := fsstore.ReadHookErrors(t.state()); err == nil {
		return fmt.Errorf("recorded nothing: %s", e.Last)
	}
	return errors.New("recorded nothing")
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
