package fsstore

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// Unreadable is a file in the place of a record, and why it is none.
type Unreadable struct {
	Name string
	Err  error
}

// All reads every record, in no order, without a lock. One file that is no
// record does not hide the others: it is among the unreadable ones.
func (s *Store) All() ([]*Record, []Unreadable, error) {
	names, err := s.names()
	if err != nil {
		return nil, nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, ".") || !strings.HasSuffix(name, recordSuffix)
	})
	const share = 256 // records, below which another goroutine does not pay
	shares := make([]part, min(runtime.GOMAXPROCS(0), len(names)/share+1))
	var others sync.WaitGroup
	for i := range shares {
		names := names[len(names)*i/len(shares) : len(names)*(i+1)/len(shares)]
		if i < len(shares)-1 {
			others.Go(func() { shares[i] = s.readAll(names) })
		} else {
			shares[i] = s.readAll(names)
		}
	}
	others.Wait()
	all := shares[0]
	for _, p := range shares[1:] {
		all.records = append(all.records, p.records...)
		all.unreadable = append(all.unreadable, p.unreadable...)
	}
	return all.records, all.unreadable, nil
}

// part is what was read of a store.
type part struct {
	records    []*Record
	unreadable []Unreadable
}

func (s *Store) readAll(names []string) part {
	p := part{records: make([]*Record, 0, len(names))}
	space := make([]byte, 0, MaxRecord)
	d := newDecoder(min(len(names), 64))
	for _, name := range names {
		r, err := s.readRecord(name, space, d)
		switch {
		case err == nil:
			p.records = append(p.records, r)
		case !errors.Is(err, fs.ErrNotExist): // else removed since we read the names
			p.unreadable = append(p.unreadable, Unreadable{name, err})
		}
	}
	return p
}

// names lists the sessions directory through a descriptor of its own, since
// the position is a part of the open file.
func (s *Store) names() ([]string, error) {
	dir, err := linux.Openat(s.sessions, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, unavailable(err)
	}
	defer dir.Close()
	names, err := linux.Readnames(dir)
	if err != nil {
		return nil, unavailable(err)
	}
	return names, nil
}

// readRecord reads one file of the sessions directory: fs.ErrNotExist,
// ErrInvalid, or what the system says.
func (s *Store) readRecord(name string, space []byte, d *decoder) (*Record, error) {
	text, err := readPrivate(s.sessions, name, space)
	if err != nil {
		return nil, err
	}
	return d.decodeStored(name, text)
}

// readPrivate reads a small regular file of ours, and nothing else that an
// attacker or an accident may have put in its place.
func readPrivate(dir linux.FD, name string, space []byte) ([]byte, error) {
	fd, err := linux.Openat(dir, name, unix.O_RDONLY, 0)
	if err != nil {
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
			err = invalid("file", "is no regular file")
		}
		return nil, err
	}
	defer fd.Close()
	var st unix.Stat_t
	if err := fd.Fstat(&st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, invalid("file", "is no regular file")
	case int(st.Uid) != unix.Geteuid():
		return nil, invalid("file", "belongs to uid "+strconv.Itoa(int(st.Uid)))
	case st.Size > MaxRecord:
		return nil, invalid("file", "is longer than "+strconv.Itoa(MaxRecord)+" bytes")
	case st.Size == 0:
		return nil, invalid("file", "is empty")
	}
	if space = space[:0]; cap(space) < int(st.Size) {
		space = make([]byte, 0, st.Size)
	}
	// A record is never written in place, so its size does not change.
	for len(space) < int(st.Size) {
		n, err := fd.Read(space[len(space):st.Size])
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		space = space[:len(space)+n]
	}
	return space, nil
}
