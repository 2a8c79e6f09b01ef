package proc

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// FS is the place of a proc file system: /proc, or a tree that a test made.
// The methods that read below the directory of a process return an error for
// which errors.Is(err, fs.ErrNotExist) holds when the process is gone.
type FS string

// Root is the proc file system of the machine.
const Root FS = "/proc"

// Stat reads the stat file of a process.
func (root FS) Stat(pid int) (Stat, error) {
	path := root.path(pid, "stat")
	data, err := read(path, make([]byte, 1024)) // 22 fields need less
	if err != nil {
		return Stat{}, err
	}
	st, err := ParseStat(data)
	if err != nil {
		return Stat{}, &fs.PathError{Op: "parse", Path: path, Err: err}
	}
	return st, nil
}

// Cmdline returns the arguments of a process, argv[0] first, as the bytes that
// they are: they need not be UTF-8. What is beyond 64 KiB is left out. A
// kernel thread and a dead process have none.
func (root FS) Cmdline(pid int) ([]string, error) { return cmdline(root.path(pid, "cmdline")) }

// OwnCmdline returns the arguments of the caller, whatever its pid is there.
func (root FS) OwnCmdline() ([]string, error) { return cmdline(string(root) + "/self/cmdline") }

func cmdline(path string) ([]string, error) {
	buf := make([]byte, 4<<10)
	data, err := read(path, buf)
	if len(data) == len(buf) {
		data, err = read(path, make([]byte, 64<<10))
	}
	if err != nil {
		return nil, err
	}
	return splitArgs(string(data)), nil
}

// Environ returns the environment that a process was started with, each
// variable as NAME=VALUE, unless it wrote over it. One of 256 KiB or more is
// [ErrFormat].
func (root FS) Environ(pid int) ([]string, error) {
	data, err := environ(root.path(pid, "environ"), make([]byte, 256<<10))
	if err != nil {
		return nil, err
	}
	return splitArgs(string(data)), nil
}

// OwnEnviron fills space with the environment that the caller was started
// with, a NUL behind each variable. One that does not fit is [ErrFormat].
func (root FS) OwnEnviron(space []byte) ([]byte, error) {
	return environ(string(root)+"/self/environ", space)
}

// environ reads an environment. Of one that fills the space it could not be
// told whether it lacks a variable.
func environ(path string, space []byte) ([]byte, error) {
	data, err := read(path, space)
	if err == nil && len(data) == len(space) {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrFormat}
	}
	return data, err
}

// splitArgs drops the empty arguments at the end: a program that writes a
// title over its arguments fills the rest of their space with NUL.
func splitArgs(s string) []string {
	s = strings.TrimRight(s, "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// Exe returns the path of the executable of a process. It still does when the
// file was removed, as an update of the program does.
func (root FS) Exe(pid int) (string, error) { return root.link(pid, "exe") }

// Cwd returns the working directory of a process, even a removed one.
func (root FS) Cwd(pid int) (string, error) { return root.link(pid, "cwd") }

func (root FS) link(pid int, name string) (string, error) {
	path := root.path(pid, name)
	target, err := linux.Readlinkat(linux.CWD, path)
	if err != nil {
		return "", readError(path, err)
	}
	return strings.TrimSuffix(target, " (deleted)"), nil
}

func (root FS) path(pid int, name string) string {
	return string(root) + "/" + strconv.Itoa(pid) + "/" + name
}

// read fills buf from the beginning of the file. One read is enough: the
// kernel makes these files up in the call, and a short read is their end.
func read(path string, buf []byte) ([]byte, error) {
	fd, err := linux.Openat(linux.CWD, path, unix.O_RDONLY, 0)
	if err != nil {
		return nil, readError(path, err)
	}
	n, err := fd.Read(buf)
	fd.Close()
	if err != nil {
		return nil, readError(path, err)
	}
	return buf[:n], nil
}

// readError makes ESRCH, the answer when the process went between open and
// read, the same as a file that is not there.
func readError(path string, err error) error {
	if errors.Is(err, unix.ESRCH) {
		return &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return err
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}
