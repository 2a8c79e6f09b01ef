package desktop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

// A session is in front while its pane is the active one of a terminal that
// has the focus, and says so.
func TestInFront(t *testing.T) {
	dir, err := os.MkdirTemp("", "tmux-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	tmux := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v (install tmux)\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	pane := tmux("new-session", "-d", "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}", "sleep 1000")
	t.Cleanup(func() { exec.Command("tmux", "-S", socket, "kill-server").Run() })
	in := func(pane string) *fsstore.Annotated {
		return row("a", fsstore.Waiting, func(r *fsstore.Annotated) {
			r.TerminalEnv = []fsstore.Var{{Name: "TMUX", Value: socket + ",1,0"}, {Name: "TMUX_PANE", Value: pane}}
		})
	}
	want := func(what string, r *fsstore.Annotated, want bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); inFront(t.Context(), r) != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: in front is %v", what, !want)
			}
		}
	}
	want("detached", in(pane), false)

	screen := terminal(t, "tmux", "-S", socket, "attach")
	for tmux("list-clients") == "" {
		time.Sleep(20 * time.Millisecond)
	}
	want("whether it has the focus is not known", in(pane), false)
	tmux("set-option", "-g", "focus-events", "on")
	send := func(s string) {
		t.Helper()
		if _, err := screen.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	send("\x1b[I")
	want("focused", in(pane), true)
	want("another pane", in("%77"), false)
	want("no tmux", row("a", fsstore.Waiting), false)
	send("\x1b[O")
	want("another window has the focus", in(pane), false)
	send("\x1b[I")
	want("focused again", in(pane), true)
	other := tmux("new-window", "-P", "-F", "#{pane_id}", "sleep 1000")
	want("another tmux window", in(pane), false)
	want("the new window", in(other), true)
}

// terminal runs a command on a terminal of its own, and returns its other end.
func terminal(t *testing.T, name string, args ...string) *os.File {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "TMUX=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	go func() { // until the last one who has it open is gone
		for buf := make([]byte, 4096); ; {
			if _, err := screen.Read(buf); err != nil {
				return
			}
		}
	}()
	return screen
}
