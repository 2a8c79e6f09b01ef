package listing

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// aware fails if nothing is told before a test's patience ends, and returns
// what is.
func (w *watcher) aware(t *testing.T, after string) []string {
	t.Helper()
	select {
	case <-w.told():
	case <-time.After(time.Minute):
		t.Fatalf("after %s nothing is told", after)
	}
	return w.read()
}

func newTestWatcher(t *testing.T) *watcher {
	t.Helper()
	w, err := newWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

// Whatever takes a file from its place is told, also while the file is open,
// and once.
func TestWatchFile(t *testing.T) {
	t.Parallel()
	for name, happen := range map[string]func(path, other string) error{
		"an unlink":          func(path, other string) error { return os.Remove(path) },
		"a rename":           func(path, other string) error { return os.Rename(path, other) },
		"a rename over it":   func(path, other string) error { return os.Rename(other, path) },
		"a removal of all":   func(path, other string) error { return os.RemoveAll(filepath.Dir(path)) },
		"a link and unlinks": func(path, other string) error { os.Link(path, path+".link"); return os.Remove(path) },
	} {
		w := newTestWatcher(t)
		dir := t.TempDir()
		path, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
		for _, file := range []string{path, other} {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		open, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // which is one watch
			if err := w.addFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if err := happen(path, other); err != nil {
			t.Fatal(err)
		}
		w.aware(t, name)
		open.Close()
		if names := w.read(); len(names) > 0 {
			t.Errorf("after %s something is told again: %q", name, names)
		}
	}
	if err := newTestWatcher(t).addFile(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// Of a directory renames and unlinks are told, by name.
func TestWatchDir(t *testing.T) {
	t.Parallel()
	w := newTestWatcher(t)
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(w.addDir(dir))
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	do(os.WriteFile(a, []byte("x"), 0o600))
	if names := w.read(); len(names) > 0 {
		t.Errorf("a write is told: %q", names)
	}
	do(os.Rename(a, b))
	do(os.Remove(b))
	if got, want := w.aware(t, "a rename"), []string{"a", "b", "b"}; !slices.Equal(got, want) {
		t.Errorf("what is told is %q, want %q", got, want)
	}
	do(os.Rename(dir, dir+".old"))
	if got, want := w.aware(t, "a rename of the directory"), []string{""}; !slices.Equal(got, want) {
		t.Errorf("what is told is %q, want %q", got, want)
	}
	do(os.Symlink(dir+".old", dir))
	if w.addDir(dir) == nil {
		t.Error("a link is followed")
	}
}
