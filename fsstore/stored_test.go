package fsstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/lockfile"
)

func contents(t testing.TB, s *Store) Contents {
	t.Helper()
	c, err := s.Contents()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// readStored returns the one stored record of a session.
func readStored(t testing.TB, s *Store, session string) Stored {
	t.Helper()
	c := contents(t, s)
	if len(c.Unreadable) > 0 {
		t.Fatal(c.Unreadable)
	}
	for _, r := range c.Records {
		if r.Session == session {
			return r
		}
	}
	t.Fatalf("no record of %s", session)
	return Stored{}
}

// writeAgain are the ways in which a record becomes another version.
var writeAgain = map[string]func(t *testing.T, s *Store, path string){
	"written by a hook": func(t *testing.T, s *Store, path string) {
		update(t, s, simple("s").Key, to(simple("s")))
	},
	"written twice": func(t *testing.T, s *Store, path string) { // the inode may be the first one again
		update(t, s, simple("s").Key, to(simple("s")))
		update(t, s, simple("s").Key, to(simple("s")))
	},
	"removed and written": func(t *testing.T, s *Store, path string) {
		if err := removeRecord(path, simple("s").Key); err != nil {
			t.Fatal(err)
		}
		update(t, s, simple("s").Key, to(simple("s")))
	},
	"written in place, of the same length": func(t *testing.T, s *Store, path string) {
		r := simple("s")
		r.Cwd = "/home/user/oper"
		put(t, path, r)
	},
}

// TestRemoveVersion: only the version that was read is removed or amended.
func TestRemoveVersion(t *testing.T) {
	for name, write := range writeAgain {
		t.Run(name, func(t *testing.T) {
			s, path := openStore(t)
			update(t, s, simple("s").Key, to(simple("s")))
			read := readStored(t, s, "s")
			write(t, s, path)
			newer := get(t, s, read.Key)
			if err := s.Remove(read, patience); !errors.Is(err, ErrStale) {
				t.Errorf("Remove: got %v, want ErrStale", err)
			}
			if _, err := s.Amend(read, patience, func(r *Record) { r.Detail = "amended" }); !errors.Is(err, ErrStale) {
				t.Errorf("Amend: got %v, want ErrStale", err)
			}
			equalRecords(t, "stored", get(t, s, read.Key), newer)
			checkNoTemp(t, path)

			// What is there now can be.
			if err := s.Remove(readStored(t, s, "s"), patience); err != nil {
				t.Error(err)
			}
			if get(t, s, read.Key) != nil {
				t.Error("the record is still there")
			}
		})
	}
}

func TestRemoveGone(t *testing.T) {
	s, path := openStore(t)
	update(t, s, simple("s").Key, to(simple("s")))
	read := readStored(t, s, "s")
	if err := removeRecord(path, read.Key); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Remove": s.Remove(read, patience),
		"Amend":  amendError(s.Amend(read, patience, func(*Record) {})),
	} {
		if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: got %v, want fs.ErrNotExist", name, err)
		}
	}
	if get(t, s, read.Key) != nil {
		t.Error("the record is back")
	}
}

func amendError(_ Stored, err error) error { return err }

// TestRemoveLocks: both locks of the record are taken, and each is waited for.
func TestRemoveLocks(t *testing.T) {
	s, path := openStore(t)
	update(t, s, simple("s").Key, to(simple("s")))
	read := readStored(t, s, "s")
	locks := []string{read.sessionLock(), recordLock(read.digest())}
	for _, name := range locks {
		other := reopen(t, path, Write)
		l, err := lockfile.Try(other.locks, name)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := s.Remove(read, 50*time.Millisecond); !errors.Is(err, ErrLockTimeout) || time.Since(began) < 50*time.Millisecond {
			t.Errorf("%s held: got %v after %v, want ErrLockTimeout", name, err, time.Since(began))
		}
		if _, err := s.Amend(read, 50*time.Millisecond, func(*Record) {}); !errors.Is(err, ErrLockTimeout) {
			t.Errorf("%s held: Amend: got %v, want ErrLockTimeout", name, err)
		}
		l.Release()
	}
	if _, err := s.Amend(read, patience, func(*Record) {}); err != nil {
		t.Error(err)
	}
	if get(t, s, read.Key) == nil {
		t.Error("removed in spite of it")
	}
}

// TestRemoveTouches: the locks of a removed record are as old as its removal,
// unless one is somebody's file under another name.
func TestRemoveTouches(t *testing.T) {
	s, path := openStore(t)
	update(t, s, simple("s").Key, to(simple("s")))
	read := readStored(t, s, "s")
	sessions := filepath.Join(path, sessionsDir)
	long := time.Now().Add(-time.Hour)
	for _, name := range read.locks() {
		if err := os.Chtimes(filepath.Join(sessions, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(sessions, read.sessionLock()), filepath.Join(t.TempDir(), "theirs")); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(read, patience); err != nil {
		t.Fatal(err)
	}
	for name, untouched := range map[string]bool{read.sessionLock(): true, recordLock(read.digest()): false} {
		info, err := os.Stat(filepath.Join(sessions, name))
		if err != nil || info.ModTime().Equal(long) != untouched {
			t.Errorf("%s: %v, %v", name, info.ModTime(), err)
		}
	}
}

func TestAmend(t *testing.T) {
	s, path := openStore(t)
	r := simple("s")
	r.Unknown = []Member{{"mine", []byte("1")}}
	update(t, s, r.Key, to(r))
	read := readStored(t, s, "s")
	amended, err := s.Amend(read, patience, func(r *Record) { r.Status, r.Arrival = Ended, r.Arrival+1 })
	if err != nil {
		t.Fatal(err)
	}
	if read.Status != Running || read.Arrival != 1 {
		t.Errorf("what was read has changed: %+v", read.Record)
	}
	got := get(t, s, r.Key)
	equalRecords(t, "stored", got, amended.Record)
	if got.Status != Ended || got.Arrival != 2 || len(got.Unknown) != 1 {
		t.Errorf("got %+v", got)
	}
	// It is the version that now stands there, and can be amended further.
	if amended, err = s.Amend(amended, patience, func(r *Record) { r.Detail = "more" }); err != nil {
		t.Fatal(err)
	}
	// What is no record is not written.
	if _, err := s.Amend(amended, patience, func(r *Record) { r.Status = "sleeping" }); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
	equalRecords(t, "stored", get(t, s, r.Key), amended.Record)

	// Nothing writes a legacy record, but it can be removed, without locks.
	writeText(t, path+"/sessions/old.json", `{"agent":"claude","session_id":"old","status":"idle","ts":1}`)
	legacy := readStored(t, s, "old")
	if _, err := s.Amend(legacy, patience, func(*Record) { t.Error("called") }); !errors.Is(err, ErrInvalid) {
		t.Errorf("legacy: got %v, want ErrInvalid", err)
	}
	locks := len(lockFiles(t, path+"/sessions"))
	writeText(t, path+"/sessions/old.json", `{"agent":"claude","session_id":"old","status":"running","ts":2}`)
	if err := s.Remove(legacy, patience); !errors.Is(err, ErrStale) {
		t.Errorf("legacy, written since: got %v, want ErrStale", err)
	}
	if err := s.Remove(readStored(t, s, "old"), patience); err != nil {
		t.Error(err)
	}
	if got := len(lockFiles(t, path+"/sessions")); got != locks {
		t.Errorf("%d lock files, %d before", got, locks)
	}
}

// TestRemoveWithoutLocks: where nothing can be locked, the version alone
// decides.
func TestRemoveWithoutLocks(t *testing.T) {
	onNetwork(t, unix.NFS_SUPER_MAGIC, t.TempDir()+"/missing")
	s, path := openStore(t)
	update(t, s, simple("s").Key, to(simple("s")))
	read := readStored(t, s, "s")
	update(t, s, simple("s").Key, to(simple("s")))
	if err := s.Remove(read, patience); !errors.Is(err, ErrStale) {
		t.Errorf("got %v, want ErrStale", err)
	}
	if err := s.Remove(readStored(t, s, "s"), patience); err != nil {
		t.Error(err)
	}
	for range 2 { // nothing to hold
		release, err := s.LockMaintenance()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	if got := names(t, path, "sessions"); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
	if err := s.Sweep(contents(t, s), Leftovers{Temp: func(Temp) bool { return true }, Session: noSession}); err != nil {
		t.Error(err)
	}
}

// TestNetworkMaintenance: the locks of a store on a network file system are in
// the run-time directory, that of the maintenance too, and are swept there.
func TestNetworkMaintenance(t *testing.T) {
	run := t.TempDir()
	onNetwork(t, unix.NFS_SUPER_MAGIC, run)
	s, path := openStore(t)
	release, err := s.LockMaintenance()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reopen(t, path, Write).LockMaintenance(); !errors.Is(err, lockfile.ErrLocked) {
		t.Errorf("second lock: got %v, want ErrLocked", err)
	}
	release()
	gone, there := simple("gone"), simple("there")
	for _, r := range []*Record{gone, there} {
		update(t, s, r.Key, to(r))
	}
	if err := removeRecord(path, gone.Key); err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(contents(t, s), Leftovers{
		Temp: func(Temp) bool { return false }, LocksUnusedSince: time.Now().Add(time.Second),
		Session: func(digest string) bool { return digest == there.SessionDigest() },
	}); err != nil {
		t.Fatal(err)
	}
	left := lockFiles(t, run+"/tongs-agents")
	if len(left) != 3 {
		t.Errorf("locks: got %q, want those of a record, its session and the maintenance", left)
	}
	if got := lockFiles(t, path+"/sessions"); len(got) > 0 {
		t.Errorf("locks in the store: %q", got)
	}
}

// TestSweepWaiter: who waits for a lock file that is swept meanwhile takes the
// next one, and excludes others.
func TestSweepWaiter(t *testing.T) {
	s, path := openStore(t)
	key := simple("s").Key
	lock, err := lockfile.Try(s.locks, key.sessionLock())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Update(key, Rules{Create: true, Wait: patience}, func(*Record) (*Record, error) {
			if l, err := lockfile.Try(s.locks, key.sessionLock()); !errors.Is(err, lockfile.ErrLocked) {
				t.Errorf("the lock of a writer is free: %v", err)
				l.Release()
			}
			return simple("s"), nil
		})
		done <- err
	}()
	time.Sleep(20 * time.Millisecond) // it waits now, most likely
	if err := s.Sweep(contents(t, s), Leftovers{Temp: func(Temp) bool { return false }, LocksUnusedSince: time.Now().Add(time.Minute), Session: noSession}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path + "/sessions/" + key.sessionLock()); err != nil {
		t.Errorf("a held lock was swept: %v", err)
	}
	if err := os.Remove(path + "/sessions/" + key.sessionLock()); err != nil { // as its holder may
		t.Fatal(err)
	}
	lock.Release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func noSession(string) bool { return false }

// Sweep goes by what the store held when it was read: what a writer has begun
// since stays for the next one.
func TestSweepContents(t *testing.T) {
	s, path := openStore(t)
	update(t, s, simple("s").Key, to(simple("s")))
	writeText(t, path+"/sessions/garbage.json", "{")
	sweep := func(c Contents) {
		t.Helper()
		if err := s.Sweep(c, Leftovers{
			Temp: func(Temp) bool { return true }, LocksUnusedSince: time.Now().Add(time.Minute), Session: noSession,
		}); err != nil {
			t.Error(err)
		}
	}
	const temp, gone = ".fleet-tmp-1-x-1.tmp", ".fleet-v1-0000000000000000000000000000000000000000000000000000000000000000.lock"
	before := contents(t, s)
	if len(before.Records) != 1 || len(before.Unreadable) != 1 {
		t.Errorf("got %+v", before)
	}
	writeText(t, path+"/sessions/"+temp, "half")
	writeText(t, path+"/sessions/"+gone, "")
	all := names(t, path, "sessions")
	sweep(before)
	// The lock of the session goes: noSession knows of none.
	kept := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == simple("s").sessionLock() })
	if got := names(t, path, "sessions"); !slices.Equal(got, kept) {
		t.Errorf("left %q, want %q", got, kept)
	}
	sweep(contents(t, s))
	kept = slices.DeleteFunc(kept, func(name string) bool { return name == temp || name == gone })
	if got := names(t, path, "sessions"); !slices.Equal(got, kept) {
		t.Errorf("left in the end %q, want %q", got, kept)
	}
}
