package focus

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestScreen(t *testing.T) {
	need(t, "screen")
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCREENDIR", dir)
	pids := t.TempDir()
	first, second := filepath.Join(pids, "first"), filepath.Join(pids, "second")
	output(t, "screen", "-c", "/dev/null", "-dmS", "test", "sh", "-c", agent(first))
	pid := agentIn(t, first)
	l := ancestry(pid)
	var server int
	for _, p := range l {
		if (screen{}).is(p.Comm) {
			server = p.PID
			break
		}
	}
	if server == 0 {
		t.Fatalf("no screen among %+v", l)
	}
	t.Cleanup(func() { syscall.Kill(server, syscall.SIGKILL) })
	name := strconv.Itoa(server) + ".test"
	output(t, "screen", "-S", name, "-X", "screen", "sh", "-c", agent(second))
	other := agentIn(t, second)

	// The directory of the sockets is that of the server, not ours.
	t.Setenv("SCREENDIR", t.TempDir())
	check(t, session(t, pid), Unavailable, "screen", "window 0 of screen can be selected only as it is attached; the session is detached: screen -r "+name+" -p 0")

	terminal := openTerminal(t)
	orphan(t, terminal, []string{"SCREENDIR=" + dir}, "screen", "-r", name)
	current := func() string {
		out, _ := run(t.Context(), []string{"SCREENDIR=" + dir}, "screen", "-S", name, "-Q", "number")
		n, _, _ := strings.Cut(out, " ")
		return n
	}
	wait(t, "a client", func() bool { return len(screenClients(server)) == 1 })
	for _, test := range []struct {
		pid    int
		window string
	}{{pid, "0"}, {other, "1"}, {pid, "0"}} {
		check(t, session(t, test.pid, env("STY=1.wrong", "WINDOW=9")), Partial, "screen", "selected screen window "+test.window+" of session "+name)
		if got := current(); got != test.window {
			t.Errorf("window %s is current, want %s", got, test.window)
		}
	}

	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	impatient(t)
	check(t, session(t, pid), Failed, "screen", "screen does not answer")
	if err := syscall.Kill(server, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
