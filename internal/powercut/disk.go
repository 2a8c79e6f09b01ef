//go:build !(386 || arm)

package main

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// blockSize is what a disk writes whole or not at all, in bytes.
const blockSize = 4096

type block = [blockSize]byte

// image is what a disk holds: its blocks by their numbers, zeros where there is
// none. A block never changes, so that images can share them.
type image map[int64]*block

// writeAt changes the blocks that data covers.
func (m image) writeAt(data []byte, offset int64) {
	for len(data) > 0 {
		number, within := offset/blockSize, offset%blockSize
		b := new(block)
		if old := m[number]; old != nil {
			*b = *old
		}
		n := copy(b[within:], data)
		m[number] = b
		data, offset = data[n:], offset+int64(n)
	}
}

func (m image) readAt(p []byte, offset int64) {
	for len(p) > 0 {
		var n int
		number, within := offset/blockSize, offset%blockSize
		if b := m[number]; b != nil {
			n = copy(p, b[within:])
		} else {
			n = min(len(p), int(blockSize-within))
			clear(p[:n])
		}
		p, offset = p[n:], offset+int64(n)
	}
}

// entry of a log: a write of data at an offset, or, without data, a flush.
type entry struct {
	offset int64
	data   []byte
}

func (e entry) flush() bool { return e.data == nil }

// disk is a disk as a file in user space. Once it records, it notes what is
// written, in the order in which it comes.
type disk struct {
	fs.Inode
	size int64

	mu        sync.Mutex
	image     image
	recording bool
	log       []entry
}

// record begins the log and returns the image that it starts from.
func (d *disk) record() image {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recording = true
	return maps.Clone(d.image)
}

// position is the length of the log.
func (d *disk) position() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

func (d *disk) Getattr(ctx context.Context, f fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = fuse.S_IFREG|0o600, uint64(d.size)
	return 0
}

func (d *disk) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, 0, 0
}

func (d *disk) Read(ctx context.Context, f fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dest = dest[:max(min(int64(len(dest)), d.size-offset), 0)]
	d.image.readAt(dest, offset)
	return fuse.ReadResultData(dest), 0
}

func (d *disk) Write(ctx context.Context, f fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	if offset+int64(len(data)) > d.size {
		return 0, syscall.ENOSPC
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.image.writeAt(data, offset)
	if d.recording {
		d.log = append(d.log, entry{offset, slices.Clone(data)})
	}
	return uint32(len(data)), 0
}

func (d *disk) Fsync(ctx context.Context, f fs.FileHandle, flags uint32) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.recording {
		d.log = append(d.log, entry{})
	}
	return 0
}

// shelf is the file system in user space that holds the disks.
type shelf struct {
	dir  string
	root *fs.Inode
}

func newShelf(dir string) (*shelf, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	root := &fs.Inode{}
	_, err := fs.Mount(dir, root, &fs.Options{MountOptions: fuse.MountOptions{
		DirectMount: true, FsName: "powercut", MaxWrite: fuse.MAX_KERNEL_WRITE,
	}})
	return &shelf{dir, root}, err
}

// put puts a disk on the shelf and returns its path.
func (s *shelf) put(name string, d *disk) string {
	ctx := context.Background()
	s.root.AddChild(name, s.root.NewPersistentInode(ctx, d, fs.StableAttr{Mode: fuse.S_IFREG}), true)
	return s.dir + "/" + name
}

// remove takes a disk from the shelf.
func (s *shelf) remove(name string) {
	s.root.RmChild(name)
	s.root.NotifyEntry(name)
}
