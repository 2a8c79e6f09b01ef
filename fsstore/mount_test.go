package fsstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mountTmpfs mounts a small file system. The test is isolated.
func mountTmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Fatalf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// TestFull: on a full file system the old record stays, whole, and nothing
// else is left.
func TestFull(t *testing.T) {
	if !isolated(t) {
		return
	}
	for _, test := range []struct {
		name, options string
		fill          func(dir string) error
	}{
		{"no space", "size=128k", func(dir string) error {
			err := os.WriteFile(dir+"/filler", bytes.Repeat([]byte("x"), 256<<10), 0o600)
			if !errors.Is(err, unix.ENOSPC) {
				return fmt.Errorf("filled with %v, want ENOSPC", err)
			}
			return nil
		}},
		{"no inode", "size=1m,nr_inodes=20", func(dir string) error {
			for i := range 20 {
				err := os.WriteFile(fmt.Sprintf("%s/%d", dir, i), nil, 0o600)
				if errors.Is(err, unix.ENOSPC) {
					return nil
				} else if err != nil {
					return err
				}
			}
			return errors.New("there are inodes left")
		}},
	} {
		dir := t.TempDir()
		mountTmpfs(t, dir, test.options)
		path := filepath.Join(dir, "state")
		s := reopen(t, path, Create)
		want := update(t, s, simple("s").Key, to(simple("s")))
		if err := test.fill(dir); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		before := names(t, path, "sessions")
		large := simple("s")
		large.Cwd = strings.Repeat("x", MaxCwd)
		if _, err := s.Update(large.Key, Rules{Create: true, Wait: patience}, to(large)); !errors.Is(err, ErrUnavailable) || !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: got %v, want ErrUnavailable by ENOSPC", test.name, err)
		}
		if _, err := s.Update(simple("new").Key, Rules{Create: true, Wait: patience}, to(simple("new"))); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: new record: got %v, want ErrUnavailable", test.name, err)
		}
		if err := NoteHookError(path, "text", 1); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: NoteHookError: got %v, want ErrUnavailable", test.name, err)
		}
		records, bad, err := s.All()
		if err != nil || len(bad) != 0 || len(records) != 1 {
			t.Fatalf("%s: All: got %d records, unreadable %v, %v, want the old one", test.name, len(records), bad, err)
		}
		equalRecords(t, test.name, records[0], want)
		for _, name := range names(t, path, "sessions") {
			if strings.HasPrefix(name, ".fleet-tmp-") || isRecordFile(name) && name != recordFile(want.digest()) {
				t.Errorf("%s: %s is left, before: %q", test.name, name, before)
			}
		}
		if got := names(t, path); len(got) != 1 {
			t.Errorf("%s: the state directory holds %q", test.name, got)
		}
		syscall.Unmount(dir, syscall.MNT_DETACH)
	}
}

func TestReadOnly(t *testing.T) {
	if !isolated(t) {
		return
	}
	dir := t.TempDir()
	mountTmpfs(t, dir, "size=1m")
	path := filepath.Join(dir, "state")
	s := reopen(t, path, Create)
	want := update(t, s, simple("s").Key, to(simple("s")))
	if err := os.Chmod(path, 0o755); err != nil { // which a writer would narrow
		t.Fatal(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, key := range []Key{want.Key, simple("new").Key} {
		if _, err := s.Update(key, Rules{Create: true, Wait: patience}, to(simple("s"))); !errors.Is(err, ErrUnavailable) || !errors.Is(err, unix.EROFS) {
			t.Errorf("%s: got %v, want ErrUnavailable by EROFS", key.Session, err)
		}
	}
	for _, access := range []Access{Write, Create} {
		if _, err := Open(path, access); !errors.Is(err, ErrUnavailable) {
			t.Errorf("access %d: got %v, want ErrUnavailable", access, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "other", "state"), Create); !errors.Is(err, ErrUnavailable) {
		t.Errorf("new store: got %v, want ErrUnavailable", err)
	}
	reader := reopen(t, path, Read)
	records, bad, err := reader.All()
	if err != nil || len(bad) != 0 || len(records) != 1 {
		t.Fatalf("All: got %d records, unreadable %v, %v", len(records), bad, err)
	}
	equalRecords(t, "read", records[0], want)
}

// TestRemoved: the directory of an open store is removed.
func TestRemoved(t *testing.T) {
	s, path := openStore(t)
	update(t, s, simple("s").Key, to(simple("s")))
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(simple("s").Key, Rules{Create: true, Wait: patience}, to(simple("s"))); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Update: got %v, want ErrUnavailable", err)
	}
	if _, err := s.Update(simple("s").Key, Rules{Wait: patience}, to(simple("s"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Update without Create: got %v, want fs.ErrNotExist", err)
	}
	if records, _, err := s.All(); len(records) != 0 || err != nil && !errors.Is(err, ErrUnavailable) {
		t.Errorf("All: got %d records, %v", len(records), err)
	}
	if _, err := s.HookErrors(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("HookErrors: got %v, want fs.ErrNotExist", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the directory is back")
	}
	// Another writer makes it anew.
	again := reopen(t, path, Create)
	if got := update(t, again, simple("s").Key, to(simple("s"))); got.Arrival != 1 {
		t.Errorf("got arrival %d, want 1", got.Arrival)
	}
}
