package linux

import "golang.org/x/sys/unix"

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
