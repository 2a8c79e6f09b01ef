package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// tmux runs a tmux server of its own, on the socket of that name in dir.
type tmux struct {
	t   *testing.T
	dir string
}

func (s tmux) run(socket string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(s.dir, socket), "-f", "/dev/null"}, args...)...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// attach shows a session of the inner server in the outer one, as on a terminal.
func (s tmux) attach() {
	s.t.Helper()
	s.run("inner", "new-session", "-d", "-x", "200", "-y", "10", "cat")
	s.t.Cleanup(func() { s.run("inner", "kill-server") })
	s.run("inner", "set", "-g", "status-right-length", "200", ";", "set", "-g", "status-interval", "1")
	s.run("outer", "new-session", "-d", "-x", "200", "-y", "10", "env -u TMUX tmux -S inner attach")
	s.t.Cleanup(func() { s.run("outer", "kill-server") })
}

// shows waits until the status line has a text, with a line of configuration.
func (s tmux) shows(config, want string) {
	s.t.Helper()
	file := filepath.Join(s.dir, "tmux.conf")
	if err := os.WriteFile(file, []byte(config+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.run("inner", "source-file", file)
	line := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		line = strings.TrimSpace(s.run("outer", "capture-pane", "-p"))
		if strings.Contains(line, want) {
			return
		}
	}
	s.t.Fatalf("the status line is\n%s\nwithout\n%s", line, want)
}

// What a session says is text to tmux, and neither a command nor a format nor
// a style. The line of the documentation is the one that is tried.
func TestTmuxStatus(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is not installed: apt-get install tmux")
	}
	docs, err := os.ReadFile("../../docs/status-bars.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile(`(?m)^ +(set -g status-right .*)$`).FindSubmatch(docs)
	if documented == nil {
		t.Fatal("docs/status-bars.md has no line for tmux")
	}
	dir, err := os.MkdirTemp("", "tmux-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	state := filepath.Join(dir, "state")
	t.Setenv("TONGS_AGENTS_STATE_DIR", state)
	t.Setenv("HOME", dir)
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TERM", "xterm")
	t.Setenv("TMUX", "")
	store, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const evil, cutEvil = `#(touch a)#{pid}%H#[fg=red]`, `#(touch a)#{pid}%H#[`
	for _, values := range [][]string{
		{"status=waiting", "cwd=/src/" + cutEvil, "detail=" + evil + " ##(touch b) ###{pid}", "title=" + evil},
		{"status=running"},
	} {
		r, err := makeRecord("claude", values[0], values)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Import(r, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	server := tmux{t, dir}
	server.attach()
	server.shows(string(documented[1]), "1● 1⚠ "+cutEvil)
	server.shows(`set -g status-right "#(tongs-agents status --format '{{range .Attention}}{{.Title | tmux}}|{{.Detail | tmux}}{{end}}.')"`,
		evil+"|"+evil+" #(touch b) ##{pid}.") // tmux draws ## as #
	for _, name := range []string{"a", "b"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("tmux has run touch %s", name)
		}
	}
}
