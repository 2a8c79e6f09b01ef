package fsstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func simpleInstance(sessions ...string) *Instance {
	return &Instance{
		Harness: "opencode", ID: "4242:81868", PID: "4242", ProcessStart: "81868",
		BootID: "0b36cb8f-6f2d-4e6b-a12b-32a56778ffba", PIDNamespace: "4026531836", MachineID: strings.Repeat("ab", 32),
		Boottime: 7, Sessions: sessions,
	}
}

// hold takes the lock of an index until the end of the test.
func hold(t *testing.T, s *Store, i *Instance) *HeldInstance {
	t.Helper()
	held, err := s.HoldInstance(i.Harness, i.ID, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Release)
	return held
}

func TestInstance(t *testing.T) {
	s, path := openStore(t)
	want := simpleInstance("ses_1", "a/b", "é\"\\\n\u2028")
	held := hold(t, s, want)
	if held.Stored != nil {
		t.Fatalf("got %+v of an empty store", held.Stored)
	}
	if err := held.Write(want); err != nil {
		t.Fatal(err)
	}
	// IDIGEST is that of the harness and the instance.
	file := ".fleet-v1-instance-" + digest("opencode", "4242:81868") + ".idx"
	if fi, err := os.Stat(filepath.Join(path, "sessions", file)); err != nil || fi.Mode() != 0o600 {
		t.Fatal(fi, err)
	}
	if got := contents(t, s).Instances(); len(got) != 1 || got[0] != file {
		t.Errorf("Instances: got %q", got)
	}
	reader := reopen(t, path, Read)
	if got, err := reader.Instance(file); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Instance: got %+v, %v; want %+v", got, err, want)
	}
	if records, bad, err := reader.All(); len(records) != 0 || len(bad) != 0 || err != nil {
		t.Errorf("All: got %v, %v, %v: an index is no record", records, bad, err)
	}

	if _, err := s.HoldInstance(want.Harness, want.ID, 0); !errors.Is(err, ErrLockTimeout) {
		t.Errorf("of a held lock: got %v", err)
	}
	over := func(i *Instance, written time.Time) bool {
		return reflect.DeepEqual(i, want) && time.Since(written) < patience
	}
	if err := s.RemoveInstance(file, 0, over); !errors.Is(err, ErrLockTimeout) {
		t.Errorf("removed while it is held: got %v", err)
	}
	held.Release()
	held = hold(t, s, want)
	if !reflect.DeepEqual(held.Stored, want) {
		t.Errorf("held: got %+v", held.Stored)
	}
	held.Release()
	if err := s.RemoveInstance(file, 0, func(*Instance, time.Time) bool { return false }); err != nil {
		t.Error(err)
	}
	if _, err := s.Instance(file); err != nil {
		t.Errorf("removed although it is not over: %v", err)
	}
	for range 2 { // the second time there is none
		if err := s.RemoveInstance(file, 0, over); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Instance(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: got %v", err)
	}
	checkNoTemp(t, path)
}

func TestInstanceNewerThan(t *testing.T) {
	i := simpleInstance()
	for _, tt := range []struct {
		boot     string
		boottime int64
		want     bool
	}{
		{i.BootID, 6, true}, {i.BootID, 7, false}, {i.BootID, 8, false}, {i.BootID, 0, false}, {"another", 6, false}, {"", 6, false},
	} {
		if got := i.NewerThan(tt.boot, tt.boottime); got != tt.want {
			t.Errorf("than %d of %q: got %t", tt.boottime, tt.boot, got)
		}
	}
}

func TestInstanceInvalid(t *testing.T) {
	var many []string
	for i := range 200 {
		many = append(many, fmt.Sprintf("%0*d", MaxSession, i))
	}
	tests := []struct {
		key    string
		change func(*Instance)
	}{
		{"harness_id", func(i *Instance) { i.Harness = "emacs" }},
		{"instance_id", func(i *Instance) { i.ID = "" }},
		{"instance_id", func(i *Instance) { i.ID = Unresolved }},
		{"instance_id", func(i *Instance) { i.ID = strings.Repeat("x", MaxInstance+1) }},
		{"pid", func(i *Instance) { i.PID = "x" }},
		{"pid", func(i *Instance) { i.ProcessStart = "-1" }},
		{"boottime_ns", func(i *Instance) { i.Boottime = -1 }},
		{"boot_id", func(i *Instance) { i.BootID = strings.Repeat("x", maxID+1) }},
		{"machine_id", func(i *Instance) { i.MachineID = "a\x00" }},
		{"pid_namespace", func(i *Instance) { i.PIDNamespace = "\xff" }},
		{"sessions", func(i *Instance) { i.Sessions = []string{"a", ""} }},
		{"sessions", func(i *Instance) { i.Sessions = []string{strings.Repeat("s", MaxSession+1)} }},
		{"sessions", func(i *Instance) { i.Sessions = []string{"\xff"} }},
		{"sessions", func(i *Instance) { i.Sessions = many }},
	}
	s, path := openStore(t)
	held := hold(t, s, simpleInstance())
	if err := held.Write(simpleInstance("a")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		i := simpleInstance("a")
		tt.change(i)
		for what, err := range map[string]error{"Validate": i.Validate(), "Write": held.Write(i)} {
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.key) {
				t.Errorf("%s: got %v, want ErrInvalid about %s", what, err, tt.key)
			}
		}
	}
	if got := hold(t, reopen(t, path, Write), &Instance{Harness: "opencode", ID: "another"}); got.Stored != nil {
		t.Errorf("got %+v", got.Stored)
	}
	held.Release()
	if got := hold(t, s, simpleInstance()).Stored; !reflect.DeepEqual(got, simpleInstance("a")) {
		t.Errorf("now %+v", got)
	}
}

// Something else in the place of an index is none, and is replaced by the next
// one unless it is a directory.
func TestInstanceHostile(t *testing.T) {
	i := simpleInstance("a")
	text := string(i.appendJSON(nil))
	tests := map[string]string{
		"empty":             "",
		"no JSON":           "x",
		"half":              text[:len(text)/2],
		"list":              "[]",
		"another instance":  strings.Replace(text, "4242:81868", "4243:81868", 1),
		"sessions of null":  strings.Replace(text, `["a"]`, `[null]`, 1),
		"sessions object":   strings.Replace(text, `["a"]`, `{"a":1}`, 1),
		"sessions with NUL": strings.Replace(text, `["a"]`, `["a\u0000"]`, 1),
		"boottime text":     strings.Replace(text, `:7,`, `:"7",`, 1),
		"too long":          strings.Replace(text, `["a"]`, `["a"]`+strings.Repeat(" ", MaxRecord), 1),
	}
	for name, text := range tests {
		s, path := openStore(t)
		file := filepath.Join(path, "sessions", instanceFile(digest(i.Harness, i.ID)))
		writeText(t, file, text)
		if _, err := s.Instance(filepath.Base(file)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
		held := hold(t, s, i)
		if held.Stored != nil {
			t.Errorf("%s: got %+v", name, held.Stored)
		}
		if err := held.Write(i); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, put := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink("/etc/passwd", path) },
		"FIFO":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		s, path := openStore(t)
		file := filepath.Join(path, "sessions", instanceFile(digest(i.Harness, i.ID)))
		if err := put(file); err != nil {
			t.Fatal(err)
		}
		within(t, name, func() {
			held := hold(t, s, i)
			if held.Stored != nil {
				t.Errorf("%s: got %+v", name, held.Stored)
			}
			err := held.Write(i)
			if fi, statErr := os.Lstat(file); name != "directory" && (err != nil || !fi.Mode().IsRegular()) || name == "directory" && !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s: Write: %v, now %v, %v", name, err, fi, statErr)
			}
		})
		checkNoTemp(t, path)
	}
}

// Unknown keys are passed over: a later program may write more.
func TestInstanceUnknownKey(t *testing.T) {
	s, path := openStore(t)
	i := simpleInstance("a")
	file := instanceFile(digest(i.Harness, i.ID))
	writeText(t, filepath.Join(path, "sessions", file), strings.Replace(string(i.appendJSON(nil)), "{", `{"x":[{}],`, 1))
	if got, err := s.Instance(file); err != nil || !reflect.DeepEqual(got, i) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The lock is where those of the records are.
func TestInstanceOnNetwork(t *testing.T) {
	run := t.TempDir()
	onNetwork(t, unix.NFS_SUPER_MAGIC, run)
	s, path := openStore(t)
	if err := hold(t, s, simpleInstance()).Write(simpleInstance("a")); err != nil {
		t.Fatal(err)
	}
	if here, there := lockFiles(t, path+"/sessions"), lockFiles(t, run+"/tongs-agents"); len(here) != 0 || len(there) != 1 {
		t.Errorf("locks in the store %q, in the run-time directory %q", here, there)
	}
}

func TestGet(t *testing.T) {
	s, path := openStore(t)
	want := simple("s")
	want.TS = time.Now().Unix()
	put(t, path, want)
	got, err := s.Get(want.Key)
	if err != nil {
		t.Fatal(err)
	}
	equalRecords(t, "Get", got, want)
	if _, err := s.Get(simple("other").Key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of none: got %v", err)
	}
	putText(t, path, simple("bad").Key, "x")
	if _, err := s.Get(simple("bad").Key); !errors.Is(err, ErrInvalid) {
		t.Errorf("of something else: got %v", err)
	}
	if locks := lockFiles(t, path+"/sessions"); len(locks) != 0 {
		t.Errorf("locks: %q", locks)
	}
}
