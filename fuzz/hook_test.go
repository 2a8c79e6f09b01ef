package fuzz

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/hook"
	"tongs-agents/linux"
)

// FuzzHook gives the hook any payload as any event of any agent, after a
// session began that the payload may be about. Whatever it makes of it, it does
// not panic, and what is in the store is records.
func FuzzHook(f *testing.F) {
	samples, err := filepath.Glob("../internal/hook/testdata/payloads/*/*.json")
	if err != nil || len(samples) == 0 {
		f.Fatal(samples, err)
	}
	for _, sample := range samples {
		text, err := os.ReadFile(sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "", filepath.Base(filepath.Dir(sample)))
	}
	for e := harness.SessionStart; e <= harness.SessionEnd; e++ {
		f.Add([]byte(`{"session_id":"s1","cwd":"/w","agent_id":"a1","agent_type":"Explore","tool_name":"Bash","message":"\ud83d\u0000x",`+
			`"notification_type":"permission_prompt","background_tasks":[{"status":"running"}],"trigger":"manual"}`), e.String(), "claude")
	}
	f.Add([]byte(`{"schema_version":1,"event_id":"pi.turn-start","session_id":"s1","instance_id":"e1","sequence":7,"pid":1,"cwd":"/w",`+
		`"status":"waiting","detail":"d","tool":"bash","title":"t","ts":7}`), "fleet-event", "pi")
	f.Add([]byte(`{"schema_version":1,"event_id":"pi.\u0001\u0002\"\\","session_id":"s1","instance_id":"e1","sequence":0,"pid":"1","cwd":"",`+
		`"status":"ended"}`), "fleet-event", "pi")
	f.Add([]byte(`{"id":"1","status":{"s1":"idle"},"blocking":["s1"],"cwd":"/w"}`), "snapshot", "opencode")

	state := f.TempDir()
	f.Setenv("TONGS_AGENTS_STATE_DIR", state)
	for _, name := range []string{"TONGS_AGENTS_DISABLE", "TONGS_AGENTS_PRIVATE", fsstore.EnvLaunchID} {
		f.Setenv(name, "")
	}
	f.Fuzz(func(t *testing.T, payload []byte, alias, agent string) {
		if err := os.RemoveAll(filepath.Join(state, "sessions")); err != nil {
			t.Fatal(err)
		}
		run(t, []byte(`{"session_id":"s1","sessionId":"s1","conversation_id":"s1","cwd":"/w"}`), 1, "session-start", "--agent", agent)
		for boottime := int64(2); boottime < 4; boottime++ {
			run(t, payload, boottime, alias, "--agent", agent)
			check(t, state)
		}
		run(t, payload, 1, "--agent="+agent, alias) // late
		check(t, state)
		closeBelow(t, state)
	})
}

// closeBelow closes the directories that the hook leaves to the end of its
// process.
func closeBelow(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		fd, _ := strconv.Atoi(entry.Name())
		if path, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && strings.HasPrefix(path, dir) {
			unix.Close(fd)
		}
	}
}

// run gives a payload to the hook, which says either what it did or why not.
func run(t *testing.T, payload []byte, boottime int64, args ...string) {
	t.Helper()
	if text, err := give(t, payload, boottime, args...); (text == "") != (err != nil) {
		t.Errorf("RunArgs(%q) = %q, %v", args, text, err)
	}
}

// give gives a payload to the hook, as a file.
func give(t *testing.T, payload []byte, boottime int64, args ...string) (string, error) {
	t.Helper()
	fd, err := unix.MemfdCreate("payload", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := linux.FD(fd).WriteAll(payload); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Seek(fd, 0, 0); err != nil {
		t.Fatal(err)
	}
	return hook.RunArgs(args, linux.FD(fd), boottime)
}

func check(t *testing.T, state string) {
	t.Helper()
	s, err := fsstore.Open(state, fsstore.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, bad, err := s.All()
	if err != nil || len(bad) > 0 {
		t.Errorf("unreadable: %v, %v", bad, err)
	}
}
