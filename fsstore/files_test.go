package fsstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
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
