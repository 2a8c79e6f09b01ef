package maintain

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// TestSweepTemps: temporary files of writers that are gone go once they are
// older than a minute.
func TestSweepTemps(t *testing.T) {
	alive := startAgent(t, t.TempDir(), "worker")
	zombie := startAgent(t, t.TempDir(), "worker")
	zombie.kill()
	for _, tt := range []struct {
		name string
		file string
		age  time.Duration
		hide bool // the proc file system says nothing
		goes bool
	}{
		{name: "dead writer, a minute", file: ".fleet-tmp-999999999-x-1.tmp", age: time.Minute - time.Second},
		{name: "dead writer, over a minute", file: ".fleet-tmp-999999999-x-1.tmp", age: time.Minute + time.Second, goes: true},
		{name: "dead writer, from the future", file: ".fleet-tmp-999999999-x-1.tmp", age: -time.Hour},
		{name: "living writer", file: ".fleet-tmp-" + alive.pid + "-x-1.tmp", age: -2 * time.Second},
		{name: "pid reused since", file: ".fleet-tmp-" + alive.pid + "-x-1.tmp", age: 24 * time.Hour, goes: true},
		{name: "a zombie", file: ".fleet-tmp-" + zombie.pid + "-x-1.tmp", age: -2 * time.Second, goes: true},
		{name: "living writer, unreadable", file: ".fleet-tmp-" + alive.pid + "-x-1.tmp", age: -2 * time.Second, hide: true},
		{name: "no pid, over a minute", file: ".fleet-tmp-abcdef.tmp", age: time.Minute + time.Second, goes: true},
		{name: "no pid, a minute", file: ".fleet-tmp-abcdef.tmp", age: time.Minute - time.Second},
		{name: "no temporary file", file: ".fleet-tmp-999999999-x-1.json", age: time.Hour},
		{name: "nor this", file: ".other-999999999-x-1.tmp", age: time.Hour},
	} {
		for _, dir := range []string{"sessions", "resumable", "launches", "."} {
			if tt.age < 0 && !strings.Contains(tt.name, "future") && dir != "sessions" {
				continue
			}
			w := newWorld(t)
			w.root = proc.Root
			name := filepath.Join(dir, tt.file)
			w.write(name, "half")
			if tt.age == -2*time.Second { // written after the process has started, and now it is much later
				w.setTime(name, -2*time.Second)
				w.now = w.now.Add(time.Hour)
			} else {
				w.setTime(name, tt.age)
			}
			if tt.hide {
				w.root = proc.FS(t.TempDir())
				w.withoutStats("self", alive.pid)
			}
			w.runAs(Options{Forced: true})
			check(t, dir+": "+tt.name, !w.exists(name), tt.goes)
		}
	}
}

// withoutStats makes a proc file system whose processes have an unreadable stat file.
func (w *world) withoutStats(pids ...string) {
	for _, pid := range pids {
		if err := os.MkdirAll(filepath.Join(string(w.root), pid, "stat"), 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestSweepLocks: a lock file goes once its record has been gone for 24 hours.
func TestSweepLocks(t *testing.T) {
	const young, old = 24*time.Hour - time.Second, 24*time.Hour + time.Second
	unknown := strings.Repeat("0", 64)
	for _, tt := range []struct {
		name string
		file func(r *fsstore.Record, digest string) string // with a digest of its own
		age  time.Duration
		held bool
		goes bool
	}{
		{name: "record gone", age: old, goes: true, file: func(*fsstore.Record, string) string { return ".fleet-v1-" + unknown + ".lock" }},
		{name: "record gone, 24 h", age: young, file: func(*fsstore.Record, string) string { return ".fleet-v1-" + unknown + ".lock" }},
		{name: "record gone, held", age: old, held: true, file: func(*fsstore.Record, string) string { return ".fleet-v1-" + unknown + ".lock" }},
		{name: "record there", age: old, file: func(_ *fsstore.Record, digest string) string { return ".fleet-v1-" + digest + ".lock" }},
		{name: "session gone", age: old, goes: true, file: func(*fsstore.Record, string) string { return ".fleet-v1-session-" + unknown + ".lock" }},
		{name: "session gone, 24 h", age: young, file: func(*fsstore.Record, string) string { return ".fleet-v1-session-" + unknown + ".lock" }},
		{name: "session gone, held", age: old, held: true, file: func(*fsstore.Record, string) string { return ".fleet-v1-session-" + unknown + ".lock" }},
		{name: "session there", age: old, file: func(r *fsstore.Record, _ string) string { return ".fleet-v1-session-" + r.SessionDigest() + ".lock" }},
		{name: "maintenance", age: 30 * day, file: func(*fsstore.Record, string) string { return ".fleet-maintenance.lock" }},
		{name: "no lock of ours", age: old, file: func(*fsstore.Record, string) string { return ".fleet-v1-x.lock" }},
		{name: "nor this", age: old, file: func(*fsstore.Record, string) string {
			return ".fleet-v1-" + strings.ToUpper(strings.Repeat("a", 64)) + ".lock"
		}},
	} {
		w := newWorld(t)
		w.runs(treeProcess{})
		r := w.add("s", nil)
		digest := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(recordPath(w.dir, r.Key)), "fleet-v1-"), ".json")
		name := "sessions/" + tt.file(r, digest)
		w.write(name, "")
		w.setTime(name, tt.age)
		if tt.held {
			fd, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Flock(int(fd.Fd()), unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			w.run()
			check(t, tt.name, !w.exists(name), tt.goes)
			fd.Close()
			w.run()
			check(t, tt.name+" no more", w.exists(name), false)
			continue
		}
		w.run()
		check(t, tt.name, !w.exists(name), tt.goes)
	}
}

// The removal of a record is a use of its locks: they stay for 24 hours then,
// however old they are.
func TestSweepLocksOfRemoved(t *testing.T) {
	w := newWorld(t)
	store := w.open()
	defer store.Close()
	r := w.record("s", nil)
	if _, err := store.Import(r, patience); err != nil {
		t.Fatal(err)
	}
	locks, err := filepath.Glob(filepath.Join(w.dir, "sessions", ".fleet-v1-*.lock"))
	if err != nil || len(locks) != 2 {
		t.Fatal(locks, err)
	}
	for _, lock := range locks {
		w.setTime("sessions/"+filepath.Base(lock), 30*day)
	}
	count := func() string {
		locks, _ := filepath.Glob(filepath.Join(w.dir, "sessions", ".fleet-v1-*.lock"))
		return strconv.Itoa(len(locks))
	}
	check(t, "removed", list(w.run().Removed), "s")
	check(t, "locks", count(), "2")
	w.now = w.now.Add(24*time.Hour - 10*time.Second)
	w.run()
	check(t, "locks within a day", count(), "2")
	w.now = w.now.Add(20 * time.Second)
	w.run()
	check(t, "locks after a day", count(), "0")
	// And the session may come back.
	if r, err := store.Import(r, patience); err != nil || r.Arrival != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSweepLaunches: a launch goes after 7 days, unless its process lives.
func TestSweepLaunches(t *testing.T) {
	for _, tt := range []struct {
		name string
		pid  string
		boot string
		age  time.Duration
		text string // instead
		goes bool
	}{
		{name: "ended, 7 days", pid: "9", boot: thisBoot, age: 7 * day},
		{name: "ended, over 7 days", pid: "9", boot: thisBoot, age: 7*day + time.Second, goes: true},
		{name: "lives", pid: pid, boot: thisBoot, age: 30 * day},
		{name: "earlier boot", pid: pid, boot: earlierBoot, age: 30 * day, goes: true},
		{name: "no launch", text: "{", age: 7*day + time.Second, goes: true},
		{name: "no launch, 7 days", text: "{", age: 7 * day},
	} {
		w := newWorld(t)
		w.runs(treeProcess{})
		name := "launches/" + strings.Repeat("0a", 16) + ".json"
		text := tt.text
		if text == "" {
			text = `{"pid":"` + tt.pid + `","process_start":"` + start + `","boot_id":"` + tt.boot + `"}`
		}
		w.write(name, text)
		w.setTime(name, tt.age)
		w.write("launches/notes.txt", "of the user")
		w.setTime("launches/notes.txt", 30*day)
		if tt.boot == earlierBoot && w.here.MachineID == "" {
			continue
		}
		w.run()
		check(t, tt.name, !w.exists(name), tt.goes)
		check(t, tt.name+": another file", w.exists("launches/notes.txt"), true)
	}
}

// TestSweepInstances: the index of an emitter goes with its process, under its
// lock, unless it was written anew.
func TestSweepInstances(t *testing.T) {
	type instance = fsstore.Instance
	for _, tt := range []struct {
		name   string
		change func(w *world, i *instance)
		age    time.Duration
		goes   bool
	}{
		{name: "lives", change: func(*world, *instance) {}},
		{name: "dead", goes: true, change: func(_ *world, i *instance) { i.PID = "9" }},
		{name: "pid reused", goes: true, change: func(_ *world, i *instance) { i.ProcessStart = "9" }},
		{name: "other namespace", change: func(_ *world, i *instance) { i.PID, i.PIDNamespace = "9", "1" }},
		{name: "other machine", change: func(_ *world, i *instance) { i.PID, i.BootID, i.MachineID = "9", "x", "x" }},
		{name: "cannot be judged", change: func(w *world, _ *instance) { unreadable(w) }},
		{name: "lives for long", age: 8 * 24 * time.Hour, change: func(*world, *instance) {}},
		{name: "other machine, nearly 7 days", age: 7*24*time.Hour - time.Minute, change: func(_ *world, i *instance) { i.PID, i.BootID, i.MachineID = "9", "x", "x" }},
		{name: "other machine, 7 days", age: 7*24*time.Hour + time.Minute, goes: true, change: func(_ *world, i *instance) { i.PID, i.BootID, i.MachineID = "9", "x", "x" }},
	} {
		w := newWorld(t)
		w.runs(treeProcess{args: []string{"opencode"}})
		s := w.open()
		i := &instance{Harness: "opencode", ID: "p1", PID: pid, ProcessStart: start, Boottime: 1, Sessions: []string{"s"},
			BootID: thisBoot, PIDNamespace: thisNamespace, MachineID: w.here.MachineID}
		tt.change(w, i)
		hold := func() *fsstore.HeldInstance {
			held, err := s.HoldInstance(i.Harness, i.ID, patience)
			if err != nil {
				t.Fatal(err)
			}
			return held
		}
		held := hold()
		if err := held.Write(i); err != nil {
			t.Fatal(err)
		}
		held.Release()
		c, err := s.Contents()
		if err != nil {
			t.Fatal(err)
		}
		w.setTime("sessions/"+c.Instances()[0], tt.age)
		w.run()
		held = hold()
		check(t, tt.name, held.Stored == nil, tt.goes)

		// Held by a snapshot, it stays.
		if tt.name == "dead" {
			if err := held.Write(i); err != nil {
				t.Fatal(err)
			}
			result := w.runAs(Options{Forced: true})
			check(t, tt.name+", held", result.Skipped, Unavailable)
			if c, _ := s.Contents(); len(c.Instances()) != 1 {
				t.Errorf("%s, held: %v", tt.name, c.Instances())
			}
		}
		held.Release()
		s.Close()
	}
}

// TestUnseenAge: of a file whose time cannot be read nobody knows that it is old,
// nor that it was durable before.
func TestUnseenAge(t *testing.T) {
	w := newWorld(t)
	launch := "launches/" + strings.Repeat("0a", 16) + ".json"
	w.write(launch, "{")
	s := w.open()
	held, err := s.HoldInstance("opencode", "p1", patience)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := &fsstore.Instance{Harness: "opencode", ID: "p1", PID: "9", ProcessStart: "9", BootID: "x", MachineID: "x", Sessions: []string{"s"}}
	if err := held.Write(elsewhere); err != nil {
		t.Fatal(err)
	}
	held.Release()
	c, err := s.Contents()
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	entry := filepath.Join(w.dir, "resumable", w.record("dead", nil).SessionDigest()+".json")
	options := []string{"-f", "-qq", "-y", "-o", trace, "-e", "trace=fsync,?newfstatat,?fstatat64", "-e", "inject=?newfstatat,?fstatat64:error=EIO", "-P", entry}
	for _, dir := range []string{"sessions", "resumable", "launches"} {
		options = append(options, "-P", filepath.Join(w.dir, dir)) // of names below it
	}
	strace := exec.Command("strace", append(options, exe, w.dir)...)
	strace.Env = self("maintain").Env
	w.add("dead", func(r *fsstore.Record) { r.PID = "4194304" })
	if out, err := strace.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check(t, "the launch", w.exists(launch), true)
	check(t, "the index", w.exists("sessions/"+c.Instances()[0]), true)
	calls, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(calls), "fsync(") || !strings.Contains(string(calls), entry+">)") {
		t.Errorf("%s is not synced:\n%s", entry, calls)
	}
}

// What is no index goes too, when it is old.
func TestSweepNoInstance(t *testing.T) {
	w := newWorld(t)
	name := "sessions/.fleet-v1-instance-" + strings.Repeat("0a", 32) + ".idx"
	w.write(name, "{")
	w.setTime(name, keepUnknown-time.Minute)
	w.run()
	check(t, "there before 7 days", w.exists(name), true)
	w.setTime(name, keepUnknown+time.Minute)
	w.run()
	check(t, "there after 7 days", w.exists(name), false)
}
