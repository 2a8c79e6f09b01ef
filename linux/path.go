package linux

import (
	"time"

	"golang.org/x/sys/unix"
)

// Fstatat describes name below dir without following a symbolic link in its
// last component. See fstatat(2).
func Fstatat(dir FD, name string, st *unix.Stat_t) error {
	return pathCall("fstatat", name, func() error {
		return unix.Fstatat(int(dir), name, st, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// Stat describes the file that path leads to. See stat(2).
func Stat(path string, st *unix.Stat_t) error {
	return pathCall("stat", path, func() error { return unix.Stat(path, st) })
}

// Faccessat checks whether the effective user may use the file that name below
// dir leads to; mode is made of the _OK constants. See faccessat(2).
func Faccessat(dir FD, name string, mode uint32) error {
	return pathCall("faccessat", name, func() error { return unix.Faccessat(int(dir), name, mode, unix.AT_EACCESS) })
}

// Mkdirat creates the directory name below dir. The umask narrows perm.
// See mkdirat(2).
func Mkdirat(dir FD, name string, perm uint32) error {
	return pathCall("mkdirat", name, func() error { return unix.Mkdirat(int(dir), name, perm) })
}

// Fchmodat sets the permission bits of name below dir. See fchmodat(2).
func Fchmodat(dir FD, name string, mode uint32) error {
	return pathCall("fchmodat", name, func() error { return unix.Fchmodat(int(dir), name, mode, 0) })
}

// Renameat renames a file within dir, replacing what has the new name.
// See renameat(2).
func Renameat(dir FD, from, to string) error {
	return pathCall("renameat", to, func() error { return unix.Renameat(int(dir), from, int(dir), to) })
}

// Unlinkat removes the name of a file below dir. See unlinkat(2).
func Unlinkat(dir FD, name string) error {
	return pathCall("unlinkat", name, func() error { return unix.Unlinkat(int(dir), name, 0) })
}

// Rmdirat removes the empty directory name below dir. See unlinkat(2).
func Rmdirat(dir FD, name string) error {
	return pathCall("unlinkat", name, func() error { return unix.Unlinkat(int(dir), name, unix.AT_REMOVEDIR) })
}

// Utimensat sets the times of name below dir, not of what a symbolic link in
// its place leads to. See utimensat(2).
func Utimensat(dir FD, name string, t time.Time) error {
	ts := unix.NsecToTimespec(t.UnixNano())
	return pathCall("utimensat", name, func() error {
		return unix.UtimesNanoAt(int(dir), name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// Readlinkat returns the target of the symbolic link name below dir. A target
// longer than 4096 bytes is ENAMETOOLONG. See readlinkat(2).
func Readlinkat(dir FD, name string) (string, error) {
	var buf [unix.PathMax]byte
	n, err := retry(func() (int, error) { return unix.Readlinkat(int(dir), name, buf[:]) })
	if err == nil && n == len(buf) {
		err = unix.ENAMETOOLONG
	}
	if err != nil {
		return "", pathError("readlinkat", name, err)
	}
	return string(buf[:n]), nil
}

// Readnames returns the names in the directory, in no order, without "." and
// "..". It reads from where the descriptor stands. See getdents64(2).
func Readnames(dir FD) ([]string, error) {
	var names []string
	buf := make([]byte, 64<<10)
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(int(dir), buf) })
		if err != nil {
			return nil, callError("getdents64", err)
		}
		if n == 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

func pathCall(op, name string, fn func() error) error {
	if err := retryErr(fn); err != nil {
		return pathError(op, name, err)
	}
	return nil
}
