//go:build !(386 || arm)

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"tongs-agents/internal/blockfs"
)

// system is a file system on which a store lies.
type system struct {
	name, how string
	dir       string
	magic     uint64   // what statfs(2) is to say it is; 0: what it is
	locks     []string // where they have to lie, by what there is: see home
}

// The file systems that cannot be mounted here are said to be there: that is all
// that the programs know of them, too.
var claimed = []struct {
	name  string
	magic uint64
}{
	{"nfs", unix.NFS_SUPER_MAGIC}, {"9p", unix.V9FS_MAGIC}, {"cifs", unix.CIFS_SUPER_MAGIC}, {"smb2", unix.SMB2_SUPER_MAGIC},
	{"ceph", unix.CEPH_SUPER_MAGIC}, {"lustre", 0x0bd00bd0}, {"afs", unix.AFS_SUPER_MAGIC},
}

var (
	local   = []string{"store"}
	network = []string{"run-time directory", "nowhere"}
)

// mountAll mounts what there is of file systems, and /run, for the run-time
// directories of users.
func (w *world) mountAll() ([]system, error) {
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return nil, fmt.Errorf("mount /run: %w", err)
	}
	base := filepath.Join(w.dir, "systems")
	var all []system
	mount := func(name, how string, locks []string, f func(dir string) error) error {
		dir := filepath.Join(base, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := f(dir); err != nil {
			return fmt.Errorf("mount %s: %w", name, err)
		}
		w.atEnd(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		all = append(all, system{name: name, how: how, dir: dir, locks: locks})
		return nil
	}
	tmpfs := func(dir string) error { return unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755") }
	if err := mount("tmpfs", "mounted", local, tmpfs); err != nil {
		return nil, err
	}
	for _, f := range blockfs.All {
		if err := mount(f.Name, "mounted", local, func(dir string) error {
			disk := dir + ".disk"
			file, err := os.Create(disk)
			if err != nil {
				return err
			}
			defer file.Close()
			if err := file.Truncate(f.Size); err != nil {
				return err
			}
			if err := f.Make(disk); err != nil {
				return err
			}
			return f.Mount(disk, dir)
		}); err != nil {
			return nil, err
		}
	}
	if err := mount("overlay", "mounted", local, func(dir string) error {
		layers := dir + ".layers"
		if err := os.MkdirAll(layers, 0o755); err != nil {
			return err
		}
		if err := tmpfs(layers); err != nil {
			return err
		}
		for _, sub := range []string{"lower", "upper", "work"} {
			if err := os.Mkdir(filepath.Join(layers, sub), 0o755); err != nil {
				return err
			}
		}
		return unix.Mount("overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", layers))
	}); err != nil {
		return nil, err
	}
	if err := mount("fuse", "mounted", network, func(dir string) error {
		below := dir + ".below"
		if err := os.MkdirAll(below, 0o755); err != nil {
			return err
		}
		root, err := fs.NewLoopbackRoot(below)
		if err != nil {
			return err
		}
		_, err = fs.Mount(dir, root, &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, AllowOther: true}})
		return err
	}); err != nil {
		return nil, err
	}
	for _, c := range claimed {
		if err := mount(c.name, "statfs(2) says so", network, tmpfs); err != nil {
			return nil, err
		}
		all[len(all)-1].magic = c.magic
	}
	return all, nil
}

// onSystem is the life of sessions on a file system, and where the locks lie
// then.
func (h *home) onSystem(s system) error {
	const run = "/run/user/0"
	if err := os.RemoveAll(run); err != nil {
		return err
	}
	if h.locks != "nowhere" {
		if err := os.MkdirAll(run, 0o700); err != nil {
			return err
		}
	}
	h.state = filepath.Join(s.dir, h.locks, "state")
	if s.locks[0] != "store" {
		h.trace = filepath.Join(h.dir, "trace")
		h.under = []string{"strace", "-f", "-q", "-q", "-y", "-A", "-e", "signal=none", "-o", h.trace, "-e", "trace=flock,fstatfs"}
		if s.magic != 0 {
			h.under = append(h.under, "-e", "inject=fstatfs:poke_exit=@arg2="+littleEndian(s.magic))
		}
	}
	if err := h.cycle(); err != nil {
		return err
	}
	return h.lockedWhere(run + "/tongs-agents")
}

// littleEndian are the bytes of the first field of struct statfs, for strace.
func littleEndian(n uint64) string {
	s := ""
	for range 8 {
		s += fmt.Sprintf("%02x", n&0xff)
		n >>= 8
	}
	return s
}

// machineID is what a record says of a machine.
func machineID(id, host string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(id+"\n"+host)))
}
