package listing

import (
	"bytes"
	"encoding/binary"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// watcher tells what happens to files, by inotify(7). It is for one goroutine.
//
// It is not fsnotify, the library of the field, for two things that one cannot:
// to follow a file that is replaced again and again, and to leave what happens
// in the kernel's queue, where it wakes nobody, until it is asked for.
type watcher struct {
	file  *os.File
	conn  syscall.RawConn
	space []byte
	ready chan struct{} // closed when there is something to read; nil: nobody looks
}

// newWatcher fails with EMFILE where the user has as many as may be.
func newWatcher() (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	file := os.NewFile(uintptr(fd), "inotify")
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &watcher{file: file, conn: conn, space: make([]byte, 16<<10)}, nil
}

func (w *watcher) close() { w.file.Close() }

// addDir watches a directory: what is renamed into it and out of it and what is
// unlinked, and whether it is itself. Adding it again changes nothing.
func (w *watcher) addDir(path string) error {
	return w.add(path, unix.IN_MOVED_TO|unix.IN_MOVED_FROM|unix.IN_DELETE|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_ONLYDIR)
}

// addFile watches the file that is at path now, until it no longer is. What
// replaces it is to be added in its turn, before it is read. A link that goes
// is an IN_ATTRIB of the file, also where another process has it open.
func (w *watcher) addFile(path string) error {
	return w.add(path, unix.IN_ATTRIB|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_ONESHOT)
}

func (w *watcher) add(path string, mask uint32) (err error) {
	controlErr := w.conn.Control(func(fd uintptr) {
		_, err = unix.InotifyAddWatch(int(fd), path, mask|unix.IN_DONT_FOLLOW)
	})
	if controlErr != nil {
		return controlErr
	}
	return os.NewSyscallError("inotify_add_watch", err)
}

// told returns a channel that is closed once there is something to read.
func (w *watcher) told() <-chan struct{} {
	if w.ready == nil {
		ready := make(chan struct{})
		w.ready = ready
		go func() {
			err := w.conn.Read(func(fd uintptr) bool {
				in, err := linux.FD(fd).PollIn(0)
				return in || err != nil
			})
			if err == nil { // else it was closed
				close(ready)
			}
		}()
	}
	return w.ready
}

// read returns the files of a directory that something has happened to. An
// empty name is for what is watched itself, and for events that were lost.
func (w *watcher) read() (names []string) {
	select {
	case <-w.ready:
		w.ready = nil
	default:
	}
	for {
		n := 0
		w.conn.Control(func(fd uintptr) { n, _ = linux.FD(fd).Read(w.space) })
		if n <= 0 { // EAGAIN: that was all
			return names
		}
		// struct inotify_event { int wd; uint32_t mask, cookie, len; char name[]; }
		for events := w.space[:n]; len(events) > 0; {
			const head = unix.SizeofInotifyEvent
			end := head + binary.NativeEndian.Uint32(events[head-4:])
			name, _, _ := bytes.Cut(events[head:end], []byte{0})
			names = append(names, string(name))
			events = events[end:]
		}
	}
}
