package maintain

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

// TestUnusable: nothing but a held lock is busy; whatever makes the store
// unusable is unavailable, with its cause, and changes nothing.
func TestUnusable(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(w *world)
		want error
	}{
		{"a file", func(w *world) { os.RemoveAll(w.dir); os.WriteFile(w.dir, nil, 0o600) }, fsstore.ErrUnavailable},
		{"a link", func(w *world) { os.Rename(w.dir, w.dir+"2"); os.Symlink(w.dir+"2", w.dir) }, fsstore.ErrUnavailable},
		{"a link in place of sessions", func(w *world) {
			os.Rename(w.dir+"/sessions", w.dir+"/elsewhere")
			os.Symlink("elsewhere", w.dir+"/sessions")
		}, fsstore.ErrUnavailable},
		{"a directory in place of the lock", func(w *world) { os.Mkdir(w.dir+"/sessions/.fleet-maintenance.lock", 0o700) }, fsstore.ErrUnavailable},
		{"a link in place of the lock", func(w *world) { os.Symlink("x", w.dir+"/sessions/.fleet-maintenance.lock") }, fsstore.ErrUnavailable},
	} {
		w := newWorld(t)
		w.add("s", nil)
		tt.make(w)
		before := tree(t, filepath.Dir(w.dir))
		for _, o := range []Options{{}, {Forced: true}} {
			result := w.runAs(o)
			if result.Skipped != Unavailable || !errors.Is(result.Err, tt.want) || len(result.Removed) > 0 {
				t.Errorf("%s: got %+v, want unavailable by %v", tt.name, result, tt.want)
			}
			if result.Removed == nil || result.Added == nil || result.Mended == nil || result.Archived == nil {
				t.Errorf("%s: lists that are none: %+v", tt.name, result)
			}
		}
		if after := tree(t, filepath.Dir(w.dir)); after != before {
			t.Errorf("%s: changed:\n%s\nbefore:\n%s", tt.name, after, before)
		}
	}
}

// TestOddRecord: what goes wrong with one record does not keep the run from the
// others, and is said.
func TestOddRecord(t *testing.T) {
	for name, odd := range map[string]func(lock string){
		"a directory in place of its lock": func(lock string) { os.Remove(lock); os.Mkdir(lock, 0o700) },
		"a link in place of its lock":      func(lock string) { os.Remove(lock); os.Symlink("x", lock) },
	} {
		w := newWorld(t)
		r := w.add("s", nil)
		w.add("before", func(r *fsstore.Record) { r.PID = "8" })
		w.add("other", func(r *fsstore.Record) { r.PID = "9" })
		odd(filepath.Join(w.dir, "sessions", ".fleet-v1-session-"+r.SessionDigest()+".lock"))
		result := w.runAs(Options{Forced: true})
		check(t, name, result.Skipped, Unavailable)
		if result.Err == nil {
			t.Errorf("%s: no cause", name)
		}
		check(t, name+": removed", list(result.Removed), "before other")
		check(t, name+": stored", w.sessions(), "s")
	}
}

// TestReadOnlyStore: on a file system that is read-only nothing can be done,
// and a dry run says what would be.
func TestReadOnlyStore(t *testing.T) {
	if !isolated(t) {
		return
	}
	w := newWorld(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	w.dir = filepath.Join(dir, "state")
	w.open().Close()
	w.add("s", nil)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	result := w.runAs(Options{Forced: true})
	if result.Skipped != Unavailable || !errors.Is(result.Err, unix.EROFS) || len(result.Removed) > 0 {
		t.Errorf("got %+v, want unavailable by EROFS", result)
	}
	check(t, "stored", w.sessions(), "s")
	check(t, "dry run", list(w.runAs(Options{Forced: true, DryRun: true}).Removed), "s")
}

// TestFullStore: on a full file system what would have to be archived stays.
func TestFullStore(t *testing.T) {
	if !isolated(t) {
		return
	}
	w := newWorld(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	w.dir = filepath.Join(dir, "state")
	w.open().Close()
	w.run()
	w.add("archived", func(r *fsstore.Record) { r.PID = "8" })
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	result := w.runAs(Options{Forced: true})
	check(t, "skipped", result.Skipped, Unavailable)
	check(t, "removed", list(result.Removed), "")
	check(t, "stored", w.sessions(), "archived")
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	w.now = time.Now()
	check(t, "removed with space", list(w.run().Removed), "archived")
	check(t, "resumable", w.resumable(), "archived")
}

// TestForeignStore: a store of another user is not touched.
func TestForeignStore(t *testing.T) {
	if !isolated(t) {
		return
	}
	w := newWorld(t)
	w.add("s", nil)
	for _, name := range []string{"sessions", "."} {
		path := filepath.Join(w.dir, name)
		if os.Lchown(path, 65534, 65534) != nil {
			// As root of a user namespace there is no other user but that of the machine.
			if err := syscall.Mount("/usr", path, "", syscall.MS_BIND, ""); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []Options{{Forced: true}, {Forced: true, DryRun: true}} {
			result := w.runAs(o)
			if result.Skipped != Unavailable || !errors.Is(result.Err, fsstore.ErrUnavailable) || len(result.Removed) > 0 {
				t.Errorf("%s, %+v: got %+v, want unavailable", name, o, result)
			}
		}
	}
}
