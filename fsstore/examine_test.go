package fsstore

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Where writers of a store would lock is known without making anything.
func TestNetwork(t *testing.T) {
	s, path := openStore(t)
	if network, locks, err := s.Network(); network || locks != "" || err != nil {
		t.Errorf("local: %v, %q, %v", network, locks, err)
	}
	run := t.TempDir()
	onNetwork(t, unix.NFS_SUPER_MAGIC, run)
	want := func(what, locks string) {
		t.Helper()
		if network, got, err := reopen(t, path, Read).Network(); !network || got != locks || err != nil {
			t.Errorf("%s: got %v, %q, %v; want %q", what, network, got, err, locks)
		}
	}
	want("not made yet", run+"/tongs-agents")
	if _, err := os.Stat(run + "/tongs-agents"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the locks: %v", err)
	}
	reopen(t, path, Write)
	want("made", run+"/tongs-agents")
	if err := os.Remove(run + "/tongs-agents"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), run+"/tongs-agents"); err != nil {
		t.Fatal(err)
	}
	want("a link", "")
	runtimeDir = func() string { return run + "/nowhere" }
	want("no run-time directory", "")
}

// What hooks could not do can be read where there are no sessions.
func TestReadHookErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadHookErrors(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if err := NoteHookError(dir, "disk full", 7); err != nil {
		t.Fatal(err)
	}
	if e, err := ReadHookErrors(dir); err != nil || e != (HookErrors{1, "disk full", 7}) {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := ReadHookErrors(dir + "/hook-errors"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a file: got %v", err)
	}
}
