package listing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// resumable gives a record what it needs to be resumed.
func resumable(r *fsstore.Record) { r.Cwd, r.Resume = "/src", []string{"x"} }

func dead(r *fsstore.Record) { in(os.Getpid(), "1")(r) }

// ended ends a record that had the given status before.
func ended(before fsstore.Status, reason string) func(*fsstore.Record) {
	return func(r *fsstore.Record) {
		r.Recent = []fsstore.Recent{{Event: "e", Status: before}, {Event: "session-end", Status: fsstore.Ended}}
		r.Status, r.EndReason, r.Mode = fsstore.Ended, reason, fsstore.Interactive
	}
}

// archived is an entry of the archive.
type archived struct {
	*fsstore.Record
	idleFrom int64 // seconds before now
}

func archive(t *testing.T, dir string, entries ...archived) {
	t.Helper()
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a, err := store.Archive()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, e := range entries {
		if _, err := a.Put(e.Record, now.Unix()-e.idleFrom); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResumable(t *testing.T) {
	alive := in(os.Getpid(), start(t, os.Getpid()))
	other := func(status fsstore.Status, ago int64, change ...func(*fsstore.Record)) *fsstore.Record {
		return record("other", "s", status, ago, change...)
	}
	entry := func(ago int64) []archived { return []archived{{other(fsstore.Running, ago, resumable), 0}} }
	for _, test := range []struct {
		name    string
		entries []archived
		records []*fsstore.Record
		want    string // the cwd of the row
	}{
		{"nothing", nil, nil, ""},
		{"an entry", entry(10), nil, "/src"},
		{"a dead record", nil, []*fsstore.Record{other(fsstore.Running, 10, dead, resumable)}, "/src"},
		{"a live one", nil, []*fsstore.Record{other(fsstore.Running, 10, alive, resumable)}, ""},
		{"an unknown one", nil, []*fsstore.Record{other(fsstore.Running, 10, resumable)}, ""},
		{"an entry that lives", entry(10), []*fsstore.Record{other(fsstore.Idle, 20, alive)}, ""},
		{"one that lives hidden", entry(10), []*fsstore.Record{other(fsstore.Idle, 20, alive, func(r *fsstore.Record) { r.RemovedAt = 1 })}, ""},
		{"newer in the store", entry(10), []*fsstore.Record{other(fsstore.Running, 5, dead, resumable, func(r *fsstore.Record) { r.Cwd = "/new" })}, "/new"},
		{"older in the store", entry(10), []*fsstore.Record{other(fsstore.Running, 20, dead, resumable, func(r *fsstore.Record) { r.Cwd = "/old" })}, "/src"},
		{"ended by the user since", entry(10), []*fsstore.Record{other(fsstore.Ended, 5, alive, resumable)}, ""},
		{"ended in the same second", entry(10), []*fsstore.Record{other(fsstore.Ended, 10, alive, resumable)}, ""},
		{"ended before", entry(10), []*fsstore.Record{other(fsstore.Ended, 20, alive, resumable)}, "/src"},
		{"headless since", entry(10), []*fsstore.Record{other(fsstore.Running, 5, dead, resumable, func(r *fsstore.Record) { r.Mode = fsstore.Headless })}, ""},
		{"legacy, dead", entry(10), []*fsstore.Record{other(fsstore.Running, 20, dead)}, "/src"},
		{"of another session", entry(10), []*fsstore.Record{record("other", "t", fsstore.Running, 1, alive)}, "/src"},
		{"of another harness", entry(10), []*fsstore.Record{record("pi", "s", fsstore.Running, 1)}, "/src"},
		{"ended by a signal", nil, []*fsstore.Record{record("claude", "s", fsstore.Running, 1, resumable, ended(fsstore.Running, "other"))}, "/src"},
		{"ended by the user", nil, []*fsstore.Record{record("claude", "s", fsstore.Running, 1, resumable, ended(fsstore.Running, "exit"))}, ""},
		{"ended with an earlier boot", nil, []*fsstore.Record{record("pi", "s", fsstore.Running, 1, resumable, ended(fsstore.Running, ""), func(r *fsstore.Record) { r.BootID = "b" })}, "/src"},
		{"left for another session", nil, []*fsstore.Record{
			record("claude", "s", fsstore.Running, 2, dead, resumable),
			record("claude", "t", fsstore.Running, 1, dead, resumable, func(r *fsstore.Record) { r.Cwd = "/last" }),
		}, "/last"},
	} {
		dir := makeStore(t, test.records...)
		archive(t, dir, test.entries...)
		before := tree(t, dir)
		l, err := Resumable(dir, now)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []string
		for _, r := range l.Within(0) {
			got = append(got, r.Cwd)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: resumable in %q, want %q", test.name, got, test.want)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("%s: the store was\n%s, and after it was read is\n%s", test.name, before, after)
		}
	}
}

// Time that the machine was off is no time of being idle.
func TestResumableIdle(t *testing.T) {
	dir := makeStore(t,
		record("claude", "stored", fsstore.Idle, 5000, resumable, dead),
		record("claude", "rebooted", fsstore.Idle, 5000, resumable, func(r *fsstore.Record) {
			r.BootID, r.MachineID, r.Identity, r.Instance = "earlier", proc.Root.Host().MachineID, fsstore.Unresolved, fsstore.Unresolved
		}),
	)
	archive(t, dir,
		archived{record("claude", "left", fsstore.Idle, 9000, resumable), 8880},
		archived{record("claude", "ahead", fsstore.Error, 0, resumable), 1},
		archived{record("claude", "waited", fsstore.Waiting, 9000, resumable), 0},
		archived{record("claude", "ended", fsstore.Idle, 9000, resumable, ended(fsstore.Waiting, "other")), 0},
		archived{record("claude", "ended-idle", fsstore.Idle, 9000, resumable, ended(fsstore.Idle, "other")), 8000},
	)
	stamp := "earlier " + now.Add(-4700*time.Second).UTC().Format(time.RFC3339) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "sessions", ".fleet-boots"), []byte(stamp), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Resumable(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		idle time.Duration
		want string
	}{
		{0, "ended waited"},
		{time.Second, "ahead ended waited"},
		{119 * time.Second, "ahead ended waited"},
		{120 * time.Second, "ahead ended left waited"},
		{300 * time.Second, "ahead rebooted ended left waited"},
		{1000 * time.Second, "ahead rebooted ended ended-idle left waited"},
		{5000 * time.Second, "ahead rebooted stored ended ended-idle left waited"},
	} {
		var got []string
		for _, r := range l.Within(test.idle) {
			got = append(got, r.Session)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("idle for %s: %s, want %s", test.idle, got, test.want)
		}
	}
	for _, r := range l.Rows {
		want := map[string]int64{"stored": 0, "rebooted": 4700, "left": 8880, "ahead": 1, "ended-idle": 8000}[r.Session]
		if got := now.Unix() - l.IdleFrom(r); got != want {
			t.Errorf("%s was idle until %d s ago, want %d", r.Session, got, want)
		}
	}
}

func TestResumableMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if l, err := Resumable(dir, now); err != nil || len(l.Rows) != 0 {
		t.Errorf("Resumable of a missing store = %+v, %v", l, err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("a reader has made the directory: %v", err)
	}
	dir = makeStore(t, record("claude", "s", fsstore.Running, 1, resumable, dead)) // without an archive
	if l, err := Resumable(dir, now); err != nil || len(l.Rows) != 1 {
		t.Errorf("Resumable without an archive = %+v, %v", l, err)
	}
}

func TestResumableUnreadable(t *testing.T) {
	dir := makeStore(t, record("claude", "s", fsstore.Running, 1, resumable, dead))
	archive(t, dir, archived{record("claude", "t", fsstore.Running, 1, resumable), 0})
	zeros := strings.Repeat("0", 64) + ".json"
	for _, name := range []string{"sessions/bad.json", "resumable/" + zeros} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Resumable(dir, now)
	if err != nil || len(l.Rows) != 2 || len(l.Unreadable) != 2 {
		t.Fatalf("Resumable = %+v, %v; want two rows and two unreadable files", l, err)
	}
	if a, b := l.Unreadable[0].Name, l.Unreadable[1].Name; a != "resumable/"+zeros || b != "sessions/bad.json" {
		t.Errorf("unreadable %s, %s", a, b)
	}
	if err := os.RemoveAll(filepath.Join(dir, "resumable")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/tmp", filepath.Join(dir, "resumable")); err != nil {
		t.Fatal(err)
	}
	if _, err := Resumable(dir, now); err == nil {
		t.Error("an archive that is a symbolic link is read")
	}
}
