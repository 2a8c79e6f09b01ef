package fsstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestStateDir(t *testing.T) {
	const unset = "unset"
	for _, test := range []struct{ name, state, xdg, home, want string }{
		{"all", "/state", "/xdg", "/home", "/state"},
		{"XDG", unset, "/xdg", "/home", "/xdg/tongs-agents"},
		{"HOME", unset, unset, "/home", "/home/.local/state/tongs-agents"},
		{"empty state", "", "/xdg", "/home", "/xdg/tongs-agents"},
		{"empty XDG", "", "", "/home", "/home/.local/state/tongs-agents"},
		{"relative state", "unset/state", "/xdg", "/home", "/xdg/tongs-agents"},
		{"relative states", "./state", "../xdg", "/home", "/home/.local/state/tongs-agents"},
		{"home in a tilde", "~/state", "~", "/home", "/home/.local/state/tongs-agents"},
		{"slashes at the end", "/state///", "/xdg", "/home", "/state"},
		{"slash at the end of XDG", unset, "/xdg/", "/home", "/xdg/tongs-agents"},
		{"slash at the end of HOME", unset, unset, "/home/", "/home/.local/state/tongs-agents"},
		{"white space", "/a b\n", unset, "/home", "/a b\n"},
	} {
		for variable, value := range map[string]string{
			"TONGS_AGENTS_STATE_DIR": test.state, "XDG_STATE_HOME": test.xdg, "HOME": test.home,
		} {
			t.Setenv(variable, value)
			if value == unset {
				os.Unsetenv(variable) // Setenv restores it
			}
		}
		if got, err := StateDir(); got != test.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestStateDirOfPasswd: without HOME, the password file knows.
func TestStateDirOfPasswd(t *testing.T) {
	for _, variable := range []string{"TONGS_AGENTS_STATE_DIR", "XDG_STATE_HOME", "HOME"} {
		t.Setenv(variable, "")
	}
	me := strconv.Itoa(os.Geteuid())
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	want, known := "", false
	for line := range strings.Lines(string(passwd)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) > 5 && f[2] == me && !known {
			want, known = f[5]+"/.local/state/tongs-agents", true
		}
	}
	for _, home := range []string{"", "relative"} {
		t.Setenv("HOME", home)
		got, err := StateDir()
		if known && (got != want || err != nil) {
			t.Errorf("HOME=%q: got %q, %v, want %q", home, got, err, want)
		}
		if !known && !errors.Is(err, ErrUnavailable) {
			t.Errorf("HOME=%q: got %q, %v, want ErrUnavailable", home, got, err)
		}
	}
	if got := passwdHome(-5); got != "" {
		t.Errorf("of a user without entry: got %q", got)
	}
}

func TestMissingStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "state")
	for _, access := range []Access{Read, Write} {
		if _, err := Open(path, access); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnavailable) {
			t.Errorf("access %d: got %v, want fs.ErrNotExist", access, err)
		}
	}
	if err := NoteHookError(path, "text", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("NoteHookError: got %v, want fs.ErrNotExist", err)
	}
	if got := names(t, filepath.Dir(filepath.Dir(filepath.Dir(path)))); len(got) != 0 {
		t.Errorf("%q was made", got)
	}
	// Without sessions only.
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without sessions: got %v, want fs.ErrNotExist", err)
	}
}

// TestUmask: whatever the umask is, what is made has the right mode, and a
// user who is not root can use it at once.
func TestUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077, 0o177, 0o277, 0o777} {
		tmp := t.TempDir()
		path := filepath.Join(tmp, "a", "b", "state")
		key := simple("s").Key
		unprivileged(t, func() {
			defer unix.Umask(unix.Umask(umask))
			s, err := Open(path, Create)
			if err != nil {
				t.Errorf("umask %03o: %v", umask, err)
				return
			}
			defer s.Close()
			for range 2 {
				if _, err := s.Update(key, Rules{Create: true, Wait: patience}, to(simple("s"))); err != nil {
					t.Errorf("umask %03o: %v", umask, err)
				}
			}
			if err := NoteHookError(path, "text", 1); err != nil {
				t.Errorf("umask %03o: %v", umask, err)
			}
		})
		err := filepath.WalkDir(filepath.Join(tmp, "a"), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			st, err := d.Info()
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = fs.ModeDir | 0o700
			}
			if err == nil && st.Mode() != want {
				t.Errorf("umask %03o: %s: mode %v, want %v", umask, strings.TrimPrefix(p, tmp), st.Mode(), want)
			}
			return err
		})
		if err != nil {
			t.Errorf("umask %03o: %v", umask, err)
		}
	}
}

// unprivileged calls do in a thread that the modes of files apply to, even if
// we are root.
func unprivileged(t *testing.T, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var sets [2]unix.CapUserData
		err := unix.Capget(&header, &sets[0])
		if err == nil {
			sets[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
			err = unix.Capset(&header, &sets[0])
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestWideDirectories: a writer narrows what others could enter, a reader
// changes nothing.
func TestWideDirectories(t *testing.T) {
	for _, mode := range []fs.FileMode{0o777, 0o755, 0o710, 0o701} {
		path := filepath.Join(t.TempDir(), "state")
		update(t, reopen(t, path, Create), simple("s").Key, to(simple("s")))
		dirs := []string{path, path + "/sessions"}
		for access, want := range map[Access]fs.FileMode{Read: mode, Write: 0o700, Create: 0o700} {
			for _, dir := range dirs {
				if err := os.Chmod(dir, mode); err != nil {
					t.Fatal(err)
				}
			}
			s := reopen(t, path, access)
			if records, bad, err := s.All(); len(records) != 1 || len(bad) != 0 || err != nil {
				t.Errorf("mode %o, access %d: got %d records, %v, %v", mode, access, len(records), bad, err)
			}
			for _, dir := range dirs {
				if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != want {
					t.Errorf("mode %o, access %d: %s has mode %v, %v, want %v", mode, access, filepath.Base(dir), st.Mode().Perm(), err, want)
				}
			}
		}
	}
}

// TestWideRecord: a record that others may read is read, and written anew with
// the right mode.
func TestWideRecord(t *testing.T) {
	s, path := openStore(t)
	file := put(t, path, simple("s"))
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := update(t, s, simple("s").Key, to(simple("s"))); got.Arrival != 2 {
		t.Errorf("got arrival %d, want 2", got.Arrival)
	}
	if st, err := os.Stat(file); err != nil || st.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", st.Mode(), err)
	}
}

// TestReaderWritesNothing: reading leaves every file and directory as it was.
func TestReaderWritesNothing(t *testing.T) {
	w, path := openStore(t)
	update(t, w, simple("s").Key, to(simple("s")))
	before := describe(t, path) + describe(t, path+"/sessions")
	s := reopen(t, path, Read)
	s.All()
	s.Launch(strings.Repeat("0", 32))
	s.HookErrors()
	if after := describe(t, path) + describe(t, path+"/sessions"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// TestUnreadableRecord: one file without permission hides no other.
func TestUnreadableRecord(t *testing.T) {
	s, path := openStore(t)
	good := update(t, s, simple("good").Key, to(simple("good")))
	if err := os.Chmod(put(t, path, simple("closed")), 0); err != nil {
		t.Fatal(err)
	}
	unprivileged(t, func() {
		records, bad, err := s.All()
		if err != nil || len(records) != 1 || len(bad) != 1 || !errors.Is(bad[0].Err, fs.ErrPermission) {
			t.Errorf("All: got %d records, unreadable %v, %v", len(records), bad, err)
			return
		}
		equalRecords(t, "All", records[0], good)
		if _, err := s.Update(simple("closed").Key, Rules{Create: true, Wait: patience}, to(simple("closed"))); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Update: got %v, want ErrUnavailable", err)
		}
	})
}

// TestClosedDirectory: a directory that its owner closed is unusable, and says
// why.
func TestClosedDirectory(t *testing.T) {
	for _, sub := range []string{"", "/sessions"} {
		path := filepath.Join(t.TempDir(), "state")
		reopen(t, path, Create)
		if err := os.Chmod(path+sub, 0); err != nil {
			t.Fatal(err)
		}
		unprivileged(t, func() {
			for _, access := range []Access{Read, Write, Create} {
				if _, err := Open(path, access); !errors.Is(err, ErrUnavailable) || !errors.Is(err, fs.ErrPermission) {
					t.Errorf("closed %q, access %d: got %v, want ErrUnavailable", sub, access, err)
				}
			}
		})
		if err := os.Chmod(path+sub, 0o700); err != nil { // for the removal
			t.Fatal(err)
		}
	}
}
