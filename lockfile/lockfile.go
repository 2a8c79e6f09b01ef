// Package lockfile holds flock(2) locks for a bounded time of waiting.
//
// The locked file guards something else and is never the data, which a rename
// would replace under the lock. The kernel releases the lock when its holder
// dies. A lock excludes every other open of the file, so it serializes
// goroutines of one process as well as processes.
//
// Not for network file systems: flock may hang or lie there.
package lockfile

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

var (
	// ErrLocked: somebody else holds the lock.
	ErrLocked = errors.New("locked")

	// ErrTimeout: somebody else held the lock during the whole wait.
	ErrTimeout = errors.New("lock timed out")

	// ErrUnsupported: the file system cannot lock (ENOLCK, EOPNOTSUPP, ENOSYS).
	ErrUnsupported = errors.New("file system without locks")

	// ErrUnsafe: what has the lock's name is no regular file of ours.
	ErrUnsafe = errors.New("not a regular file of this user")
)

// Lock is a held lock.
type Lock struct {
	fd   linux.FD
	sole bool
}

// Try takes the lock name below dir, or returns ErrLocked at once.
func Try(dir linux.FD, name string) (Lock, error) {
	return acquire(dir, name, func(fd linux.FD) error {
		err := fd.Flock(unix.LOCK_EX | unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return err
	})
}

// Acquire takes the lock name below dir. A held lock is waited for in the
// kernel's queue, which wakes the waiters in turn: those that poll instead
// can starve. It returns ErrTimeout at the deadline.
func Acquire(dir linux.FD, name string, deadline time.Time) (Lock, error) {
	return acquire(dir, name, func(fd linux.FD) error {
		err := fd.Flock(unix.LOCK_EX | unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		return wait(fd, time.Until(deadline))
	})
}

// Sole reports whether the file had no other name when it was locked. One that
// has is somebody's file, who has put it there: nothing of it is to be changed.
func (l Lock) Sole() bool { return l.sole }

// Release gives the lock back.
func (l Lock) Release() error { return l.fd.Close() }

// acquire opens the file and locks it, with the file still linked: a previous
// holder may have removed it while we waited, and a lock on an unlinked inode
// excludes nobody.
func acquire(dir linux.FD, name string, lock func(linux.FD) error) (Lock, error) {
	for {
		fd, err := open(dir, name)
		if err != nil {
			return Lock{}, err
		}
		names, err := lockOpen(fd, name, lock)
		if err == nil && names > 0 {
			return Lock{fd, names == 1}, nil
		}
		// After a timeout the waiting goroutine owns the descriptor.
		if !errors.Is(err, ErrTimeout) {
			fd.Close()
		}
		if err != nil {
			return Lock{}, err
		}
	}
}

// open opens the file of a lock, and makes it if there is none.
func open(dir linux.FD, name string) (linux.FD, error) {
	// O_RDWR: NFS emulates flock by a lock that needs write access.
	const flags = unix.O_RDWR | unix.O_CREAT
	fd, err := linux.Openat(dir, name, flags, 0o600)
	if errors.Is(err, unix.EACCES) && mend(dir, name) {
		fd, err = linux.Openat(dir, name, flags, 0o600)
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENXIO) {
		err = &fs.PathError{Op: "lock", Path: name, Err: ErrUnsafe}
	}
	return fd, err
}

// mend opens up a lock of ours that a umask which takes from the owner has
// closed, in the moment before lockOpen does it, or for good if its maker was
// killed in that moment. It reports whether there was one.
func mend(dir linux.FD, name string) bool {
	var st unix.Stat_t
	return linux.Fstatat(dir, name, &st) == nil &&
		st.Mode&unix.S_IFMT == unix.S_IFREG && int(st.Uid) == unix.Geteuid() && st.Nlink == 1 &&
		linux.Fchmodat(dir, name, 0o600) == nil
}

// lockOpen locks the open file and returns how many names it has then.
func lockOpen(fd linux.FD, name string, lock func(linux.FD) error) (names int, err error) {
	switch err := lock(fd); {
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return 0, &fs.PathError{Op: "lock", Path: name, Err: ErrUnsupported}
	case err != nil:
		return 0, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err := fd.Fstat(&st); err != nil {
		return 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != unix.Geteuid() {
		return 0, &fs.PathError{Op: "lock", Path: name, Err: ErrUnsafe}
	}
	// An odd umask: the next open must work. A file under another name, too, was
	// not made by us.
	if st.Mode&0o777 != 0o600 && st.Nlink == 1 {
		if err := fd.Fchmod(0o600); err != nil {
			return 0, err
		}
	}
	return int(st.Nlink), nil
}

// wait locks fd in a goroutine of its own, since nothing but a signal ends a
// flock(2) that waits. If it comes too late, the goroutine closes fd, and with
// it the lock.
func wait(fd linux.FD, timeout time.Duration) error {
	if timeout <= 0 {
		fd.Close()
		return ErrTimeout
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	got := make(chan error)
	late := make(chan struct{})
	go func() {
		err := fd.Flock(unix.LOCK_EX)
		select {
		case got <- err:
		case <-late:
			fd.Close()
		}
	}()
	select {
	case err := <-got:
		return err
	case <-timer.C:
	}
	// On a busy machine both may have come before this goroutine runs again.
	select {
	case err := <-got:
		return err
	default:
		close(late)
		return ErrTimeout
	}
}
