package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// What execvp(3) passes over, and which error it ends with.
func TestTryEach(t *testing.T) {
	const (
		missing = unix.ENOENT
		denied  = unix.EACCES
		fine    = unix.Errno(0)
	)
	for _, test := range []struct {
		tries []unix.Errno
		want  unix.Errno
		calls int
	}{
		{[]unix.Errno{fine, missing}, fine, 1},
		{[]unix.Errno{missing, denied, unix.ENOTDIR, fine, missing}, fine, 4},
		{[]unix.Errno{missing, missing}, missing, 2},
		{[]unix.Errno{missing, denied, missing}, denied, 3},
		{[]unix.Errno{unix.ENOTDIR}, unix.ENOTDIR, 1},
		{[]unix.Errno{missing, unix.ETXTBSY, fine}, unix.ETXTBSY, 2},
		{[]unix.Errno{denied, unix.E2BIG}, unix.E2BIG, 2},
	} {
		calls := 0
		err := tryEach(make([]string, len(test.tries)), func(string) error {
			calls++
			if errno := test.tries[calls-1]; errno != fine {
				return &os.PathError{Op: "execve", Err: errno}
			}
			return nil
		})
		got := fine
		if path, ok := err.(*os.PathError); ok {
			got = path.Err.(unix.Errno)
		}
		if got != test.want || calls != test.calls {
			t.Errorf("%v: got %v after %d calls, want %v after %d", test.tries, err, calls, test.want, test.calls)
		}
	}
}
