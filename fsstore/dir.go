package fsstore

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// StateDir returns the state directory that the environment names: absolute
// and without a slash at its end. Empty and relative values count as unset.
func StateDir() (string, error) { return StateDirOf(getenv) }

// StateDirOf is StateDir in the environment that getenv knows.
func StateDirOf(getenv func(name string) string) (string, error) {
	if dir := absolute(getenv("TONGS_AGENTS_STATE_DIR")); dir != "" {
		return dir, nil
	}
	if dir := absolute(getenv("XDG_STATE_HOME")); dir != "" {
		return dir + "/tongs-agents", nil
	}
	home, err := homeDir(getenv)
	if err != nil {
		return "", err
	}
	return home + "/.local/state/tongs-agents", nil
}

// HomeDir returns the home directory of the user: that of the environment, if
// it is absolute, else that of the password file.
func HomeDir() (string, error) { return homeDir(getenv) }

func homeDir(getenv func(name string) string) (string, error) {
	home := absolute(getenv("HOME"))
	if home == "" {
		home = passwdHome(syscall.Geteuid())
	}
	if home == "" {
		return "", unavailable(errors.New("no home directory: HOME is unset and the password file has no entry of this user"))
	}
	return home, nil
}

// MakeDir makes a directory of ours below the state directory, 0700, and both
// if they are missing. One that is somebody else's or a symbolic link is
// refused.
func MakeDir(state, name string) error {
	dir, err := openState(state, Create)
	if err != nil {
		return unavailable(err)
	}
	defer dir.Close()
	made, err := openPrivate(dir, name, Create)
	if err != nil {
		return unavailable(err)
	}
	return made.Close()
}

func getenv(name string) string {
	value, _ := syscall.Getenv(name)
	return value
}

// absolute is the path of a directory that a variable names, empty if none is.
func absolute(dir string) string {
	if !strings.HasPrefix(dir, "/") {
		return ""
	}
	// A path with a slash at its end follows a symbolic link that stands there.
	for len(dir) > 1 && strings.HasSuffix(dir, "/") {
		dir = dir[:len(dir)-1]
	}
	return dir
}

// passwdHome returns the home directory of a user by passwd(5). Users whom
// only a name service knows have HOME set, as pam and systemd set it.
func passwdHome(uid int) string {
	fd, err := linux.Openat(linux.CWD, "/etc/passwd", unix.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer fd.Close()
	var file []byte
	for len(file) < 1<<20 {
		part := make([]byte, 16<<10)
		n, err := fd.Read(part)
		if err != nil || n == 0 {
			break
		}
		file = append(file, part[:n]...)
	}
	for line := range strings.SplitSeq(string(file), "\n") {
		fields := strings.Split(line, ":")
		if len(fields) >= 6 && fields[2] == strconv.Itoa(uid) && strings.HasPrefix(fields[5], "/") {
			return fields[5]
		}
	}
	return ""
}

// openState opens a directory of ours by its path, whose parents may be
// symbolic links.
func openState(path string, access Access) (linux.FD, error) {
	fd, err := openPrivate(linux.CWD, path, access)
	if access != Create || !errors.Is(err, fs.ErrNotExist) {
		return fd, err
	}
	if err := makeParents(path); err != nil {
		return -1, err
	}
	return openPrivate(linux.CWD, path, access)
}

// makeParents creates the missing parents of path, 0700 as the XDG base
// directory specification asks for.
func makeParents(path string) error {
	slash := strings.LastIndexByte(path, '/')
	if slash <= 0 {
		return nil
	}
	parent := path[:slash]
	err := linux.Mkdirat(linux.CWD, parent, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeParents(parent); err != nil {
			return err
		}
		err = linux.Mkdirat(linux.CWD, parent, 0o700)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return linux.Fchmodat(linux.CWD, parent, 0o700) // the umask may take from the owner
}

// openPrivate opens the directory name below dir, which must be ours. A writer
// narrows it to 0700 if others may enter.
func openPrivate(dir linux.FD, name string, access Access) (linux.FD, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY
	fd, err := linux.Openat(dir, name, flags, 0)
	made := false
	if access == Create && errors.Is(err, fs.ErrNotExist) {
		if err := linux.Mkdirat(dir, name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return -1, err
		} else if err == nil {
			made = true
		}
		fd, err = linux.Openat(dir, name, flags, 0)
		if errors.Is(err, fs.ErrPermission) { // by a umask that takes from the owner
			if err := linux.Fchmodat(dir, name, 0o700); err != nil {
				return -1, err
			}
			fd, err = linux.Openat(dir, name, flags, 0)
		}
	}
	if err != nil {
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			err = noDirectory(dir, name)
		}
		return -1, err
	}
	if err := checkPrivate(fd, name, access != Read, made); err != nil {
		fd.Close()
		return -1, err
	}
	return fd, nil
}

// noDirectory says what is in the place of a directory.
func noDirectory(dir linux.FD, name string) error {
	var st unix.Stat_t
	switch err := linux.Fstatat(dir, name, &st); {
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return &refusal{name, "is a symbolic link"}
	}
	return &refusal{name, "is no directory"}
}

func checkPrivate(fd linux.FD, name string, narrow, made bool) error {
	var st unix.Stat_t
	if err := fd.Fstat(&st); err != nil {
		return err
	}
	if int(st.Uid) != unix.Geteuid() {
		return &refusal{name, "belongs to uid " + strconv.Itoa(int(st.Uid))}
	}
	if mode := st.Mode & 0o777; narrow && (mode&0o077 != 0 || made && mode != 0o700) {
		return fd.Fchmod(0o700)
	}
	return nil
}

// networkFS are the file systems on which flock(2) may hang or lie, by the
// magic numbers of statfs(2).
var networkFS = [...]uint32{
	unix.NFS_SUPER_MAGIC,
	unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
	unix.V9FS_MAGIC,
	unix.CEPH_SUPER_MAGIC,
	0x0BD00BD0, // Lustre, which the kernel's magic.h lacks
	unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC,
	unix.FUSE_SUPER_MAGIC,
}

// fsType is a seam: a test cannot mount NFS.
var fsType = linux.FD.Fstatfs

// runtimeDir is where locks live if the store is on a network file system. It
// goes by the uid and not by XDG_RUNTIME_DIR, so that every process of the
// user finds the same one.
var runtimeDir = func() string { return "/run/user/" + strconv.Itoa(unix.Geteuid()) }

// openLocks returns the directory of the store's lock files: the sessions
// directory itself, or another one on a network file system, or -1 if there is
// none that could be trusted.
func openLocks(sessions linux.FD) (linux.FD, error) {
	magic, err := fsType(sessions)
	if err != nil {
		return -1, err
	}
	network := false
	for _, m := range networkFS {
		network = network || m == magic
	}
	if !network {
		return sessions, nil
	}
	run, err := openPrivate(linux.CWD, runtimeDir(), Read)
	if err != nil {
		return noLocks, nil
	}
	defer run.Close()
	locks, err := openPrivate(run, "tongs-agents", Create)
	if err != nil {
		return noLocks, nil
	}
	return locks, nil
}

const noLocks linux.FD = -1
