package hook

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

func TestTerminalName(t *testing.T) {
	tests := []struct{ env, want string }{
		{"", ""},
		{"DISPLAY=:0", ""},
		{"TMUX=/tmp/tmux-1000/default,1,0", "tmux"},
		{"KITTY_WINDOW_ID=1 TMUX=x", "tmux"}, // kitty is where the server was started
		{"TERM_PROGRAM=WezTerm WEZTERM_PANE=3 ZELLIJ_SESSION_NAME=a", "zellij"},
		{"STY=1.pts KITTY_WINDOW_ID=1", "screen"},
		{"TERM_PROGRAM=vscode", "vscode"},
		{"TERM_PROGRAM=iTerm.app", "iterm.app"},
		{"TERM_PROGRAM=ghostty GHOSTTY_RESOURCES_DIR=/g", "ghostty"},
		{"KONSOLE_DBUS_SESSION=/Sessions/1 TERM_PROGRAM=x", "konsole"},
		{"TERM_PROGRAM=" + strings.Repeat("x", 99), strings.Repeat("x", fsstore.MaxTerminal)},
		{"TERM_PROGRAM=" + strings.Repeat("Ⱥ", 32), strings.Repeat("ⱥ", 21)}, // longer in lower case
	}
	for _, tt := range tests {
		var env []fsstore.Var
		for _, pair := range strings.Fields(tt.env) {
			name, value, _ := strings.Cut(pair, "=")
			env = append(env, fsstore.Var{Name: name, Value: value})
		}
		if got := terminalName(env); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.env, got, tt.want)
		}
	}
}

// The environment of a record is what leads to the terminal, and what a record
// can hold.
func TestTerminalEnv(t *testing.T) {
	noEnvironment(t)
	for _, entry := range os.Environ() { // of the terminal that the test runs in
		if name, _, _ := strings.Cut(entry, "="); isTerminalVar(name) {
			t.Setenv(name, "")
		}
	}
	t.Setenv("TMUX_PANE", "%7")
	t.Setenv("WAYLAND_DISPLAY", "wayland-1")
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("TMUXINATOR", "no")
	t.Setenv("KITTY_LISTEN_ON", strings.Repeat("x", fsstore.MaxEnvValue+1))
	t.Setenv("WINDOW", "\xff")
	got := make(map[string]string)
	for _, v := range terminalEnv() {
		got[v.Name] = v.Value
	}
	if len(got) != 2 || got["TMUX_PANE"] != "%7" || got["WAYLAND_DISPLAY"] != "wayland-1" {
		t.Errorf("got %v", got)
	}

	for i := range 2 * fsstore.MaxEnv {
		t.Setenv(fmt.Sprintf("KONSOLE_DBUS_%d", i), "x")
	}
	if got := len(terminalEnv()); got != fsstore.MaxEnv-2 {
		t.Errorf("got %d variables, want %d: two are for the launch", got, fsstore.MaxEnv-2)
	}
}

// A harness that names no directory works in that of its process, which need
// not have a name that a record can hold.
func TestCwdOfProcess(t *testing.T) {
	for _, dir := range []string{"plain", "caf\xe9"} {
		noEnvironment(t)
		cwd := filepath.Join(t.TempDir(), dir)
		if err := os.Mkdir(cwd, 0o700); err != nil {
			t.Fatal(err)
		}
		goose := standInAt(t, harness.ByID("goose"), cwd)
		if _, err := run(t, goose, []string{"--agent", "goose"}, []byte(`{"event":"SessionStart","session_id":"s1"}`)); err != nil {
			t.Errorf("%q: %v", dir, err)
			continue
		}
		want := cwd
		if dir != "plain" {
			want = ""
		}
		if got := stored(t).Cwd; got != want {
			t.Errorf("%q: got cwd %q, want %q", dir, got, want)
		}
	}
}

// standInAt is standIn in a directory.
func standInAt(t *testing.T, h *harness.Harness, dir string) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), h.Process.Names[0])
	if err := os.Symlink(sleep, path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "1000")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process.Pid
}

// The mode is what the harness tells its hooks, else what its process is like.
func TestMode(t *testing.T) {
	tests := []struct{ name, env, want, focus string }{
		{"no terminal", "", fsstore.Headless, fsstore.FocusUnavailable},
		{"an agent program's own", "CLAUDE_CODE_ENTRYPOINT=sdk-py", fsstore.Headless, fsstore.FocusUnavailable},
		{"desktop", "CLAUDE_CODE_ENTRYPOINT=claude-desktop", fsstore.Desktop, fsstore.FocusDesktop},
		{"background", "CLAUDE_JOB_DIR=/home/dana/.claude/jobs/a1", fsstore.Background, fsstore.FocusUnavailable},
		{"no path", "CLAUDE_JOB_DIR=x", fsstore.Headless, fsstore.FocusUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, "claude")
			name, value, _ := strings.Cut(tt.env, "=")
			if name != "" {
				t.Setenv(name, value)
			}
			m.do("session-start")
			if m.r.Mode != tt.want || m.r.Focus.Kind != tt.focus {
				t.Errorf("got %s, focus %s; want %s, %s", m.r.Mode, m.r.Focus.Kind, tt.want, tt.focus)
			}
		})
	}
	// Another harness may have inherited them.
	m := newMachine(t, "codex")
	t.Setenv("CLAUDE_JOB_DIR", "/home/dana/.claude/jobs/a1")
	m.do("session-start")
	if m.r.Mode != fsstore.Headless {
		t.Errorf("codex: got %s", m.r.Mode)
	}
}

// The terminal of a worker in the background is that of whoever started it.
func TestBackgroundHasNoTerminal(t *testing.T) {
	m := newMachine(t, "claude")
	m.owner = proc.FS(t.TempDir()).Of(proc.Stat{PID: noProcess, Comm: "claude", State: 'S', PPID: 1, TTY: 34823, Start: "4242"})
	t.Setenv("TMUX", "/tmp/tmux-0/default,1,0")
	m.do("session-start")
	if r := m.r; r.Terminal != "tmux" || r.TTY != "pts/7" || r.Focus.Kind != fsstore.FocusTerminal || r.Mode != fsstore.Interactive ||
		r.LookupEnv("TMUX") == "" || len(r.Focus.Env) != len(r.TerminalEnv) {
		t.Errorf("got %+v", r)
	}
	t.Setenv("CLAUDE_JOB_DIR", "/j")
	m.r = nil
	m.do("session-start")
	if r := m.r; r.Terminal != "" || r.TTY != "" || r.Focus.Kind != fsstore.FocusUnavailable || len(r.TerminalEnv) != 0 {
		t.Errorf("in the background: got %+v", r)
	}
}
