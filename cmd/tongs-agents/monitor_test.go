package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

// terminal is an emulated terminal on which a program runs.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	pty    *os.File
	screen *vt.SafeEmulator
	before unix.Termios
	exited chan error

	mu      sync.Mutex
	written bytes.Buffer
}

// onTerminal starts a program on a terminal.
func onTerminal(t *testing.T, columns, lines int, env []string, name string, args ...string) *terminal {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	t.Cleanup(func() { p.Close() })
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, pty: p, before: *before, screen: vt.NewSafeEmulator(columns, lines), exited: make(chan error, 1)}
	term.size(columns, lines)
	term.cmd = exec.Command(name, args...)
	term.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=")
	term.cmd.Env = append(term.cmd.Env, env...)
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = tty, tty, tty
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var copying sync.WaitGroup
	copying.Go(func() { io.Copy(term, p) }) // until the program has ended: EIO
	go io.Copy(p, term.screen)              // what the terminal answers
	go func() {
		err := term.cmd.Wait()
		copying.Wait()
		term.exited <- err
	}()
	t.Cleanup(func() { term.cmd.Process.Kill() })
	return term
}

// Write is what the program prints.
func (term *terminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	term.written.Write(p)
	term.mu.Unlock()
	return term.screen.Write(p)
}

func (term *terminal) size(columns, lines int) {
	term.t.Helper()
	if err := pty.Setsize(term.pty, &pty.Winsize{Rows: uint16(lines), Cols: uint16(columns)}); err != nil {
		term.t.Fatal(err)
	}
}

func (term *terminal) keys(s string) {
	term.t.Helper()
	if _, err := io.WriteString(term.pty, s); err != nil {
		term.t.Fatal(err)
	}
}

// text is the screen without colours.
func (term *terminal) text() string { return ansi.Strip(term.screen.Render()) }

// shows waits until the screen shows all of it.
func (term *terminal) shows(want ...string) {
	term.t.Helper()
	term.until(strings.Join(want, ", "), func(screen string) bool {
		for _, w := range want {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	})
}

func (term *terminal) until(what string, is func(screen string) bool) {
	term.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(term.text()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			term.t.Fatalf("the screen does not come to %s:\n%s", what, term.text())
		}
	}
}

// restored waits for the program to end well, and checks that it leaves the
// terminal as it was.
func (term *terminal) restored() {
	term.t.Helper()
	select {
	case err := <-term.exited:
		if err != nil {
			term.t.Errorf("the program ends with %v", err)
		}
	case <-time.After(time.Minute):
		term.t.Fatalf("the program does not end:\n%s", term.text())
	}
	after, err := unix.IoctlGetTermios(int(term.pty.Fd()), unix.TCGETS)
	if err != nil {
		term.t.Fatal(err)
	}
	if *after != term.before {
		term.t.Errorf("the terminal has the modes %+v, want %+v", *after, term.before)
	}
	term.mu.Lock()
	defer term.mu.Unlock()
	written := term.written.String()
	for on, off := range map[string]string{
		ansi.SetModeAltScreenSaveCursor: ansi.ResetModeAltScreenSaveCursor,
		ansi.ResetModeTextCursorEnable:  ansi.SetModeTextCursorEnable,
		ansi.SetModeMouseButtonEvent:    ansi.ResetModeMouseButtonEvent,
		ansi.SetModeBracketedPaste:      ansi.ResetModeBracketedPaste,
	} {
		if i := strings.LastIndex(written, on); i < 0 || strings.LastIndex(written, off) < i {
			term.t.Errorf("%q is not followed by %q", on, off)
		}
	}
}

// viewed is a store that a monitor on a terminal shows.
func viewed(t *testing.T, args ...string) (*terminal, func(session string, values ...string)) {
	state := filepath.Join(t.TempDir(), "state")
	write := func(session string, values ...string) {
		t.Helper()
		r, err := makeRecord("claude", session, values)
		if err != nil {
			t.Fatal(err)
		}
		store, err := fsstore.Open(state, fsstore.Create)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if err := store.SetStamp(proc.Root.Host().BootID); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Import(r, 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	return onTerminal(t, 80, 20, []string{"TONGS_AGENTS_STATE_DIR=" + state}, "tongs-agents", append([]string{"monitor"}, args...)...), write
}

func TestMonitor(t *testing.T) {
	term, write := viewed(t, "--no-maintain")
	term.shows("no store yet")
	write("a", "cwd=/src/ledger", "status=running", "detail=using Bash")
	term.shows("ledger", "using Bash", "none needs you")
	write("b", "cwd=/src/数据管道", "status=waiting", "detail=\x1b]0;pwned\x07permission needed", "title=\u202eright 👩\u200d💻")
	term.shows("1 needs you", "permission needed")
	write("a", "cwd=/src/ledger", "status=waiting", "detail=a question")
	term.shows("2 need you", "a question")

	term.keys("/quest")
	term.until("the one that matches", func(s string) bool { return strings.Contains(s, "a question") && !strings.Contains(s, "permission") })
	term.keys("\r ")
	term.shows("/src/ledger", "started", "1 of 2")

	term.screen.Resize(30, 12)
	term.size(30, 12)
	term.until("30 columns", func(s string) bool {
		first, _, _ := strings.Cut(s, "\n")
		return strings.TrimSpace(first) == "2 need you · 2 sessions"
	})
	for line := range strings.Lines(term.text()) {
		if text.MaxWidth(strings.TrimRight(line, " \n")) > 30 {
			t.Errorf("a line of more than 30 cells: %q", line)
		}
	}
	term.keys("q")
	term.restored()
	if s := term.written.String(); strings.Contains(s, "pwned") || strings.Contains(s, "\u202e") {
		t.Error("what a record says has reached the terminal")
	}
}

// --notify tells of those that come to need the user; without a bus it says so,
// and the view goes on.
func TestMonitorNotify(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	term, write := viewed(t, "--no-maintain", "--notify")
	write("a", "cwd=/src/ledger", "status=waiting")
	term.shows("ledger", "1 needs you")
	write("b", "cwd=/src/api", "status=running")
	term.shows("api", "2 sessions")
	if s := term.text(); strings.Contains(s, "notifications") {
		t.Errorf("what waited at the start is told of:\n%s", s)
	}
	write("b", "cwd=/src/api", "status=waiting")
	term.shows("2 need you", "no desktop notifications")
	term.keys("q")
	term.restored()
}

// The program that is sent away leaves the terminal as it was, too.
func TestMonitorTerminated(t *testing.T) {
	term, write := viewed(t)
	write("a", "cwd=/src/ledger", "status=running")
	term.shows("ledger")
	if err := term.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	term.restored()
}

func TestMonitorDumb(t *testing.T) {
	term := onTerminal(t, 80, 20, []string{"TERM=dumb", "TONGS_AGENTS_STATE_DIR=" + t.TempDir()}, "tongs-agents", "monitor")
	exit := (*exec.ExitError)(nil)
	if err := <-term.exited; !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the program ends with %v, want exit status 1", err)
	}
	for _, want := range []string{"error: the terminal (TERM=dumb) cannot move its cursor", "monitor --once"} {
		if got := term.written.String(); !strings.Contains(got, want) || strings.Contains(got, "\x1b") {
			t.Errorf("on a dumb terminal it prints %q, want %q", got, want)
		}
	}
}

// R runs the command that continues a session on the same terminal, in the
// session's directory, and comes back.
func TestMonitorResume(t *testing.T) {
	term, write := viewed(t, "--no-maintain")
	dir := t.TempDir()
	write("a", "cwd="+dir, "status=ended", `resume=sh|-c|pwd; echo "PWD $PWD"; read answer; exit 3`)
	term.shows("session")
	term.keys("R")
	term.until("the resumed session", func(s string) bool { return strings.Count(s, filepath.Base(dir)) >= 2 && strings.Contains(s, "PWD") })
	term.keys("\r")
	term.shows("the resumed session ended: exit status 3")
	write("a", "cwd="+dir, "status=running", "resume=sh", "source=notify", "pid="+strconv.Itoa(os.Getpid()))
	term.shows("running")
	term.keys("R")
	term.shows("not resumed: it lives in process " + strconv.Itoa(os.Getpid()))
	term.keys("\x03")
	term.restored()
}

// A session in another window of tmux comes to the front, and the view ends.
func TestMonitorFocus(t *testing.T) {
	dir := t.TempDir()
	s := tmux{t, dir}
	env := "env TONGS_AGENTS_STATE_DIR=" + filepath.Join(dir, "state") + " LANG=C.UTF-8 tongs-agents "
	s.run("s", "new-session", "-d", "-x", "80", "-y", "20", env+"launch -- cat")
	t.Cleanup(func() { s.run("s", "kill-server") })
	s.run("s", "new-window", env+"monitor --no-maintain --exit-on-focus; echo $? >status; exec cat")
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not come; the view is\n%s", what, s.run("s", "capture-pane", "-p", "-t", ":1"))
			}
		}
	}
	until("the session", func() bool { return strings.Contains(s.run("s", "capture-pane", "-p", "-t", ":1"), "started") })
	s.run("s", "send-keys", "-t", ":1", "Enter")
	until("the end", func() bool {
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		return err == nil && string(status) == "0\n"
	})
	if got := strings.TrimSpace(s.run("s", "display-message", "-p", "#{window_index}")); got != "0" {
		t.Errorf("window %s is in front, want that of the session", got)
	}
	until("what is missing", func() bool {
		return strings.Contains(s.run("s", "capture-pane", "-p", "-J", "-t", ":1"), "; the session is detached: tmux")
	})
}
