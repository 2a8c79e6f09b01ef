package fsstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// hostile are things that may stand in the place of a record. Each is made at
// path and may use the directory outside.
var hostile = []struct {
	name string
	make func(t *testing.T, path, outside string)
	why  string // what All says of it
	heal bool   // an update replaces it
}{
	{"empty", func(t *testing.T, path, outside string) { writeText(t, path, "") }, "is empty", true},
	{"half", func(t *testing.T, path, outside string) {
		text := string(simple("half").AppendJSON(nil))
		writeText(t, path, text[:len(text)/2])
	}, "unexpected EOF", true},
	{"text", func(t *testing.T, path, outside string) { writeText(t, path, "{no JSON") }, "malformed JSON", true},
	{"zeros", func(t *testing.T, path, outside string) { writeText(t, path, strings.Repeat("\x00", 500)) }, "malformed JSON", true},
	{"another record", func(t *testing.T, path, outside string) {
		writeText(t, path, string(simple("elsewhere").AppendJSON(nil)))
	}, "canonical_id", true},
	{"too long", func(t *testing.T, path, outside string) {
		text := string(simple("too long").AppendJSON(nil))
		writeText(t, path, text+strings.Repeat(" ", MaxRecord+1-len(text)))
	}, "is longer than 65536 bytes", true},
	{"sparse, 2 GB", func(t *testing.T, path, outside string) {
		writeText(t, path, "")
		if err := os.Truncate(path, 2<<30); err != nil {
			t.Fatal(err)
		}
	}, "is longer than 65536 bytes", true},
	{"link to a record", func(t *testing.T, path, outside string) {
		target := filepath.Join(outside, "target.json")
		writeText(t, target, string(simple("link to a record").AppendJSON(nil)))
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}, "is no regular file", true},
	{"dangling link", func(t *testing.T, path, outside string) {
		if err := os.Symlink(filepath.Join(outside, "missing"), path); err != nil {
			t.Fatal(err)
		}
	}, "is no regular file", true},
	{"link to a FIFO", func(t *testing.T, path, outside string) {
		if err := unix.Mkfifo(filepath.Join(outside, "fifo"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(outside, "fifo"), path); err != nil {
			t.Fatal(err)
		}
	}, "is no regular file", true},
	{"FIFO", func(t *testing.T, path, outside string) {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}, "is no regular file", true},
	{"socket", func(t *testing.T, path, outside string) {
		// By a short path: an address holds 108 bytes.
		dir, err := os.Open(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		short := filepath.Join(outside, "s")
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: short}); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(short, path); err != nil {
			t.Fatal(err)
		}
	}, "is no regular file", true},
	{"directory", func(t *testing.T, path, outside string) {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}, "is no regular file", false},
}

// TestHostileRecords: what stands in the place of a record is reported, hides
// no other record, blocks nobody and is not followed.
func TestHostileRecords(t *testing.T) {
	s, path := openStore(t)
	good := update(t, s, simple("good").Key, to(simple("good")))
	outside := t.TempDir()
	for _, h := range hostile {
		h.make(t, recordPath(path, simple(h.name).Key), outside)
	}
	before := describe(t, outside)

	reader := reopen(t, path, Read)
	within(t, "All", func() {
		records, bad, err := reader.All()
		if err != nil || len(records) != 1 {
			t.Fatalf("All: got %d records, %v, want the good one", len(records), err)
		}
		equalRecords(t, "All", records[0], good)
		reasons := make(map[string]string)
		for _, u := range bad {
			reasons[u.Name] = u.Err.Error()
			if !errors.Is(u.Err, ErrInvalid) {
				t.Errorf("%s: got %v, want ErrInvalid", u.Name, u.Err)
			}
		}
		if len(reasons) != len(hostile) {
			t.Errorf("All: got %d unreadable, want %d", len(reasons), len(hostile))
		}
		for _, h := range hostile {
			if got := reasons[sessionsDir+"/"+recordFile(simple(h.name).digest())]; !strings.Contains(got, h.why) {
				t.Errorf("%s: got the reason %q, want %q in it", h.name, got, h.why)
			}
		}
	})

	for _, h := range hostile {
		within(t, "Update of "+h.name, func() {
			key := simple(h.name).Key
			got, err := s.Update(key, Rules{Create: true, Wait: patience}, func(old *Record) (*Record, error) {
				if old != nil {
					t.Errorf("%s: got %+v as the stored record", h.name, old)
				}
				return simple(h.name), nil
			})
			if !h.heal {
				if !errors.Is(err, ErrUnavailable) {
					t.Errorf("%s: got %v, want ErrUnavailable", h.name, err)
				}
				return
			}
			if err != nil {
				t.Errorf("%s: %v", h.name, err)
				return
			}
			equalRecords(t, h.name, get(t, s, key), got)
			if st, err := os.Lstat(recordPath(path, key)); err != nil || st.Mode() != 0o600 {
				t.Errorf("%s: mode %v, %v after the update", h.name, st.Mode(), err)
			}
		})
	}
	if after := describe(t, outside); after != before {
		t.Errorf("outside the store:\n%s\nbecame\n%s", before, after)
	}
	checkNoTemp(t, path)
}

// describe lists a directory with modes and contents.
func describe(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range names(t, dir) {
		st, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, name, st.Mode(), st.Size(), st.ModTime().UnixNano())
		if st.Mode().IsRegular() {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", text)
		}
	}
	return b.String()
}

// TestHostileLocks: what stands in the place of a lock fails the update, and
// is not touched.
func TestHostileLocks(t *testing.T) {
	outside := t.TempDir()
	target := filepath.Join(outside, "target")
	writeText(t, target, "text")
	before := describe(t, outside)
	for _, lock := range []struct {
		name string
		file func(Key) string
	}{
		{"session lock", Key.sessionLock},
		{"record lock", func(k Key) string { return recordLock(k.digest()) }},
	} {
		for what, make := range map[string]func(string) error{
			"link":          func(p string) error { return os.Symlink(target, p) },
			"dangling link": func(p string) error { return os.Symlink(outside+"/missing", p) },
			"directory":     func(p string) error { return os.Mkdir(p, 0o700) },
			"FIFO":          func(p string) error { return unix.Mkfifo(p, 0o600) },
		} {
			s, path := openStore(t)
			r := simple("s")
			put(t, path, r)
			if err := make(path + "/sessions/" + lock.file(r.Key)); err != nil {
				t.Fatal(err)
			}
			within(t, what, func() {
				_, err := s.Update(r.Key, Rules{Wait: patience}, func(old *Record) (*Record, error) {
					t.Errorf("%s as %s: change was called", what, lock.name)
					return old, nil
				})
				if !errors.Is(err, ErrUnavailable) {
					t.Errorf("%s as %s: got %v, want ErrUnavailable", what, lock.name, err)
				}
			})
			equalRecords(t, what, get(t, s, r.Key), r)
			update(t, s, simple("other").Key, to(simple("other")))
		}
	}
	if after := describe(t, outside); after != before {
		t.Errorf("outside the store:\n%s\nbecame\n%s", before, after)
	}
}

// TestForeignRecord: a record of another user is read by nobody, and replaced.
func TestForeignRecord(t *testing.T) {
	if !isolated(t) {
		return
	}
	s, path := openStore(t)
	good := update(t, s, simple("good").Key, to(simple("good")))
	makeForeign(t, put(t, path, simple("foreign")))
	records, bad, err := s.All()
	if err != nil || len(records) != 1 || len(bad) != 1 || !strings.Contains(bad[0].Err.Error(), "belongs to uid") {
		t.Fatalf("All: got %d records, unreadable %v, %v", len(records), bad, err)
	}
	equalRecords(t, "All", records[0], good)
	_, err = s.Update(simple("foreign").Key, Rules{Create: true, Wait: patience}, func(old *Record) (*Record, error) {
		if old != nil {
			t.Errorf("got %+v as the stored record", old)
		}
		return simple("foreign"), nil
	})
	// A mount, where it had to be one, cannot be replaced.
	if err != nil && !errors.Is(err, unix.EBUSY) {
		t.Error(err)
	}
}

func TestForeignLock(t *testing.T) {
	if !isolated(t) {
		return
	}
	s, path := openStore(t)
	r := simple("s")
	put(t, path, r)
	lock := path + "/sessions/" + r.Key.sessionLock()
	writeText(t, lock, "")
	makeForeign(t, lock)
	if _, err := s.Update(r.Key, Rules{Wait: patience}, to(r)); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

// TestForeignDirectories: a directory of another user is not used, for nothing.
func TestForeignDirectories(t *testing.T) {
	if !isolated(t) {
		return
	}
	for _, sub := range []string{"", "/sessions"} {
		path := filepath.Join(t.TempDir(), "state")
		s := reopen(t, path, Create)
		update(t, s, simple("s").Key, to(simple("s")))
		before := names(t, path, "sessions")
		makeForeign(t, path+sub)
		for _, access := range []Access{Read, Write, Create} {
			if _, err := Open(path, access); !errors.Is(err, ErrUnavailable) || errors.Is(err, fs.ErrNotExist) ||
				!strings.Contains(err.Error(), "belongs to uid") {
				t.Errorf("foreign %q, access %d: got %v, want ErrUnavailable that says why", sub, access, err)
			}
		}
		if sub == "/sessions" {
			continue
		}
		if err := NoteHookError(path, "text", 1); !errors.Is(err, ErrUnavailable) {
			t.Errorf("NoteHookError: got %v, want ErrUnavailable", err)
		}
		// It was open before: root may still have changed it.
		if after, err := s.names(); err == nil && len(after) != len(before) {
			t.Errorf("sessions/ holds %q, want %q", after, before)
		}
	}
}

// TestLinkedDirectories: the state directory and what is in it are no links,
// but the way to it may be.
func TestLinkedDirectories(t *testing.T) {
	tmp := t.TempDir()
	elsewhere := filepath.Join(tmp, "elsewhere")
	update(t, reopen(t, elsewhere, Create), simple("s").Key, to(simple("s")))
	for name, target := range map[string]string{"link": elsewhere, "relative": "elsewhere", "dangling": filepath.Join(tmp, "missing")} {
		link := filepath.Join(tmp, name)
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		for _, access := range []Access{Read, Write, Create} {
			if _, err := Open(link, access); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s as state directory, access %d: got %v, want ErrUnavailable that says why", name, access, err)
			}
			state := filepath.Join(tmp, name+"-sessions")
			if err := os.MkdirAll(state, 0o700); err != nil {
				t.Fatal(err)
			}
			os.Symlink(target, state+"/sessions")
			if _, err := Open(state, access); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s as sessions, access %d: got %v, want ErrUnavailable that says why", name, access, err)
			}
		}
		if err := NoteHookError(link, "text", 1); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: NoteHookError: got %v, want ErrUnavailable", name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(tmp, "missing")); err == nil {
		t.Error("the target of a dangling link was made")
	}

	// A parent that is a link, and one that is to be made below a link.
	if err := os.Symlink(tmp, filepath.Join(tmp, "parent")); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(filepath.Join(tmp, "parent", "elsewhere"), Read); err != nil {
		t.Error(err)
	} else {
		s.Close()
	}
	if s, err := Open(filepath.Join(tmp, "parent", "new", "deep", "state"), Create); err != nil {
		t.Error(err)
	} else {
		s.Close()
	}
}

// TestNoDirectory: a file, FIFO or the like in the place of a directory.
func TestNoDirectory(t *testing.T) {
	tmp := t.TempDir()
	writeText(t, tmp+"/file", "text")
	if err := unix.Mkfifo(tmp+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "fifo"} {
		for _, access := range []Access{Read, Write, Create} {
			within(t, name, func() {
				if _, err := Open(tmp+"/"+name, access); !errors.Is(err, ErrUnavailable) || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s, access %d: got %v, want ErrUnavailable", name, access, err)
				}
				if _, err := Open(tmp+"/"+name+"/state", access); !errors.Is(err, ErrUnavailable) {
					t.Errorf("below %s, access %d: got %v, want ErrUnavailable", name, access, err)
				}
			})
		}
	}
}
