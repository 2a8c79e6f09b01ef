package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

// The terminal is the command's: Ctrl-C reaches it, and a wrapper between them
// would be seen in how it ends.
func TestLaunchTerminal(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	cmd := exec.Command("tongs-agents", "launch", "--", "sh", "-c", "echo ready; exec sleep 100")
	cmd.Env = append(os.Environ(), "TONGS_AGENTS_STATE_DIR="+state, "TMUX=/tmp/tmux-1/default,1,0")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(tty.Name(), "/dev/")
	tty.Close()
	line, err := bufio.NewReader(screen).ReadString('\n')
	if line != "ready\r\n" {
		t.Errorf("got %q, %v, want ready", line, err)
	}
	r := onlyRecord(t, state)
	if r.PID != strconv.Itoa(cmd.Process.Pid) || r.TTY != name || r.Mode != fsstore.Interactive ||
		r.Terminal != "tmux" || r.Focus.Kind != fsstore.FocusTerminal {
		t.Errorf("got %s, want process %d on %s", r.AppendJSON(nil), cmd.Process.Pid, name)
	}
	if _, err := screen.WriteString("\x03"); err != nil {
		t.Error(err)
	}
	cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGINT {
		t.Errorf("ended with %v, want an interrupt", cmd.ProcessState)
	}
}

func onlyRecord(t *testing.T, state string) *fsstore.Record {
	t.Helper()
	store, err := fsstore.Open(state, fsstore.Read)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	records, unreadable, err := store.All()
	if len(records) != 1 || len(unreadable) > 0 || err != nil {
		t.Fatalf("got %d records, %v, %v; want one", len(records), unreadable, err)
	}
	return records[0]
}

func TestLaunchID(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		id := newLaunchID()
		if !fsstore.IsLaunchID(id) || seen[id] {
			t.Errorf("got %q", id)
		}
		seen[id] = true
	}
}
