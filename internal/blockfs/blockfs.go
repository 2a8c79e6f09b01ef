// Package blockfs makes and mounts the file systems of block devices, on disks
// that are files. It is for programs of the tests, which are root.
package blockfs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// FileSystem is one of a kind.
type FileSystem struct {
	Name string
	Size int64 // of the disk in bytes: little more than mkfs wants

	mkfs []string // and the disk
	data string   // mount options: a journal that is written often
}

// All are the file systems that every distribution has.
var All = []FileSystem{
	{"ext4", 64 << 20, []string{"mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}, "commit=1"},
	{"xfs", 320 << 20, []string{"mkfs.xfs", "-q", "-f", "-K"}, "nouuid"},
	{"btrfs", 128 << 20, []string{"mkfs.btrfs", "-q", "-f", "-K"}, "commit=1,nodiscard"},
}

// Make makes the file system on a disk.
func (f FileSystem) Make(disk string) error {
	path, err := exec.LookPath(f.mkfs[0])
	if err != nil {
		return fmt.Errorf("%w: install the programs of %s", err, f.Name)
	}
	var out bytes.Buffer
	cmd := exec.Command(path, append(f.mkfs[1:], disk)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", f.mkfs[0], err, out.Bytes())
	}
	return nil
}

// Mount mounts the file system of a disk.
func (f FileSystem) Mount(disk, dir string) error {
	device, release, err := loop(disk)
	if err != nil {
		return err
	}
	defer release() // the mount keeps it
	if err := unix.Mount(device, dir, f.Name, 0, f.data); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}

// loop makes a block device of a file. It goes with its last user.
func loop(file string) (device string, release func(), err error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return "", nil, err
	}
	defer control.Close()
	backing, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return "", nil, err
	}
	defer backing.Close() // the device keeps it
	for {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return "", nil, fmt.Errorf("a free loop device: %w", err)
		}
		device = fmt.Sprintf("/dev/loop%d", n)
		f, err := os.OpenFile(device, os.O_RDWR, 0)
		if err != nil {
			return "", nil, err
		}
		err = unix.IoctlLoopConfigure(int(f.Fd()), &unix.LoopConfig{
			Fd: uint32(backing.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR},
		})
		if err == nil {
			return device, func() { f.Close() }, nil
		}
		f.Close()
		if err != unix.EBUSY { // another program was faster
			return "", nil, fmt.Errorf("%s: %w", device, err)
		}
	}
}

// Unmount waits for those who still use the file system, up to 30 s.
func Unmount(dir string) error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Unmount(dir, 0)
		if err != unix.EBUSY || time.Now().After(deadline) {
			return err
		}
	}
}
