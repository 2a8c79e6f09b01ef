package fsstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
	"tongs-agents/lockfile"
)

// onNetwork makes the store's file system appear to be another one, with the
// given run-time directory.
func onNetwork(t *testing.T, magic uint32, run string) {
	oldType, oldRun := fsType, runtimeDir
	t.Cleanup(func() { fsType, runtimeDir = oldType, oldRun })
	fsType = func(linux.FD) (uint32, error) { return magic, nil }
	runtimeDir = func() string { return run }
}

func lockFiles(t *testing.T, dir string) []string {
	t.Helper()
	var locks []string
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, ".lock") {
			locks = append(locks, name)
		}
	}
	return locks
}

func TestNetworkLocks(t *testing.T) {
	for name, magic := range map[string]uint32{
		"NFS": unix.NFS_SUPER_MAGIC, "SMB": unix.SMB_SUPER_MAGIC, "CIFS": 0xff534d42, "SMB2": 0xfe534d42, "9p": 0x01021997,
		"Ceph": 0x00c36400, "Lustre": 0x0bd00bd0, "AFS": 0x5346414f, "kAFS": 0x6b414653, "FUSE": 0x65735546,
	} {
		run := t.TempDir()
		onNetwork(t, magic, run)
		s, path := openStore(t)
		key := simple("s").Key
		want := []string{recordLock(key.digest()), key.sessionLock()}
		r := update(t, s, key, func(*Record) (*Record, error) {
			// A hook of the same user is kept out.
			other := reopen(t, path, Write)
			if _, err := other.Update(key, Rules{Create: true, Wait: 1}, to(simple("s"))); !errors.Is(err, ErrLockTimeout) {
				t.Errorf("%s: second writer: got %v, want ErrLockTimeout", name, err)
			}
			return simple("s"), nil
		})
		if got := lockFiles(t, run+"/tongs-agents"); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: locks in the run-time directory: got %q, want %q", name, got, want)
		}
		if got := lockFiles(t, path+"/sessions"); len(got) != 0 {
			t.Errorf("%s: locks in the store: %q", name, got)
		}
		if st, err := os.Stat(run + "/tongs-agents"); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v of the lock directory", name, st.Mode(), err)
		}
		equalRecords(t, name, get(t, s, key), r)
	}
}

// TestLocalLocks: on any other file system the locks lie beside the records.
func TestLocalLocks(t *testing.T) {
	for name, magic := range map[string]uint32{
		"ext4": unix.EXT4_SUPER_MAGIC, "btrfs": unix.BTRFS_SUPER_MAGIC, "tmpfs": unix.TMPFS_MAGIC, "overlay": unix.OVERLAYFS_SUPER_MAGIC, "none": 0,
	} {
		run := t.TempDir()
		onNetwork(t, magic, run)
		s, path := openStore(t)
		update(t, s, simple("s").Key, to(simple("s")))
		if got := lockFiles(t, path+"/sessions"); len(got) != 2 {
			t.Errorf("%s: locks in the store: %q, want 2", name, got)
		}
		if got := names(t, run); len(got) != 0 {
			t.Errorf("%s: the run-time directory holds %q", name, got)
		}
	}
}

// TestNetworkWithoutLocks: without a run-time directory of ours, writes go by
// rename alone.
func TestNetworkWithoutLocks(t *testing.T) {
	tmp := t.TempDir()
	foreign := "/" // is root's
	if os.Geteuid() == 0 {
		foreign = filepath.Join(tmp, "foreign")
		if err := os.Mkdir(foreign, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	link, linked := filepath.Join(tmp, "link"), filepath.Join(tmp, "linked")
	for _, dir := range []string{linked, filepath.Join(tmp, "inner"), filepath.Join(tmp, "target")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(linked, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../target", filepath.Join(tmp, "inner", "tongs-agents")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tmp, "file")
	writeText(t, file, "")
	for name, run := range map[string]string{
		"missing": filepath.Join(tmp, "missing"), "foreign": foreign, "link": link,
		"link inside": filepath.Join(tmp, "inner"), "file": file,
	} {
		onNetwork(t, unix.NFS_SUPER_MAGIC, run)
		s, path := openStore(t)
		for want := int64(1); want <= 3; want++ {
			if got := update(t, s, simple("s").Key, to(simple("s"))); got.Arrival != want {
				t.Errorf("%s: got arrival %d, want %d", name, got.Arrival, want)
			}
		}
		update(t, s, unresolvedRecord("u").Key, to(unresolvedRecord("u")))
		update(t, s, simple("u").Key, to(simple("u")))
		if records, bad, err := s.All(); len(records) != 2 || len(bad) != 0 || err != nil {
			t.Errorf("%s: got %d records, %v, %v, want 2", name, len(records), bad, err)
		}
		if got := lockFiles(t, path+"/sessions"); len(got) != 0 {
			t.Errorf("%s: locks in the store: %q", name, got)
		}
	}
	for _, dir := range []string{linked, filepath.Join(tmp, "target")} {
		if got := names(t, dir); len(got) != 0 {
			t.Errorf("%s holds %q", filepath.Base(dir), got)
		}
	}
	if _, err := os.Lstat(filepath.Join(tmp, "missing")); err == nil {
		t.Error("a run-time directory was made")
	}
}

// TestReaderTakesNoLock: a reader asks neither for the file system nor for
// locks.
func TestReaderTakesNoLock(t *testing.T) {
	w, path := openStore(t)
	update(t, w, simple("s").Key, to(simple("s")))
	onNetwork(t, unix.NFS_SUPER_MAGIC, filepath.Join(t.TempDir(), "missing"))
	fsType = func(linux.FD) (uint32, error) {
		t.Error("asked for the type of the file system")
		return 0, unix.EIO
	}
	key := simple("s").Key
	for _, name := range []string{key.sessionLock(), recordLock(key.digest())} {
		lock, err := lockfile.Try(w.locks, name)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Release()
	}
	s := reopen(t, path, Read)
	within(t, "All", func() {
		if records, _, err := s.All(); len(records) != 1 || err != nil {
			t.Errorf("got %d records, %v", len(records), err)
		}
	})
}

// TestFileSystemUnknown: if the type cannot be learned, nothing is locked or
// written.
func TestFileSystemUnknown(t *testing.T) {
	onNetwork(t, 0, t.TempDir())
	fsType = func(linux.FD) (uint32, error) { return 0, unix.EIO }
	if _, err := Open(filepath.Join(t.TempDir(), "state"), Create); !errors.Is(err, ErrUnavailable) || !errors.Is(err, unix.EIO) {
		t.Errorf("got %v, want ErrUnavailable by EIO", err)
	}
}
