package fsstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openArchive(t testing.TB, s *Store) *Archive {
	t.Helper()
	a, err := s.Archive()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// TestArchiveRoundTrip: an entry is the record and when it was idle from.
func TestArchiveRoundTrip(t *testing.T) {
	s, path := openStore(t)
	a := openArchive(t, s)
	want := complete()
	if _, err := a.Get(want.SessionDigest()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: got %v, want fs.ErrNotExist", err)
	}
	if all, bad, err := a.All(); len(all)+len(bad) > 0 || err != nil {
		t.Errorf("before: got %v, %v, %v", all, bad, err)
	}
	if err := errors.Join(a.Remove(want.SessionDigest()), a.Sync(a.Changed())); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path + "/resumable"); err == nil {
		t.Error("there is a directory before there is an entry")
	}

	if written, err := a.Put(want, 1700000042); err != nil || !written {
		t.Fatal(written, err)
	}
	// Whoever opened it before and whoever opens it now see it.
	for name, a := range map[string]*Archive{"same": a, "reader": openArchive(t, reopen(t, path, Read))} {
		got, err := a.Get(want.SessionDigest())
		if err != nil || got.IdleFrom != 1700000042 {
			t.Fatalf("%s: got %+v, %v", name, got, err)
		}
		equalRecords(t, name, got.Record, want)
	}
	// Again: idle_from does not pile up.
	got, _ := a.Get(want.SessionDigest())
	if _, err := a.Put(got.Record, 5); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Get(want.SessionDigest()); err != nil || got.IdleFrom != 5 || len(got.Unknown) != len(want.Unknown) {
		t.Errorf("again: got %+v, %v", got, err)
	}
	if err := a.Sync(a.Changed()); err != nil {
		t.Error(err)
	}
	for range 2 { // one that is gone is no error
		if err := a.Remove(want.SessionDigest()); err != nil {
			t.Error(err)
		}
	}
	if got := names(t, path, "resumable"); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
}

// TestArchivePut: an entry with a later event stays.
func TestArchivePut(t *testing.T) {
	in := func(boot string, ts, boottime int64) func(*Record) {
		return func(r *Record) { r.BootID, r.TS, r.Boottime = boot, ts, boottime }
	}
	for _, tt := range []struct {
		name     string
		old, new func(*Record)
		replaced bool
	}{
		{"later by the time since boot", in("b", 9, 1), in("b", 8, 2), true},
		{"earlier by the time since boot", in("b", 8, 2), in("b", 9, 1), false},
		{"later by the clock, another boot", in("a", 8, 2), in("b", 9, 1), true},
		{"earlier by the clock, another boot", in("a", 9, 1), in("b", 8, 2), false},
		{"later by the clock, no boot", in("", 8, 2), in("", 9, 1), true},
		{"without time since boot", in("b", 8, 0), in("b", 9, 5), true},
		{"the same", in("b", 8, 5), in("b", 8, 5), true},
	} {
		s, _ := openStore(t)
		a := openArchive(t, s)
		old, new := simple("s"), simple("s")
		tt.old(old)
		tt.new(new)
		old.Title, new.Title = "old", "new"
		_, oldErr := a.Put(old, 1)
		_, newErr := a.Put(new, 2)
		if err := errors.Join(oldErr, newErr); err != nil {
			t.Fatal(err)
		}
		got, err := a.Get(old.SessionDigest())
		if err != nil || (got.Title == "new") != tt.replaced || (got.IdleFrom == 2) != tt.replaced {
			t.Errorf("%s: got %s from %d, %v; replaced: want %t", tt.name, got.Title, got.IdleFrom, err, tt.replaced)
		}
	}
}

// TestHostileArchive: what is no entry hides no other one, and is replaced by
// one if it can be.
func TestHostileArchive(t *testing.T) {
	outside := t.TempDir()
	for _, h := range hostile {
		s, path := openStore(t)
		a := openArchive(t, s)
		good := simple("good")
		if _, err := a.Put(good, 1); err != nil {
			t.Fatal(err)
		}
		bad := simple(h.name)
		file := filepath.Join(path, "resumable", bad.SessionDigest()+".json")
		h.make(t, file, filepath.Join(outside, mkdir(t, outside, h.name)))
		within(t, h.name, func() {
			if _, err := a.Get(bad.SessionDigest()); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: Get: got %v, want ErrInvalid", h.name, err)
			}
			all, unreadable, err := a.All()
			if err != nil || len(all) != 1 || len(unreadable) != 1 {
				t.Errorf("%s: All: got %d and %v, %v", h.name, len(all), unreadable, err)
			}
			if _, err := a.Put(bad, 1); (err == nil) != h.heal {
				t.Errorf("%s: Put: got %v", h.name, err)
			}
		})
	}
}

func mkdir(t *testing.T, dir, name string) string {
	t.Helper()
	name = strings.Map(func(r rune) rune {
		if r == ' ' || r == ',' {
			return '-'
		}
		return r
	}, name)
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestUnusableArchive: a directory that is none or not ours to trust.
func TestUnusableArchive(t *testing.T) {
	s, path := openStore(t)
	writeText(t, path+"/resumable", "")
	if _, err := s.Archive(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a file: got %v, want ErrUnavailable", err)
	}
	os.Remove(path + "/resumable")
	a := openArchive(t, s)
	if err := os.Symlink(t.TempDir(), path+"/resumable"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Archive(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a link: got %v, want ErrUnavailable", err)
	}
	if _, err := a.Put(simple("s"), 1); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Put: got %v, want ErrUnavailable", err)
	}
}

// TestArchiveNarrowed: like the other directories of a store, the archive is
// narrowed by whoever may write there.
func TestArchiveNarrowed(t *testing.T) {
	s, path := openStore(t)
	if _, err := openArchive(t, s).Put(simple("s"), 1); err != nil {
		t.Fatal(err)
	}
	for _, access := range []Access{Read, Write, Create} {
		if err := os.Chmod(path+"/resumable", 0o777); err != nil {
			t.Fatal(err)
		}
		openArchive(t, reopen(t, path, access))
		want := os.FileMode(0o700)
		if access == Read {
			want = 0o777
		}
		if fi, err := os.Stat(path + "/resumable"); err != nil || fi.Mode().Perm() != want {
			t.Errorf("opened for %v: %v, %v, want %v", access, fi.Mode(), err, want)
		}
	}
}
