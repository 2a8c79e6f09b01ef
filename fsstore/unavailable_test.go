package fsstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// TestUnavailableText: an error names the state directory once, what is wrong
// in it, and no system call.
func TestUnavailableText(t *testing.T) {
	tmp := t.TempDir()
	const dir = "/state"
	for _, test := range []struct {
		err  error
		want string
	}{
		{&UnavailableError{dir, &fs.PathError{Op: "openat", Path: dir, Err: unix.EACCES}}, "store /state unavailable: permission denied"},
		{&UnavailableError{dir, &fs.PathError{Op: "openat", Path: "sessions", Err: unix.EACCES}}, "store /state unavailable: sessions: permission denied"},
		{&UnavailableError{dir, &linux.CallError{Call: "write", Err: unix.ENOSPC}}, "store /state unavailable: no space left on device"},
		{unavailable(&fs.PathError{Op: "openat", Path: "resumable", Err: unix.EACCES}), "store unavailable: resumable: permission denied"},
		{unavailable(errors.New("why")), "store unavailable: why"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		if !errors.Is(fmt.Errorf("around: %w", test.err), ErrUnavailable) {
			t.Errorf("%v is not ErrUnavailable", test.err)
		}
	}

	if err := errors.Join(os.Mkdir(tmp+"/real", 0o700), os.Symlink("real", tmp+"/link"), os.WriteFile(tmp+"/file", nil, 0o600),
		os.Mkdir(tmp+"/linked", 0o700), os.Symlink("../real", tmp+"/linked/sessions"),
		os.Mkdir(tmp+"/filed", 0o700), os.WriteFile(tmp+"/filed/sessions", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"link":       "is a symbolic link",
		"file":       "is no directory",
		"file/below": "not a directory",
		"linked":     "sessions is a symbolic link",
		"filed":      "sessions is no directory",
	} {
		path := filepath.Join(tmp, name)
		for _, access := range []Access{Read, Write, Create} {
			_, err := Open(path, access)
			if want := "store " + path + " unavailable: " + want; err == nil || err.Error() != want {
				t.Errorf("access %d: got %v, want %s", access, err, want)
			}
		}
	}
}
