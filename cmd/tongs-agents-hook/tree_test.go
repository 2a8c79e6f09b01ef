package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// openTerminal returns the far end of a new pseudo terminal and its name
// below /dev.
func openTerminal(t testing.TB) (*os.File, string) {
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tty.Close()
		screen.Close()
	})
	return tty, strings.TrimPrefix(tty.Name(), "/dev/")
}

// The record is that of the nearest ancestor which is an agent, whatever stands
// between it and the hook.
func TestOwner(t *testing.T) {
	inTMUX := []string{"TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%3", "TERM_PROGRAM=tmux"}
	tests := []struct {
		name     string
		agent    string
		chain    [][]string // the last is the owner
		shell    string     // between the owner and the hook
		terminal bool
		env      []string
		mode     string
		place    string // terminal and pane
	}{
		{name: "direct", agent: "claude", chain: [][]string{{"claude"}}, mode: "headless"},
		{name: "sh -c", agent: "claude", chain: [][]string{{"claude"}}, shell: `"$@"; exit $?`, mode: "headless"},
		{name: "sh -c that becomes the hook", agent: "claude", chain: [][]string{{"claude"}}, shell: `exec "$@"`, mode: "headless"},
		{name: "shell in shell", agent: "codex", chain: [][]string{{"codex", "exec", "do it"}},
			shell: `sh -c '"$@"; exit $?' sh "$@"; exit $?`, terminal: true, mode: "headless"},
		{name: "terminal", agent: "claude", chain: [][]string{{"claude"}}, terminal: true, mode: "interactive"},
		{name: "tmux", agent: "claude", chain: [][]string{{"claude"}}, terminal: true, env: inTMUX, mode: "interactive", place: "tmux %3"},
		{name: "print mode", agent: "claude", chain: [][]string{{"claude", "-p", "do it"}}, terminal: true, mode: "headless"},
		{name: "prompt like a subcommand", agent: "claude", chain: [][]string{{"claude", "daemon run"}}, terminal: true, mode: "interactive"},
		{name: "path in argv[0]", agent: "claude", chain: [][]string{{"/opt/claude/bin/claude", "--model", "opus"}}, terminal: true, mode: "interactive"},
		{name: "npm's name", agent: "claude", chain: [][]string{{"claude.exe"}}, terminal: true, mode: "interactive"},
		{name: "nix", agent: "claude", chain: [][]string{{".claude-wrapped"}}, terminal: true, mode: "interactive"},
		{name: "gemini: node in node", agent: "gemini", terminal: true, mode: "interactive", chain: [][]string{
			{"node", "/x/bin/gemini"}, {"node", "--max-old-space-size=99", "/x/bin/gemini"},
		}},
		{name: "gemini in print mode", agent: "gemini", terminal: true, mode: "headless", chain: [][]string{
			{"node", "/x/bin/gemini", "-p", "do it"}, {"node", "--max-old-space-size=99", "/x/bin/gemini", "-p", "do it"},
		}},
		{name: "qwen: three times node", agent: "qwen", terminal: true, mode: "interactive", chain: [][]string{
			{"node", "/x/bin/qwen"}, {"node", "--expose-gc", "/x/node_modules/@qwen-code/qwen-code/cli.js"},
			{"node", "--expose-gc", "/x/node_modules/@qwen-code/qwen-code/cli.js"},
		}},
		{name: "codex below its launcher", agent: "codex", terminal: true, mode: "interactive", chain: [][]string{
			{"node", "/x/bin/codex", "-a", "on-request"}, {"codex", "-a", "on-request"},
		}},
		{name: "codex daemon", agent: "codex", terminal: true, env: inTMUX, mode: "daemon", chain: [][]string{
			{"codex"}, {"codex", "app-server", "--listen", "unix:///x", "--managed-daemon"},
		}},
		{name: "agent in another agent", agent: "claude", terminal: true, mode: "headless", chain: [][]string{
			{"codex"}, {"claude", "-p", "do it"},
		}},
		{name: "agent in itself", agent: "claude", terminal: true, mode: "headless",
			env: []string{"CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_CHILD_SESSION=1"}, chain: [][]string{
				{"claude"}, {"claude", "-p", "do it"},
			}},
		{name: "desktop", agent: "claude", mode: "desktop", env: []string{"CLAUDE_CODE_ENTRYPOINT=claude-desktop"}, chain: [][]string{{"claude"}}},
		{name: "background worker", agent: "claude", terminal: true, mode: "background", env: inTMUX, chain: [][]string{
			{"claude", "daemon", "run"}, {"claude bg-spare", "--bg-spare", "/x/socket"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var terminal *os.File
			tty := ""
			if tt.terminal {
				terminal, tty = openTerminal(t)
			}
			var chain []link
			for _, args := range tt.chain {
				chain = append(chain, process(t, args...))
			}
			a := start(t, terminal, nil, chain...)
			state := t.TempDir()
			c := hookCall(state, "session-start --agent "+tt.agent, started,
				append(tt.env, fmt.Sprintf("CLAUDE_PID=%d", a.cmd.Process.Pid))...) // inherited, and not believed
			if tt.shell != "" {
				c = c.inShell(tt.shell)
			}
			quiet(t, a.run(c))

			r := want(t, state, "s1", fsstore.Started)
			if r.Harness != tt.agent || r.PID != strconv.Itoa(a.self.PID) || r.ProcessStart != a.self.Start ||
				r.Identity != fsstore.Identified || r.Instance != r.PID+":"+r.ProcessStart {
				t.Errorf("got %s of %s %s; want %s of %d %s", r.Harness, r.PID, r.ProcessStart, tt.agent, a.self.PID, a.self.Start)
			}
			if r.Mode != tt.mode {
				t.Errorf("mode: got %s, want %s", r.Mode, tt.mode)
			}
			if tt.mode == "daemon" || tt.mode == "background" {
				tty = ""
				if len(r.TerminalEnv) > 0 {
					t.Errorf("terminal_env: got %v of whoever started it", r.TerminalEnv)
				}
			}
			if r.TTY != tty {
				t.Errorf("tty: got %q, want %q", r.TTY, tty)
			}
			if got := strings.TrimSpace(r.Terminal + " " + r.LookupEnv("TMUX_PANE")); got != tt.place {
				t.Errorf("terminal: got %q, want %q", got, tt.place)
			}
			if kind := fsstore.FocusTerminal; tty != "" && r.Focus.Kind != kind {
				t.Errorf("focus: got %s, want %s", r.Focus.Kind, kind)
			}
			host := proc.Root.Host()
			if r.BootID != host.BootID || r.PIDNamespace != host.PIDNamespace || r.MachineID != host.MachineID {
				t.Errorf("host: got %s %s %s, want %+v", r.BootID, r.PIDNamespace, r.MachineID, host)
			}
		})
	}
}

// Agents read each other's settings, and so run each other's hooks. What an
// agent runs is its own event, and counts if the payload proves that.
func TestForeignHook(t *testing.T) {
	cursor := `{"conversation_id":"c1","session_id":"c1","workspace_roots":["/w"],"cursor_version":"2026.09.10","hook_event_name":"sessionStart","model":"composer-2"}`
	tests := []struct{ name, owner, args, payload, want string }{
		{"hook of claude in codex", "codex", "", started, ""},
		{"hook of claude in codex, named", "codex", "session-start --agent claude", started, ""},
		{"hook of codex in claude", "claude", "--agent codex", started, ""},
		{"hook of claude in copilot", "copilot", "", started, ""},
		{"hook of claude in cursor", "cursor-agent", "", cursor, "cursor c1"},
		{"hook of claude in cursor, named", "cursor-agent", "session-start --agent claude", cursor, "cursor c1"},
		{"hook of claude in cursor with a payload of claude", "cursor-agent", "", started, ""},
		{"hook of claude in cursor without proof", "cursor-agent", "session-start", strings.Replace(cursor, "cursor_version", "version", 1), ""},
		{"hook of cursor in cursor without proof", "cursor-agent", "--agent cursor", strings.Replace(cursor, "cursor_version", "version", 1), "cursor c1"},
		{"hook of cursor in claude", "claude", "--agent cursor", cursor, ""},
		{"payload of cursor in claude", "claude", "", cursor, "claude c1"}, // a key more is no proof against it
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := start(t, nil, nil, process(t, tt.owner))
			state := t.TempDir()
			args := tt.args
			if tt.owner == "claude" && tt.args == "" {
				args = "session-start"
			}
			a.hook(state, args, tt.payload)
			got := ""
			if r := record(t, state); r != nil {
				got = r.Harness + " " + r.Session
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// orphan is a process without an ancestor that is an agent.
func orphan(t *testing.T) *agent {
	child := process(t, "worker")
	child.Orphan = true
	return start(t, nil, nil, process(t, "launcher"), child)
}

// A session whose process was not found gets it from the first event that
// finds one.
func TestUnresolvedContinues(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	lost := orphan(t)
	lost.hook(state, "", payload("s1", "PreToolUse", `,"tool_name":"Bash"`))
	if r := record(t, state); r != nil {
		t.Fatalf("a tool event made a record without a process: %+v", r)
	}
	lost.hook(state, "", started)
	r := want(t, state, "s1", fsstore.Started)
	if r.Instance != fsstore.Unresolved || r.PID != "" || r.ProcessStart != "" || r.Focus.Kind != fsstore.FocusUnavailable {
		t.Errorf("got %+v", r)
	}
	lost.hook(state, "", payload("s1", "UserPromptSubmit", ""))
	want(t, state, "s1", fsstore.Running)
	begun := r.Started

	found := claude(t, nil)
	found.hook(state, "", payload("s1", "Stop", ""))
	r = want(t, state, "s1", fsstore.Idle) // the only record
	if r.PID != strconv.Itoa(found.self.PID) || r.Started != begun || r.Arrival != 3 || len(r.Recent) != 3 {
		t.Errorf("got pid %s, started %d, arrival_sequence %d, recent %v", r.PID, r.Started, r.Arrival, r.Recent)
	}
	files, _ := filepath.Glob(filepath.Join(state, "sessions", "fleet-v1-*.json"))
	if len(files) != 1 {
		t.Errorf("got %v", files)
	}
	// What belongs to no process does not end what belongs to one.
	lost.hook(state, "", payload("s1", "SessionEnd", `,"reason":"other"`))
	want(t, state, "s1", fsstore.Idle)
}

// In the proc file system of another pid namespace our pids name strangers: the
// hook finds its arguments, and no owner.
func TestForeignProc(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	a := claude(t, nil)
	quiet(t, a.run(hookCall(state, "", started).inShell(`exec unshare -Urpf "$@"`)))
	if r := want(t, state, "s1", fsstore.Started); r.Identity != fsstore.Unresolved {
		t.Errorf("owner %s in a foreign proc file system", r.Instance)
	}
}

// The end of a session in one process says nothing of it in another one: the
// former process of a session that was resumed may end late.
func TestEndFromAnotherProcess(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	old, resumed := claude(t, nil), claude(t, nil)
	resumed.hook(state, "", payload("s1", "SessionStart", `,"source":"resume"`))
	old.hook(state, "", payload("s1", "SessionEnd", `,"reason":"other"`))
	want(t, state, "s1", fsstore.Started)
	old.hook(state, "", payload("s1", "Stop", ""))
	r := want(t, state, "s1", fsstore.Started)
	if r.Arrival != 1 || r.PID != strconv.Itoa(resumed.self.PID) {
		t.Errorf("got pid %s, arrival_sequence %d", r.PID, r.Arrival)
	}
	resumed.hook(state, "", payload("s1", "SessionEnd", `,"reason":"other"`))
	want(t, state, "s1", fsstore.Ended)
}

// A session that is open in two processes is two records.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	a, b := claude(t, nil), claude(t, nil)
	a.hook(state, "", started)
	b.hook(state, "", started)
	if all := records(t, state); len(all) != 2 || all[0].Instance == all[1].Instance {
		t.Errorf("got %s", show(all))
	}
}

// /clear ends the session and starts another one in the same process.
func TestClear(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	a := claude(t, nil)
	a.hook(state, "", started)
	a.hook(state, "", payload("s1", "SessionEnd", `,"reason":"clear"`))
	a.hook(state, "", payload("s2", "SessionStart", `,"source":"clear"`))
	a.hook(state, "", payload("s1", "Stop", "")) // a straggler
	status := make(map[string]*fsstore.Record)
	for _, r := range records(t, state) {
		status[r.Session] = r
	}
	if s1, s2 := status["s1"], status["s2"]; len(status) != 2 || s1.Status != fsstore.Ended || s1.EndReason != "clear" ||
		s2.Status != fsstore.Started || s1.PID != s2.PID {
		t.Errorf("got %s", show(records(t, state)))
	}
}

// Whatever an agent puts into the environment of its hooks, only what leads to
// the terminal is stored.
func TestEnvironmentIsNotStored(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	pts, _ := openTerminal(t)
	a := start(t, pts, nil, process(t, "claude"))
	a.hook(state, "", started, "TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%3", "KITTY_WINDOW_ID=7", "KITTY_LISTEN_ON=unix:/x",
		"KONSOLE_DBUS_SERVICE=:1.2", "GHOSTTY_BIN_DIR=/g", "DISPLAY=:0", "SSH_TTY=/dev/pts/9", "WINDOWID=99",
		"ANTHROPIC_API_KEY=secret", "CLAUDE_CODE_MESSAGING_TOKEN=secret", "PATH=/secret", "HOME=/secret", "KITTY_PUBLIC_KEY=secret")
	r := want(t, state, "s1", fsstore.Started)
	if text := string(r.AppendJSON(nil)); strings.Contains(text, "secret") {
		t.Errorf("got %s", text)
	}
	names := make([]string, 0, len(r.TerminalEnv))
	for _, v := range r.TerminalEnv {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != "TMUX TMUX_PANE KITTY_WINDOW_ID KITTY_LISTEN_ON KONSOLE_DBUS_SERVICE GHOSTTY_BIN_DIR DISPLAY SSH_TTY WINDOWID" {
		t.Errorf("got %s", got)
	}
	if len(r.Focus.Env) != len(r.TerminalEnv) || r.Focus.Terminal != "tmux" {
		t.Errorf("focus: got %+v", r.Focus)
	}
}

// A server that a launched client happened to start is not of that launch, nor
// are the sessions of other clients; one that was launched itself is.
func TestLaunchOfServer(t *testing.T) {
	t.Parallel()
	const id = "0123456789abcdef0123456789abcdef"
	a := start(t, nil, nil, process(t, "codex"), process(t, "codex", "app-server"))
	client, err := proc.Root.Process(a.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for launched, want := range map[*proc.Process]string{client: "", a.self: id} {
		state := t.TempDir()
		writeLaunch(t, state, id, launched.PID, launched.Start)
		a.hook(state, "--agent codex", started, fsstore.EnvLaunchID+"="+id)
		r := record(t, state)
		if r == nil || r.Mode != fsstore.Daemon || r.LookupEnv(fsstore.EnvLaunchID) != want {
			t.Errorf("launched %d: got %+v, want launch %q", launched.PID, r, want)
		}
	}
}

func writeLaunch(t *testing.T, state, id string, pid int, start string) {
	t.Helper()
	dir := filepath.Join(state, "launches")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"profile":"work","argv":["claude"],"pid":"%d","process_start":"%s","boot_id":"%s"}`, pid, start, proc.Root.Host().BootID)
	if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The launch that a session descends from is kept with it, if it does.
func TestLaunch(t *testing.T) {
	t.Parallel()
	const id, other = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	a := start(t, nil, nil, process(t, "launched"), process(t, "claude"))
	launched, err := proc.Root.Process(a.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	write := func(state, id string, pid int, start string) { writeLaunch(t, state, id, pid, start) }
	tests := []struct {
		name    string
		prepare func(state string)
		id      string
		want    string
	}{
		{"an ancestor", func(state string) { write(state, id, launched.PID, launched.Start) }, id, id + " work"},
		{"the agent itself", func(state string) { write(state, id, a.self.PID, a.self.Start) }, id, id + " work"},
		{"the pid of another process", func(state string) { write(state, id, launched.PID, launched.Start+"0") }, id, ""},
		{"no ancestor", func(state string) { write(state, id, os.Getpid()<<8+1, "1") }, id, ""},
		{"not recorded", func(string) {}, id, ""},
		{"another one recorded", func(state string) { write(state, other, launched.PID, launched.Start) }, id, ""},
		{"no id", func(state string) { write(state, id, launched.PID, launched.Start) }, "../" + id, ""},
		{"in upper case", func(state string) { write(state, strings.ToUpper(id), launched.PID, launched.Start) }, strings.ToUpper(id), ""},
		{"too short", func(state string) { write(state, id[1:], launched.PID, launched.Start) }, id[1:], ""},
		{"a link", func(state string) {
			write(state, other, launched.PID, launched.Start)
			os.Symlink(other+".json", filepath.Join(state, "launches", id+".json"))
		}, id, ""},
	}
	for _, tt := range tests {
		state := t.TempDir()
		tt.prepare(state)
		a.hook(state, "", started, fsstore.EnvLaunchID+"="+tt.id, fsstore.EnvProfileID+"=inherited")
		r := want(t, state, "s1", fsstore.Started)
		if got := strings.TrimSpace(r.LookupEnv(fsstore.EnvLaunchID) + " " + r.LookupEnv(fsstore.EnvProfileID)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
