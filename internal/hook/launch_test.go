package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

const launchID = "0123456789abcdef0123456789abcdef"

// launchHere sets up a launch of this very process.
func launchHere(t *testing.T) *Launch {
	noEnvironment(t)
	t.Setenv(fsstore.EnvLaunchID, launchID)
	return &Launch{ID: launchID, Profile: "work", Argv: []string{"/usr/bin/make", "-j4", "test"}, Cwd: "/src/app"}
}

// files lists the files of the store, without its directories.
func files(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(os.Getenv("TONGS_AGENTS_STATE_DIR"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestLaunchRecord(t *testing.T) {
	l := launchHere(t)
	trace, err := l.Record()
	if err != nil {
		t.Fatal(err)
	}
	self, err := proc.Root.Process(unix.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	store, err := fsstore.Open(os.Getenv("TONGS_AGENTS_STATE_DIR"), fsstore.Read)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	written, err := store.Launch(launchID)
	if err != nil || written.Profile != "work" || !slices.Equal(written.Argv, l.Argv) || written.Cwd != "/src/app" ||
		written.PID != strconv.Itoa(self.PID) || written.ProcessStart != self.Start || written.BootID != thisBoot {
		t.Errorf("got launch %+v, %v", written, err)
	}
	r := stored(t)
	if r.Key != (fsstore.Key{Harness: harness.Other, Session: launchID, Instance: instanceOf(self)}) ||
		r.Status != fsstore.Started || r.Detail != "make -j4 test" || r.Title != r.Detail || r.Repo != "app" ||
		r.LookupEnv(fsstore.EnvLaunchID) != launchID || r.LookupEnv(fsstore.EnvProfileID) != "work" ||
		r.LastEvent != "other.launch" || r.BootID != thisBoot || r.Boottime == 0 {
		t.Errorf("got record %s", r.AppendJSON(nil))
	}
	if err := trace.Undo(); err != nil {
		t.Error(err)
	}
	if got := files(t); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

// A launched harness has a launch and no record.
func TestLaunchHarness(t *testing.T) {
	l := launchHere(t)
	l.Harness = true
	trace, err := l.Record()
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t); len(got) != 1 || filepath.Base(got[0]) != launchID+".json" {
		t.Errorf("got %q, want the launch alone", got)
	}
	if err := trace.Undo(); err != nil || len(files(t)) != 0 {
		t.Errorf("got %v, left behind: %q", err, files(t))
	}
}

// A launch whose record cannot be written is no launch.
func TestLaunchHalf(t *testing.T) {
	l := launchHere(t)
	trace, err := l.Record()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(files(t), func(name string) bool { return strings.Contains(name, "/.fleet-v1-session-") })
	lock := files(t)[i]
	if err := trace.Undo(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Record(); err == nil {
		t.Error("no error, want one of the lock")
	}
	if got := files(t); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

// An id that was used before keeps its launch.
func TestLaunchTwice(t *testing.T) {
	l := launchHere(t)
	l.Harness = true
	if _, err := l.Record(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Record(); err == nil {
		t.Error("no error, want that of the id")
	}
	if got := files(t); len(got) != 1 {
		t.Errorf("got %q, want the first launch", got)
	}
}

func TestLaunchPrivate(t *testing.T) {
	l := launchHere(t)
	t.Setenv("TONGS_AGENTS_PRIVATE", "1")
	l.Argv = []string{"/usr/bin/agent", "secret"}
	if _, err := l.Record(); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t) {
		text, err := os.ReadFile(name)
		if err != nil || strings.Contains(string(text), "secret") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	if r := stored(t); r.Detail != "agent" {
		t.Errorf("got detail %q", r.Detail)
	}
}

func TestLaunchArgv(t *testing.T) {
	noEnvironment(t)
	many := make([]string, 1000)
	for _, test := range []struct {
		name       string
		argv, want []string
	}{
		{"plain", []string{"a", "", "b c"}, []string{"a", "", "b c"}},
		{"bytes", []string{"a\xff\xfeb", "\xff"}, []string{"a\ufffdb", "\ufffd"}},
		{"many", many, many[:fsstore.MaxLaunchArgs]},
		{"long", []string{"a", strings.Repeat("é", 4000), "b"}, []string{"a", strings.Repeat("é", fsstore.MaxLaunchArgv/2-1)}},
		{"full", []string{strings.Repeat("x", fsstore.MaxLaunchArgv), "b"}, []string{strings.Repeat("x", fsstore.MaxLaunchArgv)}},
	} {
		got := launchArgv(test.argv)
		if !slices.Equal(got, test.want) || !utf8.ValidString(strings.Join(got, "")) {
			t.Errorf("%s: got %.100q, want %.100q", test.name, got, test.want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		argv []string
		want string
	}{
		{[]string{"make"}, "make"},
		{[]string{"/usr/bin/make", "-C", "/src/app"}, "make -C /src/app"},
		{[]string{"sh", "-c", "one\n\ttwo"}, "sh -c one two"},
		{[]string{"x", strings.Repeat("é", 200)}, "x " + strings.Repeat("é", 118)},
	} {
		if got := commandLine(test.argv); got != test.want {
			t.Errorf("%q: got %q, want %q", test.argv, got, test.want)
		}
	}
}
