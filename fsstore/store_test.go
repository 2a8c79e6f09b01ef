package fsstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
	"tongs-agents/lockfile"
)

// TestUnseen: a record that cannot be looked at is not a missing one, of which
// nothing would be left to do.
func TestUnseen(t *testing.T) {
	s, _ := openStore(t)
	s.sessions.Close()
	s.sessions = -1
	_, err := s.Update(simple("s").Key, Rules{Wait: patience}, func(old *Record) (*Record, error) {
		t.Error("change is called")
		return nil, nil
	})
	if !errors.Is(err, ErrUnavailable) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestCreateRules(t *testing.T) {
	s, path := openStore(t)
	key := simple("s").Key
	called := false
	change := func(old *Record) (*Record, error) {
		called = true
		return simple("s"), nil
	}
	_, err := s.Update(key, Rules{Wait: patience}, change)
	if !errors.Is(err, fs.ErrNotExist) || called {
		t.Errorf("without Create: got %v, change called: %v, want fs.ErrNotExist", err, called)
	}
	if got := names(t, path, "sessions"); len(got) != 0 {
		t.Errorf("sessions/ holds %q, want nothing: no lock either", got)
	}
	created, err := s.Update(key, Rules{Create: true, Wait: patience}, func(old *Record) (*Record, error) {
		if old != nil {
			t.Errorf("got %+v, want nil for a missing record", old)
		}
		return simple("s"), nil
	})
	if err != nil || created.Arrival != 1 {
		t.Fatalf("with Create: got %+v, %v", created, err)
	}
	if _, err := s.Update(key, Rules{Wait: patience}, change); err != nil || !called {
		t.Errorf("of what exists: %v", err)
	}

	// What has the record's name but is none counts as missing.
	putText(t, path, key, "")
	called = false
	if _, err := s.Update(key, Rules{Wait: patience}, change); !errors.Is(err, fs.ErrNotExist) || called {
		t.Errorf("of an empty file without Create: got %v, change called: %v, want fs.ErrNotExist", err, called)
	}
}

func TestUpdateKey(t *testing.T) {
	s, _ := openStore(t)
	key := simple("s").Key
	given := simple("another")
	given.Arrival = 99
	before := *given
	got := update(t, s, key, to(given))
	want := *given
	want.Key, want.Arrival = key, 1
	equalRecords(t, "returned", got, &want)
	equalRecords(t, "stored", get(t, s, key), &want)
	equalRecords(t, "given", given, &before)
}

func TestArrivalSequence(t *testing.T) {
	s, path := openStore(t)
	key := simple("s").Key
	for want := int64(1); want <= 5; want++ {
		got := update(t, s, key, func(old *Record) (*Record, error) {
			if old != nil && old.Arrival != want-1 {
				t.Errorf("old: arrival %d, want %d", old.Arrival, want-1)
			}
			return simple("s"), nil
		})
		if got.Arrival != want || get(t, s, key).Arrival != want {
			t.Errorf("got arrival %d, stored %d, want %d", got.Arrival, get(t, s, key).Arrival, want)
		}
	}
	// It goes on from what another program wrote.
	r := simple("s")
	r.Arrival = 1000
	put(t, path, r)
	if got := update(t, s, key, to(simple("s"))); got.Arrival != 1001 {
		t.Errorf("got arrival %d, want 1001", got.Arrival)
	}
}

func TestOtherProcess(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Record)
	}{
		{"pid", func(r *Record) { r.PID = "4243" }},
		{"start", func(r *Record) { r.ProcessStart = "81869" }},
		{"no pid", func(r *Record) { r.PID = "" }},
		{"no start", func(r *Record) { r.ProcessStart = "" }},
	} {
		s, path := openStore(t)
		r := update(t, s, simple("s").Key, to(simple("s")))
		for how, change := range map[string]func(*Record) (*Record, error){
			"copy": func(old *Record) (*Record, error) {
				c := *old
				test.change(&c)
				return &c, nil
			},
			"in place": func(old *Record) (*Record, error) {
				test.change(old)
				return old, nil
			},
		} {
			if _, err := s.Update(r.Key, Rules{Create: true, Wait: patience}, change); !errors.Is(err, ErrOtherProcess) {
				t.Errorf("%s, %s: got %v, want ErrOtherProcess", test.name, how, err)
			}
			equalRecords(t, test.name+", "+how, get(t, s, r.Key), r)
		}
		checkNoTemp(t, path)
	}
}

func TestSequence(t *testing.T) {
	const none = -1
	for _, test := range []struct {
		name        string
		stored, new int64
		want        error
	}{
		{"first", none, none, nil},
		{"first with a sequence", none, 5, nil},
		{"greater", 5, 6, nil},
		{"from 0", 0, 1, nil},
		{"equal", 5, 5, ErrStale},
		{"equal 0", 0, 0, ErrStale},
		{"less", 5, 4, ErrStale},
		{"left out", 5, none, ErrStale},
		{"left out after 0", 0, none, ErrStale},
	} {
		s, path := openStore(t)
		with := func(sequence int64) *Record {
			r := simple("s")
			if sequence != none {
				r.HasSequence, r.Sequence = true, sequence
			}
			return r
		}
		stored := update(t, s, simple("s").Key, to(with(test.stored)))
		for how, write := range map[string]func() (*Record, error){
			"Update": func() (*Record, error) {
				return s.Update(stored.Key, Rules{Wait: patience}, to(with(test.new)))
			},
			"Import": func() (*Record, error) { return s.Import(with(test.new), patience) },
		} {
			put(t, path, stored)
			got, err := write()
			if !errors.Is(err, test.want) {
				t.Errorf("%s, %s: got %v, want %v", test.name, how, err, test.want)
			}
			want := stored
			if test.want == nil {
				want = with(test.new)
				want.Arrival = 2
				equalRecords(t, test.name+", "+how, got, want)
			}
			equalRecords(t, test.name+", "+how+", stored", get(t, s, stored.Key), want)
		}
	}
}

func TestNoChange(t *testing.T) {
	s, path := openStore(t)
	key := simple("s").Key
	if r, err := s.Update(key, Rules{Create: true, Wait: patience}, to(nil)); r != nil || err != nil {
		t.Errorf("nothing from nothing: got %+v, %v", r, err)
	}
	if get(t, s, key) != nil {
		t.Error("a record was made")
	}
	update(t, s, key, to(simple("s")))
	file := recordPath(path, key)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Update(key, Rules{Wait: patience}, to(nil)); r != nil || err != nil {
		t.Errorf("nil: got %+v, %v", r, err)
	}
	mine := errors.New("mine")
	if _, err := s.Update(key, Rules{Wait: patience}, func(old *Record) (*Record, error) { return simple("s"), mine }); err != mine {
		t.Errorf("error of change: got %v, want it as it is", err)
	}
	after, err := os.Stat(file)
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the record was written anew, %v", err)
	}
}

// TestFailure: when an update fails, the stored record and the caller's own
// stay as they are.
func TestFailure(t *testing.T) {
	s, path := openStore(t)
	stored := update(t, s, simple("s").Key, to(simple("s")))
	for name, change := range map[string]func(*Record){
		"invalid":       func(r *Record) { r.Status = "busy" },
		"other process": func(r *Record) { r.PID = "1" },
		"future":        func(r *Record) { r.TS += 1000 },
		"too long":      func(r *Record) { r.Unknown = []Member{{"x", []byte(`"` + strings.Repeat("x", MaxRecord) + `"`)}} },
	} {
		given := simple("another")
		change(given)
		before := *given
		r, err := s.Update(stored.Key, Rules{Create: true, Wait: patience}, to(given))
		if r != nil || err == nil {
			t.Errorf("%s: got %+v, %v, want an error", name, r, err)
		}
		equalRecords(t, name+", given", given, &before)
		equalRecords(t, name+", stored", get(t, s, stored.Key), stored)
	}
	checkNoTemp(t, path)
}

// TestContinue: the first event that finds the process takes over the record
// of the time before.
func TestContinue(t *testing.T) {
	s, path := openStore(t)
	waiting := unresolvedRecord("s")
	waiting.Key.Instance = Unresolved
	for range 3 {
		update(t, s, waiting.Key, to(waiting))
	}
	identified := simple("s")
	// Even an event that creates nothing does so.
	got, err := s.Update(identified.Key, Rules{Wait: patience}, func(old *Record) (*Record, error) {
		if old == nil || old.Key != waiting.Key || old.Arrival != 3 {
			t.Errorf("got %+v, want the unresolved record", old)
		}
		return identified, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Arrival != 4 || got.Key != identified.Key {
		t.Errorf("got %v, arrival %d, want arrival 4", got.Key, got.Arrival)
	}
	records, bad, err := s.All()
	if err != nil || len(bad) != 0 || len(records) != 1 {
		t.Fatalf("All: got %d records, %v, %v, want one", len(records), bad, err)
	}
	equalRecords(t, "stored", records[0], got)
	if _, err := os.Lstat(recordPath(path, waiting.Key)); err == nil {
		t.Error("the unresolved record is still there")
	}

	// Later events go on with the identified one. An unresolved record that
	// came into being beside it goes with the next of them.
	update(t, s, waiting.Key, to(waiting))
	if got := update(t, s, identified.Key, to(identified)); got.Arrival != 5 {
		t.Errorf("got arrival %d, want 5", got.Arrival)
	}
	if get(t, s, waiting.Key) != nil {
		t.Error("the unresolved record is still there beside the identified one")
	}
	// Another session's is not continued.
	update(t, s, simple("other").Key, func(old *Record) (*Record, error) {
		if old != nil {
			t.Errorf("got %+v for another session", old)
		}
		return simple("other"), nil
	})
}

// TestContinueFails: the unresolved record stays when the identified one
// cannot be written, or is not wanted.
func TestContinueFails(t *testing.T) {
	s, _ := openStore(t)
	waiting := update(t, s, unresolvedRecord("s").Key, to(unresolvedRecord("s")))
	bad := simple("s")
	bad.Status = "busy"
	if _, err := s.Update(bad.Key, Rules{Create: true, Wait: patience}, to(bad)); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
	if r, err := s.Update(bad.Key, Rules{Create: true, Wait: patience}, to(nil)); r != nil || err != nil {
		t.Errorf("nil: got %+v, %v", r, err)
	}
	equalRecords(t, "unresolved", get(t, s, waiting.Key), waiting)
	if get(t, s, bad.Key) != nil {
		t.Error("there is an identified record")
	}
}

func TestContinueBesideWriters(t *testing.T) {
	const rounds, each = 20, 4
	s, _ := openStore(t)
	for round := range rounds {
		name := strconv.Itoa(round)
		update(t, s, unresolvedRecord(name).Key, to(unresolvedRecord(name)))
		var group sync.WaitGroup
		for range each {
			group.Go(func() { update(t, s, simple(name).Key, to(simple(name))) })
		}
		group.Wait()
		if got := get(t, s, simple(name).Key); got.Arrival != 1+each {
			t.Errorf("got arrival %d, want %d", got.Arrival, 1+each)
		}
		if get(t, s, unresolvedRecord(name).Key) != nil {
			t.Error("the unresolved record is still there")
		}
	}
}

func TestImport(t *testing.T) {
	now := time.Now().Unix()
	mine := complete()
	mine.HasSequence, mine.Sequence, mine.TS = false, 0, now
	at := func(boot string, boottime int64) *Record {
		r := *mine
		r.BootID, r.Boottime = boot, boottime
		return &r
	}
	for _, test := range []struct {
		name        string
		stored, new *Record
		want        error
	}{
		{"new", nil, at("a", 100), nil},
		{"older", at("a", 100), at("a", 99), ErrStale},
		{"equal", at("a", 100), at("a", 100), nil},
		{"newer", at("a", 100), at("a", 101), nil},
		{"of another boot", at("a", 100), at("b", 1), nil},
		{"without a time", at("a", 100), at("a", 0), nil},
		{"over one without a time", at("a", 0), at("a", 1), nil},
		{"without a boot", at("", 100), at("", 1), nil},
	} {
		s, path := openStore(t)
		if test.stored != nil {
			put(t, path, test.stored)
		}
		given := *test.new
		got, err := s.Import(&given, patience)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
		equalRecords(t, test.name+", given", &given, test.new)
		want := test.stored
		if test.want == nil {
			c := *test.new
			c.Arrival = 1
			if test.stored != nil {
				c.Arrival = test.stored.Arrival + 1
			}
			want = &c
			equalRecords(t, test.name+", returned", got, want)
		}
		equalRecords(t, test.name+", stored", get(t, s, mine.Key), want)
	}
}

// TestImportSequence: a sequence alone orders the events that have one.
func TestImportSequence(t *testing.T) {
	s, path := openStore(t)
	stored := complete()
	stored.TS = time.Now().Unix()
	stored.Sequence = 5
	put(t, path, stored)
	older := *stored
	older.Sequence, older.Boottime = 6, stored.Boottime-1
	if _, err := s.Import(&older, patience); err != nil {
		t.Errorf("greater sequence of an earlier time: %v", err)
	}
}

func TestImportInvalid(t *testing.T) {
	s, path := openStore(t)
	for name, change := range map[string]func(*Record){
		"status":   func(r *Record) { r.Status = "" },
		"harness":  func(r *Record) { r.Harness = "unknown" },
		"arrival":  func(r *Record) { r.Arrival = 0 },
		"too long": func(r *Record) { r.Detail = strings.Repeat("x", MaxDetail+1) },
	} {
		r := simple("s")
		change(r)
		if _, err := s.Import(r, patience); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if got := names(t, path, "sessions"); len(got) != 0 {
		t.Errorf("sessions/ holds %q, want nothing", got)
	}
}

// TestImportExport: what an export prints is imported as it was.
func TestImportExport(t *testing.T) {
	from, path := openStore(t)
	want := complete()
	want.TS = time.Now().Unix()
	put(t, path, want)
	records, _, err := from.All()
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	into, _ := openStore(t)
	r, err := Decode(records[0].AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := into.Import(r, patience); err != nil {
		t.Fatal(err)
	}
	want.Arrival = 1
	equalRecords(t, "imported", get(t, into, want.Key), want)
}

// TestErrors: errors.Is finds what a caller acts on through all wrapping.
func TestErrors(t *testing.T) {
	sentinels := map[string]error{
		"invalid": ErrInvalid, "stale": ErrStale, "other": ErrOtherProcess, "timeout": ErrLockTimeout,
		"unavailable": ErrUnavailable, "missing": fs.ErrNotExist,
	}
	s, path := openStore(t)
	sequenced := simple("s")
	sequenced.HasSequence, sequenced.Sequence = true, 5
	update(t, s, sequenced.Key, to(sequenced))
	bad, other, missing := simple("bad"), *sequenced, Key{"claude", "none", "1:2"}
	bad.Status = ""
	other.PID, other.Sequence = "1", 6

	lock, err := lockfile.Try(s.locks, simple("locked").sessionLock())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	directory := simple("directory")
	if err := os.Mkdir(recordPath(path, directory.Key), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(key Key, wait time.Duration, r *Record) error {
		_, err := s.Update(key, Rules{Create: r != nil, Wait: wait}, to(r))
		return err
	}
	for want, got := range map[string]error{
		"invalid":     write(bad.Key, patience, bad),
		"stale":       write(sequenced.Key, patience, simple("s")),
		"other":       write(sequenced.Key, patience, &other),
		"timeout":     write(simple("locked").Key, time.Millisecond, simple("locked")),
		"unavailable": write(directory.Key, patience, directory),
		"missing":     write(missing, patience, nil),
	} {
		for name, sentinel := range sentinels {
			// A cause such as EISDIR is found too, but is none of these.
			if errors.Is(got, sentinel) != (name == want) {
				t.Errorf("%s: errors.Is(%v, %v) = %v", want, got, sentinel, name != want)
			}
		}
		if got == nil || strings.Contains(got.Error(), "%!") || got.Error() == "" {
			t.Errorf("%s: text %q", want, got)
		}
	}
	if err := write(directory.Key, patience, directory); !errors.Is(err, unix.EISDIR) {
		t.Errorf("got %v, want EISDIR as the cause", err)
	}
}

// TestLocks: an update holds the locks of the session and of the record, and
// its wait is for both together.
func TestLocks(t *testing.T) {
	s, path := openStore(t)
	key := simple("s").Key
	lockNames := map[string]string{"session": key.sessionLock(), "record": recordLock(key.digest())}
	want := update(t, s, key, func(*Record) (*Record, error) {
		for name, file := range lockNames {
			if _, err := lockfile.Try(s.locks, file); !errors.Is(err, lockfile.ErrLocked) {
				t.Errorf("%s lock during an update: got %v, want ErrLocked", name, err)
			}
		}
		return simple("s"), nil
	})
	for name, file := range lockNames {
		lock, err := lockfile.Try(s.locks, file)
		if err != nil {
			t.Errorf("%s lock after an update: %v", name, err)
			continue
		}
		called := false
		start := time.Now()
		_, err = s.Update(key, Rules{Create: true, Wait: 30 * time.Millisecond}, func(old *Record) (*Record, error) {
			called = true
			return old, nil
		})
		if !errors.Is(err, ErrLockTimeout) || called {
			t.Errorf("%s lock held: got %v, change called: %v, want ErrLockTimeout", name, err, called)
		}
		if waited := time.Since(start); waited < 30*time.Millisecond {
			t.Errorf("%s lock held: gave up after %v", name, waited)
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	}
	equalRecords(t, "stored", get(t, s, key), want)
	checkNoTemp(t, path)
	update(t, s, key, to(simple("s")))
	// Another instance of the session has another record lock.
	lock, err := lockfile.Try(s.locks, lockNames["record"])
	if err != nil {
		t.Fatal(err)
	}
	other := simple("s")
	other.Instance, other.PID = "5:6", "5"
	update(t, s, other.Key, to(other))
	lock.Release()
}

// TestGoroutines: updates that overlap lose nothing.
func TestGoroutines(t *testing.T) {
	const writers = 24
	s, _ := openStore(t)
	key := simple("s").Key
	start := make(chan struct{})
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			<-start
			_, err := s.Update(key, Rules{Create: true, Wait: patience}, func(old *Record) (*Record, error) {
				r := simple("s")
				if old != nil {
					*r = *old
				}
				time.Sleep(time.Millisecond) // so that the others come meanwhile
				runtime.Gosched()
				r.Subagents++
				return r, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	group.Wait()
	if got := get(t, s, key); got.Arrival != writers || got.Subagents != writers {
		t.Errorf("got arrival %d, counter %d, want %d of both", got.Arrival, got.Subagents, writers)
	}
}

// TestDescriptors: nothing that an open store opens stays open.
func TestDescriptors(t *testing.T) {
	s, path := openStore(t)
	count := func() int { return len(names(t, "/proc/self/fd")) }
	before := count()
	update(t, s, unresolvedRecord("s").Key, to(unresolvedRecord("s")))
	update(t, s, simple("s").Key, to(simple("s")))
	s.Update(simple("none").Key, Rules{Wait: patience}, to(nil))
	s.All()
	s.Launch(strings.Repeat("0", 32))
	s.HookErrors()
	NoteHookError(path, "text", 1)
	putText(t, path, simple("bad").Key, "bad")
	s.All()
	Open(path+"/none", Read)
	Open(recordPath(path, simple("s").Key), Create)
	if got := count(); got != before {
		t.Errorf("%d descriptors are open, want %d", got, before)
	}
	if again, err := Open(path, Write); err != nil {
		t.Error(err)
	} else {
		again.Close()
	}
	if got := count(); got != before {
		t.Errorf("after Close: %d descriptors are open, want %d", got, before)
	}
}

// TestMoved: a store stays in the directory that was opened.
func TestMoved(t *testing.T) {
	s, path := openStore(t)
	if err := os.Rename(path, path+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	update(t, s, simple("s").Key, to(simple("s")))
	if _, err := os.Stat(recordPath(path+"-moved", simple("s").Key)); err != nil {
		t.Error(err)
	}
	if got := names(t, path); len(got) != 0 {
		t.Errorf("the new directory holds %q", got)
	}
}

// TestTempNames: names of temporary files begin with the writer's pid and are
// never used twice.
func TestTempNames(t *testing.T) {
	tmp := t.TempDir()
	dir, err := linux.Openat(linux.CWD, tmp, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	seen := make(map[string]bool)
	for range 100 {
		fd, name, err := createTemp(dir)
		if err != nil {
			t.Fatal(err)
		}
		fd.Close()
		if seen[name] || !strings.HasPrefix(name, ".fleet-tmp-"+strconv.Itoa(os.Getpid())+"-") || !strings.HasSuffix(name, ".tmp") {
			t.Errorf("got name %q", name)
		}
		seen[name] = true
		if st, err := os.Lstat(filepath.Join(tmp, name)); err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, st.Mode(), err)
		}
	}
}

// TestNewerSchema: what a newer program has written is neither read nor
// replaced.
func TestNewerSchema(t *testing.T) {
	s, path := openStore(t)
	update(t, s, simple("s").Key, to(simple("s")))
	file := recordPath(path, simple("s").Key)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(text), `"schema_version":1`, `"schema_version":2`, 1)
	writeText(t, file, newer)
	_, err = s.Update(simple("s").Key, Rules{Create: true, Wait: patience}, to(simple("s")))
	if !errors.Is(err, ErrNewer) || !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v, want ErrNewer", err)
	}
	checkText(t, file, newer)
}

// TestOpenCannotCreate: a directory that cannot be made is not a store that
// does not exist.
func TestOpenCannotCreate(t *testing.T) {
	dangling := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dangling+"/state", Create); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Create: got %v, want ErrUnavailable", err)
	}
	if _, err := Open(dangling+"/state", Read); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnavailable) {
		t.Errorf("Read: got %v, want fs.ErrNotExist", err)
	}
}

// Withdraw leaves nothing of a session, and those of others alone.
func TestWithdraw(t *testing.T) {
	s, path := openStore(t)
	kept, gone := simple("kept"), simple("gone")
	if _, err := s.Import(kept, time.Second); err != nil {
		t.Fatal(err)
	}
	before := names(t, path, "sessions")
	if _, err := s.Import(gone, time.Second); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing
		if err := s.Withdraw(gone.Key, time.Second); err != nil {
			t.Error(err)
		}
		if got := names(t, path, "sessions"); !slices.Equal(got, before) {
			t.Errorf("got %q, want %q", got, before)
		}
	}
}
