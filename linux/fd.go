package linux

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// FD is an open file descriptor. Whoever opened it closes it.
type FD int

const (
	Stdin FD = 0
	CWD   FD = unix.AT_FDCWD // the working directory, for calls that end in "at"
)

// Openat opens name below dir. It never follows a symbolic link in place of
// the last component of name, and a FIFO there does not block it.
// See openat(2).
func Openat(dir FD, name string, flags int, perm uint32) (FD, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(int(dir), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, perm)
	})
	if err != nil {
		return -1, pathError("openat", name, err)
	}
	return FD(fd), nil
}

// Close closes fd. See close(2). An interruption is no failure: the descriptor
// is free, and the kernel goes on to write what it has of the file.
func (fd FD) Close() error {
	if err := unix.Close(int(fd)); err != nil && err != unix.EINTR {
		return callError("close", err)
	}
	return nil
}

// Read reads at most len(p) bytes; 0 without an error is the end of the file.
// See read(2).
func (fd FD) Read(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(int(fd), p) })
	if err != nil {
		return 0, callError("read", err)
	}
	return n, nil
}

// Pread reads at most len(p) bytes from offset on; 0 without an error is the
// end of the file. See pread(2).
func (fd FD) Pread(p []byte, offset int64) (int, error) {
	n, err := retry(func() (int, error) { return unix.Pread(int(fd), p, offset) })
	if err != nil {
		return 0, callError("pread", err)
	}
	return n, nil
}

// WriteAll writes all of p. See write(2).
func (fd FD) WriteAll(p []byte) error {
	for len(p) > 0 {
		n, err := retry(func() (int, error) { return unix.Write(int(fd), p) })
		if err != nil {
			return callError("write", err)
		}
		p = p[n:]
	}
	return nil
}

// Fstat describes the open file. See fstat(2).
func (fd FD) Fstat(st *unix.Stat_t) error {
	if err := retryErr(func() error { return unix.Fstat(int(fd), st) }); err != nil {
		return callError("fstat", err)
	}
	return nil
}

// Fchmod sets the permission bits, whatever the umask is. See fchmod(2).
func (fd FD) Fchmod(mode uint32) error {
	if err := retryErr(func() error { return unix.Fchmod(int(fd), mode) }); err != nil {
		return callError("fchmod", err)
	}
	return nil
}

// Fsync writes the open file to the disk, see fsync(2). A directory's names are
// its data.
func (fd FD) Fsync() error {
	if err := retryErr(func() error { return unix.Fsync(int(fd)) }); err != nil {
		return callError("fsync", err)
	}
	return nil
}

// Syncfs writes the whole file system of the open file to the disk. See
// syncfs(2).
func (fd FD) Syncfs() error {
	if err := retryErr(func() error { return unix.Syncfs(int(fd)) }); err != nil {
		return callError("syncfs", err)
	}
	return nil
}

// Flock applies or removes a lock on the open file; how is one of the LOCK_
// constants of flock(2). Without LOCK_NB it waits in the kernel's queue.
func (fd FD) Flock(how int) error {
	if err := retryErr(func() error { return unix.Flock(int(fd), how) }); err != nil {
		return callError("flock", err)
	}
	return nil
}

// Fstatfs returns the type of the file system that holds the open file: one of
// the magic numbers of statfs(2).
func (fd FD) Fstatfs() (magic uint32, err error) {
	var st unix.Statfs_t
	if err := retryErr(func() error { return unix.Fstatfs(int(fd), &st) }); err != nil {
		return 0, callError("fstatfs", err)
	}
	return uint32(st.Type), nil
}

// PollIn waits until fd can be read without blocking, or is at its end, and
// reports whether that came about in time. See poll(2).
func (fd FD) PollIn(timeout time.Duration) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	deadline := time.Now().Add(timeout)
	for {
		// Rounded up: 0 would not wait at all.
		left := max(time.Until(deadline)+time.Millisecond-1, 0) / time.Millisecond
		n, err := unix.Poll(fds, int(left))
		switch {
		case err == nil:
			return n > 0, nil
		case err != unix.EINTR: // which SA_RESTART does not spare poll, see signal(7)
			return false, callError("poll", err)
		}
	}
}

// IsTerminal reports whether fd is a terminal. See isatty(3).
func (fd FD) IsTerminal() bool {
	_, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
	return err == nil
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// CallError is the failure of a call that names no path.
type CallError struct {
	Call string
	Err  error
}

func (e *CallError) Error() string { return e.Call + ": " + e.Err.Error() }
func (e *CallError) Unwrap() error { return e.Err }

func callError(call string, err error) error { return &CallError{Call: call, Err: err} }
