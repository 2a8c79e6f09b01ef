//go:build !(386 || arm)

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"

	"tongs-agents/internal/blockfs"
)

// machine is one whose power is cut: a file system and the programs.
type machine struct {
	ctx context.Context // done: stop between two programs
	blockfs.FileSystem
	dir, bin string
	shelf    *shelf
}

// cut is a power cut: a moment, and which of the writes that were not flushed
// then are lost.
type cut struct {
	moment int
	keep   func() bool // the next block
}

func all() bool { return true }

// try records what the file system writes, and cuts the power: at every flush,
// with all that was written until then, and at random moments, with half of
// the blocks that were written since the last flush.
func (m *machine) try(random int, seed uint64) (row, error) {
	r := row{fs: m.Name}
	d := &disk{size: m.Size, image: image{}}
	path := m.shelf.put(m.Name, d)
	defer m.shelf.remove(m.Name)
	if err := m.Make(path); err != nil {
		return r, err
	}
	base := d.record()
	h, err := m.use(d, path)
	if err != nil {
		return r, err
	}
	r.writes, r.flushes = count(d.log)
	source := rand.New(rand.NewPCG(seed, 0))
	var cuts []cut
	for i, e := range d.log {
		if e.flush() {
			cuts = append(cuts, cut{i + 1, all})
		}
	}
	for range random {
		cuts = append(cuts, cut{source.IntN(len(d.log) + 1), func() bool { return source.IntN(2) == 0 }})
	}
	for i, c := range cuts {
		if err := context.Cause(m.ctx); err != nil {
			return r, err
		}
		found, err := m.survivors(after(base, d.log, c), h, c.moment)
		if err != nil {
			return r, err
		}
		r.add(found)
		for _, wrong := range found.wrong {
			fmt.Printf("%s, cut %d at %d of %d: %s\n", m.Name, i, c.moment, len(d.log), wrong)
		}
	}
	return r, nil
}

// use mounts the disk and works on it.
func (m *machine) use(d *disk, path string) (*history, error) {
	dir := filepath.Join(m.dir, "mount-"+m.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := m.Mount(path, dir); err != nil {
		return nil, err
	}
	defer blockfs.Unmount(dir)
	return m.work(d, dir)
}

func count(log []entry) (writes, flushes int) {
	for _, e := range log {
		if e.flush() {
			flushes++
		} else {
			writes++
		}
	}
	return writes, flushes
}

// after is what a power cut leaves of what was written to an image.
func after(base image, log []entry, c cut) image {
	flushed := 0
	for i, e := range log[:c.moment] {
		if e.flush() {
			flushed = i
		}
	}
	left := maps.Clone(base)
	for i, e := range log[:c.moment] {
		if e.flush() {
			continue
		}
		for data, offset := e.data, e.offset; len(data) > 0; {
			n := min(int64(len(data)), blockSize-offset%blockSize)
			if i < flushed || c.keep() {
				left.writeAt(data[:n], offset)
			}
			data, offset = data[n:], offset+n
		}
	}
	return left
}
