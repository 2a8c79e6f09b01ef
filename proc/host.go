package proc

import (
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/sha256"
	"tongs-agents/linux"
)

// Host says where a pid and a start in clock ticks name one process. A part
// that could not be learned is empty, and equal to none.
type Host struct {
	BootID       string
	PIDNamespace string
	MachineID    string

	// Foreign: the proc file system is of another pid namespace, so that a pid
	// of ours names somebody else in it.
	Foreign bool
}

// Host describes where the caller runs.
func (root FS) Host() Host {
	var here Host
	here.BootID, _ = root.BootID()
	here.PIDNamespace, _ = root.PIDNamespace()
	here.MachineID, _ = MachineID()
	here.Foreign = root.Foreign()
	return here
}

// Foreign reports whether the proc file system is of another pid namespace, as
// after unshare(1) without a new mount of it: then self names the caller by
// another pid. A test's tree is not asked, nor one that is not mounted.
func (root FS) Foreign() bool {
	if root != Root {
		return false
	}
	self, err := linux.Readlinkat(linux.CWD, string(root)+"/self")
	return err == nil && self != strconv.Itoa(unix.Getpid())
}

// BootID returns the random id that the kernel chose when it started, see
// proc_sys_kernel(5).
func (root FS) BootID() (string, error) {
	data, err := read(string(root)+"/sys/kernel/random/boot_id", make([]byte, 64))
	return strings.TrimSpace(string(data)), err
}

// PIDNamespace returns the inode of the caller's pid namespace, see
// namespaces(7). The kernel gives a later namespace the inode of a gone one.
func (root FS) PIDNamespace() (string, error) { return namespace(string(root) + "/self/ns/pid") }

// PIDNamespaceOf returns the inode of the pid namespace of a process.
func (root FS) PIDNamespaceOf(pid int) (string, error) { return namespace(root.path(pid, "ns/pid")) }

// namespace reads a link such as pid:[4026531836].
func namespace(path string) (string, error) {
	target, err := linux.Readlinkat(linux.CWD, path)
	if err != nil {
		return "", readError(path, err)
	}
	inode, isNS := strings.CutPrefix(target, "pid:[")
	inode, closed := strings.CutSuffix(inode, "]")
	if !isNS || !closed {
		return "", &fs.PathError{Op: "parse", Path: path, Err: ErrFormat}
	}
	return inode, nil
}

// MachineID returns the name that records have for this machine: the SHA-256
// of its machine-id(5) and host name. The machine id itself is confidential;
// the host name tells apart containers and clones that share one.
func MachineID() (string, error) {
	const path = "/etc/machine-id"
	// Not linux.Openat: images whose /etc is read-only have a link there.
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Open(path, flags, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, flags, 0)
	}
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer linux.FD(fd).Close()
	buf := make([]byte, 128)
	n, err := linux.FD(fd).Read(buf)
	if err != nil {
		return "", readError(path, err)
	}
	// Empty or "uninitialized" before the first boot of an image: no id yet.
	id := strings.TrimSpace(string(buf[:n]))
	if id == "" || id == "uninitialized" {
		return "", &fs.PathError{Op: "parse", Path: path, Err: ErrFormat}
	}
	return machineID(id, linux.Hostname()), nil
}

func machineID(id, hostname string) string { return sha256.Hex([]byte(id + "\n" + hostname)) }
