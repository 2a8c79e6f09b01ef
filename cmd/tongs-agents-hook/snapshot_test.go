package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

// plugin is OpenCode with a plugin that sends snapshots.
func plugin(t testing.TB, terminal *os.File, args ...string) *agent {
	return start(t, terminal, nil, process(t, append([]string{"opencode"}, args...)...))
}

// snapshot is one of the agent's process, with what more it says.
func (a *agent) snapshot(more string) string {
	return fmt.Sprintf(`{"id":"%d",%s,"cwd":"/home/dana/src/ledger-api"}`, a.self.PID, more)
}

// statuses are the records of a store in short, by their sessions.
func statuses(t testing.TB, state string) map[string]fsstore.Status {
	t.Helper()
	found := make(map[string]fsstore.Status)
	for _, r := range records(t, state) {
		found[r.Session] = r.Status
	}
	return found
}

func wantStatuses(t testing.TB, state, want string) {
	t.Helper()
	if got := fmt.Sprint(statuses(t, state)); got != "map["+want+"]" {
		t.Errorf("got %s, want %s", got, want)
	}
}

const shoot = "snapshot --agent opencode"

func TestSnapshot(t *testing.T) {
	t.Parallel()
	terminal, name := openTerminal(t)
	a := plugin(t, terminal)
	state := t.TempDir()
	a.hook(state, shoot, a.snapshot(`"status":{"s1":"busy","s2":"idle"},"titles":{"s1":"One"}`), "TMUX_PANE=%7", "TMUX=/tmp/tmux-0/default,1,0")
	wantStatuses(t, state, "s1:running s2:idle")
	for _, r := range records(t, state) {
		if r.Instance != fmt.Sprintf("%d:%s", a.self.PID, a.self.Start) || r.Mode != fsstore.Interactive || r.TTY != name ||
			r.Terminal != "tmux" || r.Focus.Kind != fsstore.FocusTerminal || r.LookupEnv("TMUX_PANE") != "%7" || r.Source != "plugin" {
			t.Errorf("got %+v", r)
		}
	}
	a.hook(state, shoot, a.snapshot(`"status":{"s2":"idle"},"blocking":["s2"]`))
	wantStatuses(t, state, "s1:ended s2:waiting")
	a.hook(state, shoot, a.snapshot(`"status":{}`))
	wantStatuses(t, state, "s1:ended s2:ended")
}

// The plugin's process is what counts, not who runs the hook for it.
func TestSnapshotOfServer(t *testing.T) {
	t.Parallel()
	server, other := plugin(t, nil, "serve", "--port", "0"), claude(t, nil)
	state := t.TempDir()
	other.hook(state, "--agent=opencode snapshot", server.snapshot(`"status":{"s1":"busy"}`), "TMUX=/tmp/tmux-0/default,1,0")
	if r := want(t, state, "s1", fsstore.Running); r.PID != fmt.Sprint(server.self.PID) || r.Mode != fsstore.Daemon || r.Terminal != "" {
		t.Errorf("got %+v", r)
	}
}

func TestSnapshotDebug(t *testing.T) {
	t.Parallel()
	a := plugin(t, nil)
	state := t.TempDir()
	for _, tt := range []struct{ args, payload, want string }{
		{shoot, a.snapshot(`"status":{"s1":"busy"}`), "opencode.snapshot"},
		{shoot, a.snapshot(`"status":{"s1":"busy"}`), "nothing changes"},
		{shoot, a.snapshot(`"status":{"s1":"running"}`), "snapshot: status "},
		{shoot, a.snapshot(`"status":{},"titles":[]`), "snapshot: titles "},
		{shoot, `{"id":"4194305","status":{}}`, "snapshot: id "},
		{"snapshot", a.snapshot(`"status":{}`), "without --agent"},
		{"snapshot --agent emacs", a.snapshot(`"status":{}`), "emacs"},
	} {
		if got := debug(a, hookCall(state, tt.args, tt.payload)); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: got %q, want %q", tt.args, tt.payload, got, tt.want)
		}
	}
	wantStatuses(t, state, "s1:running")
	other := t.TempDir()
	a.hook(other, "snapshot --agent pi", a.snapshot(`"status":{"s1":"idle"}`))
	if r := want(t, other, "s1", fsstore.Idle); r.Harness != "pi" || r.LastEvent != "pi.snapshot" {
		t.Errorf("of another harness: got %+v", r)
	}
}

// A hook that is killed at any moment loses no end: the next snapshot makes it
// good.
func TestSnapshotKilled(t *testing.T) {
	t.Parallel()
	const kills = 150
	a := plugin(t, nil)
	state := t.TempDir()
	for i := range kills {
		status := make(map[string]string)
		for range rand.IntN(4) {
			status[fmt.Sprintf("s%d", rand.IntN(8)+i/20)] = []string{"idle", "busy"}[rand.IntN(2)]
		}
		text, _ := json.Marshal(status)
		cmd := exec.Command(hookPath(), strings.Fields(shoot)...)
		cmd.Env = []string{"TONGS_AGENTS_STATE_DIR=" + state}
		cmd.Stdin = strings.NewReader(a.snapshot(`"status":` + string(text)))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(15 * time.Millisecond))
		cmd.Process.Kill()
		cmd.Wait()
	}
	for _, name := range temps(state) { // which the maintainer removes
		os.Remove(name)
	}
	a.hook(state, shoot, a.snapshot(`"status":{"last":"busy"}`))
	got := statuses(t, state)
	for session, status := range got {
		if want := fsstore.Ended; session != "last" && status != want {
			t.Errorf("%s: got %s, want %s", session, status, want)
		}
	}
	if got["last"] != fsstore.Running {
		t.Errorf("got %v", got)
	}
}

// On a full file system nothing is forgotten: with room again the next snapshot
// makes it good.
func TestSnapshotOnFullFileSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, sub := range []string{"mnt", "full", "after"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mounted(t, `
		shoot() { printf '{"id":"%s","status":%s}' $$ "$1" | "$HOOK" snapshot --agent opencode; }
		mount -t tmpfs -o size=64k,mode=700 tmpfs "$1/mnt"
		shoot '{"s1":"busy","s2":"busy"}'
		dd if=/dev/zero of="$1/mnt/fill" 2>/dev/null || :
		shoot '{"s2":"idle","s3":"busy"}'
		cp -a "$1/mnt/state" "$1/full/"
		rm "$1/mnt/fill"
		shoot '{"s2":"idle"}'
		cp -a "$1/mnt/state" "$1/after/"
	`, dir)
	wantStatuses(t, filepath.Join(dir, "full/state"), "s1:running s2:running")
	wantStatuses(t, filepath.Join(dir, "after/state"), "s1:ended s2:idle")
}

func temps(state string) []string {
	names, _ := filepath.Glob(filepath.Join(state, "sessions", ".fleet-tmp-*"))
	return names
}

// What a snapshot touches does not depend on what else is in the store: it
// neither lists the directory nor opens a file of another session.
func TestSnapshotTouchesItsOwn(t *testing.T) {
	t.Parallel()
	a := plugin(t, nil)
	state := t.TempDir()
	a.hook(state, shoot, a.snapshot(`"status":{"s1":"busy","s2":"idle","s3":"idle"}`))
	dir := filepath.Join(state, "sessions")
	own := make(map[string]bool)
	for _, name := range list(t, dir) {
		own[name] = true
	}
	claude(t, nil).hook(state, "", started) // of another session

	touched := watch(t, dir)
	a.hook(state, shoot, a.snapshot(`"status":{"s1":"busy","s2":"busy"}`))
	names := touched()
	for _, name := range names {
		if !own[name] && !strings.HasPrefix(name, ".fleet-tmp-") {
			t.Errorf("touched %q", name)
		}
	}
	if len(names) == 0 {
		t.Error("nothing was touched")
	}
	a.hook(state, shoot, a.snapshot(`"status":{"s1":"busy","s2":"busy"}`)) // unchanged
	for _, name := range touched() {
		if strings.HasSuffix(name, ".lock") && !strings.Contains(name, "instance") {
			t.Errorf("unchanged, but touched %q", name)
		}
	}
	list(t, dir)
	if names := touched(); len(names) != 1 || names[0] != "(the directory)" {
		t.Errorf("a listing shows as %q", names)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// watch returns a function that tells which files of a directory were opened or
// made since it was called last, and whether the directory was read.
func watch(t *testing.T, dir string) func() []string {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_CREATE|unix.IN_ACCESS|unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	return func() []string {
		seen := make(map[string]bool)
		buf := make([]byte, 64<<10)
		for {
			n, err := unix.Read(fd, buf)
			if err != nil {
				break
			}
			for off := 0; off < n; {
				event := (*unix.InotifyEvent)(unsafe.Pointer(&buf[off]))
				name := unix.ByteSliceToString(buf[off+unix.SizeofInotifyEvent:][:event.Len])
				switch {
				case name != "":
					seen[name] = true
				case event.Mask&unix.IN_ACCESS != 0:
					seen["(the directory)"] = true
				}
				off += unix.SizeofInotifyEvent + int(event.Len)
			}
		}
		var names []string
		for name := range seen {
			names = append(names, name)
		}
		return names
	}
}
