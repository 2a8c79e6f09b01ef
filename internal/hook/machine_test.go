package hook

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/proc"
)

// noProcess is a pid beyond the largest that the kernel gives.
const noProcess = 1<<22 + 1

// thisBoot is the real boot id: it is what a record gets.
var thisBoot, _ = proc.Root.BootID()

// machine is one record and the events that come to it, without a store and
// without processes.
type machine struct {
	t     testing.TB
	h     *harness.Harness
	owner *proc.Process
	r     *fsstore.Record // nil: no record
	clock int64           // boottime of the latest event, and seconds after the epoch
}

func newMachine(t testing.TB, id string) *machine {
	noEnvironment(t)
	return &machine{
		t: t, h: harness.ByID(id), clock: 1000,
		owner: proc.FS(t.TempDir()).Of(proc.Stat{PID: noProcess, Comm: id, State: 'S', PPID: 1, Start: "4242"}),
	}
}

// noEnvironment takes away what the environment of the test would add to
// records.
func noEnvironment(t testing.TB) {
	t.Helper()
	t.Setenv("TONGS_AGENTS_STATE_DIR", t.TempDir())
	for _, name := range []string{
		fsstore.EnvLaunchID, fsstore.EnvProfileID, "TONGS_AGENTS_PRIVATE", "TONGS_AGENTS_DISABLE",
		"CLAUDE_JOB_DIR", "CLAUDE_CODE_ENTRYPOINT", "TMUX", "ZELLIJ_SESSION_NAME", "STY", "KITTY_WINDOW_ID",
		"WEZTERM_PANE", "KONSOLE_DBUS_SESSION", "GHOSTTY_RESOURCES_DIR", "TERM_PROGRAM",
	} {
		t.Setenv(name, "")
	}
}

// in sets up a record of the session in the given status.
func (m *machine) in(s fsstore.Status) *machine {
	m.t.Helper()
	m.do("session-start")
	m.r.Status, m.r.Detail = s, "before"
	if s == fsstore.Waiting {
		m.r.WaitingFor = &fsstore.Wait{Tool: "Bash"}
	}
	return m
}

// event makes an event of a line: our alias, the name of a tool, "@" and the
// id of a subagent, and any number of NAME=VALUE. The names at and boot set the
// time and the boot of the event, tasks the number of running tasks; all others
// are keys of the payload, with a value that is JSON or else text.
//
//	permission-request Bash @a1 at=7
func (m *machine) event(line string) *event {
	m.t.Helper()
	m.clock++
	e := event{via: "hook", ts: m.clock, boottime: m.clock, boot: thisBoot, harness: m.h, owner: m.owner}
	body := map[string]any{"session_id": "s1", "cwd": "/home/dana/src/ledger-api"}
	words := splitWords(line)
	for _, word := range words[1:] {
		name, value, pair := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "@"):
			body["agent_id"], body["agent_type"] = word[1:], "Explore"
		case !pair:
			body["tool_name"] = word
		case name == "at":
			at, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				m.t.Fatal(err)
			}
			e.boottime = at
		case name == "boot":
			e.boot = value
		case name == "tasks":
			n, _ := strconv.Atoi(value)
			tasks := []any{map[string]any{"id": "t0", "status": "completed"}}
			for range n {
				tasks = append(tasks, map[string]any{"id": "t", "status": "running"})
			}
			body["background_tasks"] = tasks
		case json.Valid([]byte(value)):
			body[name] = json.RawMessage(value)
		default:
			body[name] = value
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		m.t.Fatal(err)
	}
	if e.payload, err = decodePayload(jsonstream.NewBytes(text), m.h.Hooks); err != nil {
		m.t.Fatalf("%s: %v", line, err)
	}
	if err := e.mean(words[0]); err != nil {
		m.t.Fatalf("%s: %v", line, err)
	}
	e.key = fsstore.Key{Harness: m.h.ID, Session: e.session, Instance: fsstore.Unresolved}
	if e.owner != nil {
		e.key.Instance = instanceOf(e.owner)
	}
	return &e
}

// splitWords splits at spaces that are not within double quotes, drops the
// quotes and makes white space of \n and \t.
func splitWords(line string) []string {
	quoted := false
	words := strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
	for i := range words {
		words[i] = strings.NewReplacer(`"`, "", `\n`, "\n", `\t`, "\t").Replace(words[i])
	}
	return words
}

// story plays lines of the form "event => record", the record as show has it.
func (m *machine) story(lines ...string) {
	m.t.Helper()
	for _, line := range lines {
		event, want, ok := strings.Cut(line, " => ")
		if !ok {
			m.t.Fatalf("no => in %q", line)
		}
		m.do(event)
		if got := show(m.r); got != want {
			m.t.Errorf("%s: got %s; want %s", event, got, want)
		}
	}
}

// do applies an event as a store does, and reports whether the record changed.
func (m *machine) do(line string) bool {
	m.t.Helper()
	return m.apply(m.event(line))
}

func (m *machine) apply(c change) bool {
	m.t.Helper()
	if m.r == nil && !c.creates() {
		return false
	}
	r := c.apply(nil, m.r)
	if r == nil {
		return false
	}
	if r == m.r {
		m.t.Fatal("apply returned the record that it was given")
	}
	r.Key = c.record()
	r.Arrival = 1
	if m.r != nil {
		r.Arrival = m.r.Arrival + 1
	}
	if err := r.Validate(); err != nil {
		m.t.Fatalf("after %T: %v", c, err)
	}
	m.r = r
	return true
}

// show is a record in short: status, who asked for what while waiting, counts,
// detail.
//
//	waiting(a1 Bash) subagents=1: permission needed: Bash
func show(r *fsstore.Record) string {
	if r == nil {
		return "none"
	}
	text := showState(r)
	if r.Subagents != 0 {
		text += fmt.Sprintf(" subagents=%d", r.Subagents)
	}
	if r.BackgroundTasks != 0 {
		text += fmt.Sprintf(" tasks=%d", r.BackgroundTasks)
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}

// showState is show without counts and detail.
func showState(r *fsstore.Record) string {
	if r == nil {
		return "none"
	}
	text := string(r.Status)
	if w := r.WaitingFor; w != nil {
		text += "(" + strings.TrimSpace(w.AgentID+" "+w.Tool) + ")"
	}
	return text
}
