package fsstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestHookErrors(t *testing.T) {
	s, path := openStore(t)
	if got, err := s.HookErrors(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: got %+v, %v, want fs.ErrNotExist", got, err)
	}
	long := strings.Repeat("é", maxHookError)
	for i, text := range []string{"first \"quoted\"\n", "", long, "\xff\x00\u202e"} {
		if err := NoteHookError(path, text, int64(1000+i)); err != nil {
			t.Fatal(err)
		}
		got, err := s.HookErrors()
		if err != nil || got.Count != int64(i+1) || got.TS != int64(1000+i) {
			t.Errorf("%.20q: got %+v, %v, want count %d", text, got, err, i+1)
		}
		if i == 0 && got.Last != text || i == 2 && got.Last != long[:maxHookError] {
			t.Errorf("got %.50q, want %.50q", got.Last, text)
		}
		if st, err := os.Lstat(path + "/hook-errors"); err != nil || st.Mode() != 0o600 {
			t.Errorf("mode %v, %v, want 0600", st.Mode(), err)
		}
	}
	if got := names(t, path); len(got) != 2 {
		t.Errorf("the state directory holds %q", got)
	}
}

// TestHookErrorsHealed: whatever stands in the place of the file is replaced.
func TestHookErrorsHealed(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "half": `{"count":5,`, "array": "[]", "text as count": `{"count":"5"}`, "long": strings.Repeat("x", MaxRecord+1),
		"NUL": `{"count":5,"last":"\u0000"}`, "null": "null",
	} {
		s, path := openStore(t)
		writeText(t, path+"/hook-errors", text)
		if got, err := s.HookErrors(); !errors.Is(err, ErrInvalid) || got != (HookErrors{}) {
			t.Errorf("%s: got %+v, %v, want ErrInvalid", name, got, err)
		}
		if err := NoteHookError(path, "text", 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := s.HookErrors(); err != nil || got != (HookErrors{1, "text", 1}) {
			t.Errorf("%s: got %+v, %v afterwards", name, got, err)
		}
	}
	s, path := openStore(t)
	target := t.TempDir() + "/target"
	writeText(t, target, "text")
	if err := os.Symlink(target, path+"/hook-errors"); err != nil {
		t.Fatal(err)
	}
	if err := NoteHookError(path, "text", 1); err != nil {
		t.Error(err)
	}
	if got, err := s.HookErrors(); err != nil || got.Count != 1 {
		t.Errorf("in the place of a link: got %+v, %v", got, err)
	}
	checkText(t, target, "text")
}

func TestLaunch(t *testing.T) {
	s, path := openStore(t)
	id := strings.Repeat("0123456789abcdef", 2)
	if _, err := s.Launch(id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no launches: got %v, want fs.ErrNotExist", err)
	}
	dir := path + "/launches"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Launch(id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such launch: got %v, want fs.ErrNotExist", err)
	}
	file := dir + "/" + id + ".json"
	writeText(t, file, `{"launch_id":"x","profile":"work","argv":["a"],"cwd":"/","pid":"5","process_start":"6","boot_id":"b"}`)
	want := Launch{ID: id, Profile: "work", PID: "5", ProcessStart: "6", BootID: "b"}
	if got, err := s.Launch(id); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for name, text := range map[string]string{
		"empty": "", "half": `{"pid":"5"`, "number": `{"pid":5}`, "array": "[]", "NUL": `{"pid":"\u0000"}`, "long": strings.Repeat(" ", MaxRecord+1),
	} {
		writeText(t, file, text)
		if _, err := s.Launch(id); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	within(t, "FIFO", func() {
		if _, err := s.Launch(id); !errors.Is(err, ErrInvalid) {
			t.Errorf("FIFO: got %v, want ErrInvalid", err)
		}
	})
	for _, bad := range []string{"", id[1:], id + "0", strings.ToUpper(id), "../sessions/" + id[12:], strings.Repeat("g", 32)} {
		if _, err := s.Launch(bad); !errors.Is(err, ErrInvalid) || IsLaunchID(bad) {
			t.Errorf("%q: got %v, want ErrInvalid", bad, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Launch(id); !errors.Is(err, ErrUnavailable) {
		t.Errorf("link: got %v, want ErrUnavailable", err)
	}
}

// TestAllRemoved: a record that goes between the listing and the reading is
// neither read nor unreadable.
func TestAllRemoved(t *testing.T) {
	s, path := openStore(t)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			r := simple(fmt.Sprint(i % 20))
			put(t, path, r)
			os.Rename(recordPath(path, r.Key), recordPath(path, r.Key)+".gone")
			os.Remove(recordPath(path, r.Key) + ".gone")
		}
	}()
	for range 200 {
		records, bad, err := s.All()
		if err != nil || len(records) > 20 {
			t.Errorf("got %d records, %v", len(records), err)
		}
		for _, u := range bad {
			// put writes in place, as no writer of ours does.
			if !errors.Is(u.Err, ErrInvalid) {
				t.Errorf("unreadable: %v", u)
			}
		}
	}
	close(stop)
	<-done
}
