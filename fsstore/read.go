package fsstore

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

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
	var bad []Unreadable
	records := make([]*Record, 0, len(names))
	space := make([]byte, 0, MaxRecord)
	for _, name := range names {
		if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, recordSuffix) {
			continue
		}
		r, err := s.readRecord(name, space)
		switch {
		case err == nil:
			records = append(records, r)
		case !errors.Is(err, fs.ErrNotExist): // else removed since we read the names
			bad = append(bad, Unreadable{name, err})
		}
	}
	return records, bad, nil
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
func (s *Store) readRecord(name string, space []byte) (*Record, error) {
	text, err := readPrivate(s.sessions, name, space)
	if err != nil {
		return nil, err
	}
	return decodeStored(name, text)
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
