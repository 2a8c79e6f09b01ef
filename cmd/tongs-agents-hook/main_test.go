package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// bin holds the two programs that the tests run.
var bin string

func hookPath() string    { return filepath.Join(bin, "tongs-agents-hook") }
func standinPath() string { return filepath.Join(bin, "standin") }

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "tongs-agents-hook-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	for path, args := range map[string][]string{hookPath(): {"-ldflags=-E main.entry", "."}, standinPath(): {"./testdata/standin"}} {
		build := exec.Command("go", append([]string{"build", "-trimpath", "-o", path}, args...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build %s: %v\n%s", path, err, out)
			return 1
		}
	}
	return m.Run()
}

// link, call and answer are what testdata/standin has.
type (
	link struct {
		Path   string
		Args   []string
		Orphan bool
	}
	call struct {
		Args    []string
		Env     []string
		Dir     string
		Stdin   []byte
		Inherit bool
	}
	answer struct {
		PID            int
		Exit           int
		Stdout, Stderr string
		MaxRSS         int64
		Nanoseconds    int64
		Error          string
	}
)

// process is a link of a chain: the stand-in under the name that the first
// argument has.
func process(t testing.TB, args ...string) link {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(args[0]))
	if err := os.Link(standinPath(), path); err != nil {
		t.Fatal(err)
	}
	return link{Path: path, Args: args}
}

// agent is a chain of processes, the last of which runs hooks.
type agent struct {
	t     testing.TB
	cmd   *exec.Cmd
	calls *os.File
	json  *json.Decoder
	self  *proc.Process // the last
}

// start starts a chain of processes. They end with the test.
func start(t testing.TB, terminal *os.File, stdin *os.File, chain ...link) *agent {
	t.Helper()
	rest, err := json.Marshal(chain[1:])
	if err != nil {
		t.Fatal(err)
	}
	callsOut, calls, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, answersIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{
		Path: chain[0].Path, Args: chain[0].Args,
		Env:   []string{"STANDIN_CHAIN=" + string(rest)},
		Stdin: stdin, Stderr: os.Stderr,
		ExtraFiles:  []*os.File{callsOut, answersIn},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if terminal != nil {
		cmd.Stdin = terminal
		cmd.SysProcAttr.Setctty = true
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	callsOut.Close()
	answersIn.Close()
	a := &agent{t: t, cmd: cmd, calls: calls, json: json.NewDecoder(answers)}
	t.Cleanup(func() { a.stop(); answers.Close() })
	hello := a.answer()
	if a.self, err = proc.Root.Process(hello.PID); err != nil {
		t.Fatal(err)
	}
	return a
}

// stop ends the processes of the chain, the last first.
func (a *agent) stop() {
	a.calls.Close()
	a.cmd.Wait()
}

func (a *agent) answer() answer {
	a.t.Helper()
	var got answer
	if err := a.json.Decode(&got); err != nil {
		a.t.Fatal(err)
	}
	if got.Error != "" {
		a.t.Fatal(got.Error)
	}
	return got
}

// begin starts a hook and returns its pid.
func (a *agent) begin(c call) int {
	a.t.Helper()
	if err := json.NewEncoder(a.calls).Encode(c); err != nil {
		a.t.Fatal(err)
	}
	return a.answer().PID
}

// run runs a hook.
func (a *agent) run(c call) answer {
	a.t.Helper()
	a.begin(c)
	return a.answer()
}

// hook runs a hook that must say nothing and exit 0, as nearly all do.
func (a *agent) hook(state, args, payload string, env ...string) answer {
	a.t.Helper()
	return quiet(a.t, a.run(hookCall(state, args, payload, env...)))
}

func hookCall(state, args, payload string, env ...string) call {
	return call{
		Args:  append([]string{hookPath()}, strings.Fields(args)...),
		Env:   append([]string{"TONGS_AGENTS_STATE_DIR=" + state}, env...),
		Stdin: []byte(payload),
	}
}

// inShell makes a call one that a shell makes, which stays between the agent
// and the hook. The hook and its arguments are "$@".
func (c call) inShell(script string) call {
	c.Args = append([]string{"/bin/sh", "-c", script, "sh"}, c.Args...)
	return c
}

func quiet(t testing.TB, a answer) answer {
	t.Helper()
	if a.Exit != 0 || a.Stdout != "" || a.Stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q; want 0 and nothing", a.Exit, a.Stdout, a.Stderr)
	}
	return a
}

func (a answer) took() time.Duration { return time.Duration(a.Nanoseconds) }

// claude is an agent without a terminal. stdin is what its hooks inherit.
func claude(t testing.TB, stdin *os.File) *agent {
	return start(t, nil, stdin, process(t, "claude"))
}

// records returns what the store holds.
func records(t testing.TB, state string) []*fsstore.Record {
	t.Helper()
	s, err := fsstore.Open(state, fsstore.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, bad, err := s.All()
	if err != nil || len(bad) > 0 {
		t.Errorf("unreadable records: %v, %v", bad, err)
	}
	temps, _ := filepath.Glob(filepath.Join(state, "sessions", ".fleet-tmp-*"))
	if len(temps) > 0 {
		t.Errorf("left behind: %v", temps)
	}
	return all
}

// record returns the only record of the store, or nil.
func record(t testing.TB, state string) *fsstore.Record {
	t.Helper()
	switch all := records(t, state); len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		t.Fatalf("%d records: %s", len(all), show(all))
		return nil
	}
}

// show is records in short.
func show(all []*fsstore.Record) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%s %s %s %s %s; ", r.Harness, r.Session, r.Instance, r.Status, r.Mode)
	}
	return b.String()
}

// want checks status and session of the only record.
func want(t testing.TB, state, session string, status fsstore.Status) *fsstore.Record {
	t.Helper()
	r := record(t, state)
	if r == nil || r.Session != session || r.Status != status {
		t.Fatalf("got %s; want %s, %s", show(records(t, state)), session, status)
	}
	return r
}

const started = `{"session_id":"s1","cwd":"/home/dana/src/ledger-api","hook_event_name":"SessionStart","source":"startup"}`

func payload(session, event, more string) string {
	return `{"session_id":"` + session + `","cwd":"/home/dana/src/ledger-api","hook_event_name":"` + event + `"` + more + `}`
}
