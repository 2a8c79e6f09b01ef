package fsstore

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// now is the time of test records: one, so that two of them are equal.
var now = time.Now().Unix()

// patience is how long something may take that must come: slowness fails no
// test.
const patience = time.Minute

// The test binary is its own second process: with this variable set it plays
// the role of that name, with its arguments, and runs no test.
const roleEnv = "FSSTORE_TEST_ROLE"

var roles = map[string]func(args []string) error{
	"count": count,
	"crash": crash,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// self is a command that plays a role.
func self(role string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	// Else the race detector waits for a second at the end.
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// isolated runs the test anew in a process with a mount namespace of its own,
// in which it may mount: it is root there. It reports whether this already is
// that process; if not, the test is done.
func isolated(t *testing.T) bool {
	t.Helper()
	const env = "FSSTORE_TEST_ISOLATED"
	if os.Getenv(env) == t.Name() {
		// What is mounted here stays here.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	run := func(attr *syscall.SysProcAttr) ([]byte, error) {
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), env+"="+t.Name(), "GORACE=atexit_sleep_ms=0")
		cmd.SysProcAttr = attr
		return cmd.CombinedOutput()
	}
	out, err := run(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS})
	if errors.Is(err, fs.ErrPermission) {
		out, err = run(&syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		})
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name()+" ")) {
		t.Errorf("in a mount namespace of its own (which needs root or user namespaces): %v\n%s", err, out)
	}
	return false
}

// makeForeign gives a file or directory to another user. As root of a user
// namespace, which has no other user, it puts one of the machine's in its
// place. The test is isolated.
func makeForeign(t *testing.T, path string) {
	t.Helper()
	if os.Lchown(path, 65534, 65534) == nil {
		return
	}
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	foreign := ""
	for _, candidate := range []string{"/etc/passwd", "/etc/fstab", "/usr/bin/env", "/etc", "/usr"} {
		if c, err := os.Lstat(candidate); err == nil && c.Mode().Type() == st.Mode().Type() && uid(c) != os.Geteuid() {
			foreign = candidate
			break
		}
	}
	if foreign == "" {
		t.Fatalf("nothing of another user to put in the place of %s: run the test as root", path)
	}
	if err := syscall.Mount(foreign, path, "", syscall.MS_BIND, ""); err != nil {
		t.Fatalf("bind %s to %s: %v", foreign, path, err)
	}
	t.Cleanup(func() { syscall.Unmount(path, syscall.MNT_DETACH) })
}

func uid(st fs.FileInfo) int { return int(st.Sys().(*syscall.Stat_t).Uid) }

// openStore opens a store for writing in a directory of its own.
func openStore(t testing.TB) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	return reopen(t, path, Create), path
}

func reopen(t testing.TB, path string, access Access) *Store {
	t.Helper()
	s, err := Open(path, access)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// simple is a valid record with little in it.
func simple(session string) *Record {
	return &Record{
		Key:  Key{"claude", session, "4242:81868"},
		Kind: KindSession, Identity: Identified, PID: "4242", ProcessStart: "81868",
		Status: Running, TS: now, Started: now, Arrival: 1,
		Repo: "repo", Cwd: "/home/user/repo", Source: "hook", LastEvent: "claude.prompt-submit",
		Focus: Focus{Kind: FocusUnavailable},
	}
}

// unresolved is simple for a process that was not found.
func unresolvedRecord(session string) *Record {
	r := simple(session)
	r.Instance, r.Identity, r.PID, r.ProcessStart = Unresolved, Unresolved, "", ""
	return r
}

// complete is a valid record that has every key, and no value of another key.
func complete() *Record {
	env := []Var{{"TERM_PROGRAM", "ghostty"}, {EnvLaunchID, strings.Repeat("0a", 16)}, {EnvProfileID, "work"}}
	return &Record{
		Key:  Key{"codex", "session-of-codex", "947:85992"},
		Kind: KindSession,
		Repo: "répo", Cwd: "/home/user/\"quoted\"\\/répo", PID: "947", ProcessStart: "85992", Identity: Identified,
		Status: Waiting, Detail: "line\u2028separator, \u202eoverride, \x1b[31m, <b>&amp;, 😀\t\r\n", Tool: "Bash",
		TS: 1700000001, Started: 1600000002, Sequence: 1<<63 - 1, HasSequence: true, Arrival: 7,
		Source: "hook", LastEvent: "codex.permission-request", Terminal: "ghostty", TerminalEnv: env,
		Focus:  Focus{Kind: FocusTerminal, Terminal: "kitty", Env: env[:1], DesktopTarget: "window 5"},
		BootID: "4d1ca1ef-0d7b-4c3a-9a0c-5b0a7d1d6f10", PIDNamespace: "4026531836", MachineID: strings.Repeat("f0", 32),
		Title: "fix the tests", TranscriptPath: "/home/user/.codex/sessions/rollout.jsonl", Model: "gpt-5",
		Resume: []string{"codex", "resume", "session-of-codex", ""}, Mode: Interactive, TTY: "pts/7",
		Boottime: 123456789012, WaitingFor: &Wait{"agent-1", "Bash"}, Subagents: 2, BackgroundTasks: 3,
		Recent:    []Recent{{"prompt-submit", Running, 1700000000}, {"permission-request", Waiting, 1700000001}},
		EndReason: "other", RemovedAt: 1700000009,
		Unknown: []Member{{"x", []byte(`{"b":[1,2.50e+1,null],"a":"\ud83d\ude00","b":{}}`)}, {"", []byte("true")}, {"é\"\n", []byte("null")}},
	}
}

// put writes a record as it is, whatever the rules of an update are.
func put(t testing.TB, path string, r *Record) string {
	t.Helper()
	return putText(t, path, r.Key, string(r.AppendJSON(nil)))
}

// putText writes text in the place of a record.
func putText(t testing.TB, path string, key Key, text string) string {
	t.Helper()
	file := recordPath(path, key)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func recordPath(path string, key Key) string {
	return filepath.Join(path, "sessions", recordFile(key.digest()))
}

// get returns the stored record of a key, nil if there is none.
func get(t testing.TB, s *Store, key Key) *Record {
	t.Helper()
	r, err := s.readRecord(recordFile(key.digest()), nil, newDecoder(1), new(unix.Stat_t))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// update makes one update that must succeed.
func update(t testing.TB, s *Store, key Key, change func(*Record) (*Record, error)) *Record {
	t.Helper()
	r, err := s.Update(key, Rules{Create: true, Wait: patience}, change)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// to returns a change to a given record.
func to(r *Record) func(*Record) (*Record, error) {
	return func(*Record) (*Record, error) { return r, nil }
}

// names lists a directory below the state directory.
func names(t testing.TB, path ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return names
}

// checkNoTemp checks that no temporary file is left.
func checkNoTemp(t testing.TB, path string) {
	t.Helper()
	for _, name := range names(t, path, "sessions") {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
}

func equalRecords(t testing.TB, what string, got, want *Record) {
	t.Helper()
	if got == nil || want == nil {
		if got != want {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
		return
	}
	g, w := reflect.ValueOf(*got), reflect.ValueOf(*want)
	for i := range g.NumField() {
		if got, want := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s: got %+v, want %+v", what, g.Type().Field(i).Name, got, want)
		}
	}
}

// within fails the test if do blocks.
func within(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s blocks", what)
	}
}

func writeText(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func checkText(t testing.TB, file, want string) {
	t.Helper()
	if got, err := os.ReadFile(file); string(got) != want || err != nil {
		t.Errorf("%s: got %.200q, %v, want %.200q", filepath.Base(file), got, err, want)
	}
}

func removeRecord(path string, key Key) error { return os.Remove(recordPath(path, key)) }
