package fsstore

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// A listing has every file that is there all the time, also while files are
// replaced. tmpfs is where they move.
func TestNamesWhileReplaced(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "names-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	store, err := Open(filepath.Join(dir, "state"), Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const files = 4000 // more than one getdents(2) lists
	sessions := filepath.Join(dir, "state", "sessions")
	replace := func(i int) error {
		temporary := filepath.Join(sessions, ".new")
		if err := os.WriteFile(temporary, nil, 0o600); err != nil {
			return err
		}
		return os.Rename(temporary, filepath.Join(sessions, strconv.Itoa(i%files)+recordSuffix))
	}
	for i := range files {
		if err := replace(i); err != nil {
			t.Fatal(err)
		}
	}
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if err := replace(i); err != nil {
				failed <- err
				return
			}
		}
	}()
	for range 10 {
		names, err := store.names()
		if err != nil {
			t.Fatal(err)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !IsRecordFile(name) })
		if len(names) != files {
			t.Errorf("%d names, want %d", len(names), files)
		}
	}
	close(done)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}
