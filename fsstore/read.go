package fsstore

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// Unreadable is a file in the place of a record, and why it is none.
type Unreadable struct {
	Name string // below the state directory
	Err  error
}

// All reads every record, in no order, without a lock. One file that is no
// record does not hide the others: it is among the unreadable ones.
func (s *Store) All() ([]*Record, []Unreadable, error) {
	names, err := s.names()
	if err != nil {
		return nil, nil, err
	}
	records, unreadable := readAll(s, names, func(r *Record, _ string, _ *unix.Stat_t) *Record { return r })
	return records, unreadable, nil
}

// Contents is what a store held when it was read.
type Contents struct {
	Records    []Stored
	Unreadable []Unreadable
	names      []string // of all files in the sessions directory
}

// Contents is All with what tells the versions of the records, and the other
// files.
func (s *Store) Contents() (Contents, error) {
	names, err := s.names()
	if err != nil {
		return Contents{}, err
	}
	c := Contents{names: names}
	c.Records, c.Unreadable = readAll(s, names, func(r *Record, name string, st *unix.Stat_t) Stored {
		return Stored{r, name, versionOf(st)}
	})
	return c, nil
}

// readAll reads the files that have a record's name, and returns of each what
// keep makes of it.
func readAll[T any](s *Store, names []string, keep func(r *Record, name string, st *unix.Stat_t) T) ([]T, []Unreadable) {
	var files []string
	for _, name := range names {
		if IsRecordFile(name) {
			files = append(files, name)
		}
	}
	const share = 256 // records, below which another goroutine does not pay
	shares := make([]part[T], min(runtime.GOMAXPROCS(0), len(files)/share+1))
	var others sync.WaitGroup
	for i := range shares {
		files := files[len(files)*i/len(shares) : len(files)*(i+1)/len(shares)]
		if i < len(shares)-1 {
			others.Go(func() { shares[i].read(s, files, keep) })
		} else {
			shares[i].read(s, files, keep)
		}
	}
	others.Wait()
	all := shares[0]
	for _, p := range shares[1:] {
		all.kept = append(all.kept, p.kept...)
		all.unreadable = append(all.unreadable, p.unreadable...)
	}
	return all.kept, all.unreadable
}

// part is what was read of a store.
type part[T any] struct {
	kept       []T
	unreadable []Unreadable
}

func (p *part[T]) read(s *Store, files []string, keep func(r *Record, name string, st *unix.Stat_t) T) {
	p.kept = make([]T, 0, len(files))
	space := make([]byte, 0, MaxRecord)
	d := newDecoder(min(len(files), 64))
	for _, name := range files {
		var st unix.Stat_t
		r, err := s.readRecord(name, space, d, &st)
		switch {
		case err == nil:
			p.kept = append(p.kept, keep(r, name, &st))
		case !errors.Is(err, fs.ErrNotExist): // else removed since we read the names
			p.unreadable = append(p.unreadable, Unreadable{sessionsDir + "/" + name, err})
		}
	}
}

// Get reads the record of key without a lock: fs.ErrNotExist if there is none,
// ErrInvalid, or what the system says.
func (s *Store) Get(key Key) (*Record, error) {
	return s.readRecord(recordFile(key.digest()), nil, newDecoder(1), new(unix.Stat_t))
}

func (s *Store) names() ([]string, error) { return namesIn(s.sessions) }

// namesIn lists a directory through a descriptor of its own, since the position
// is a part of the open file.
//
// A listing of a directory in which files are replaced meanwhile may lack a
// name that was there all the time: tmpfs lists the new file at a place that
// readdir(3) has passed. Then it is listed again, and has the names of all
// listings. Of those that are gone the reader finds no file.
func namesIn(dir linux.FD) ([]string, error) {
	const most = 4 // listings, since a store may never be quiet
	var names []string
	for i := 1; ; i++ {
		own, err := linux.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return nil, unavailable(err)
		}
		listed, quiet, err := listQuietly(own)
		own.Close()
		if err != nil {
			return nil, unavailable(err)
		}
		names = append(names, listed...)
		if quiet || i == most {
			if i > 1 {
				slices.Sort(names)
				names = slices.Compact(names)
			}
			return names, nil
		}
	}
}

// listQuietly lists a directory, and reports whether nothing has changed in it
// meanwhile. A change just before counts too: the clock that tells of changes
// ticks every 10 ms at most.
func listQuietly(dir linux.FD) (names []string, quiet bool, err error) {
	const tick = 20 * time.Millisecond
	var before, after unix.Stat_t
	if err := dir.Fstat(&before); err != nil {
		return nil, false, err
	}
	begin := time.Now()
	if names, err = linux.Readnames(dir); err != nil {
		return nil, false, err
	}
	if err := dir.Fstat(&after); err != nil {
		return nil, false, err
	}
	age := begin.Sub(time.Unix(before.Mtim.Unix()))
	quiet = before.Mtim == after.Mtim && age.Abs() > tick
	return names, quiet, nil
}

// readRecord reads one file of the sessions directory and says what file it
// was: fs.ErrNotExist, ErrInvalid, or what the system says.
func (s *Store) readRecord(name string, space []byte, d *decoder, st *unix.Stat_t) (*Record, error) {
	text, err := readStat(s.sessions, name, space, st)
	if err != nil {
		return nil, err
	}
	return d.decodeStored(name, text)
}

// readPrivate reads a small regular file of ours, and nothing else that an
// attacker or an accident may have put in its place.
func readPrivate(dir linux.FD, name string, space []byte) ([]byte, error) {
	return readStat(dir, name, space, new(unix.Stat_t))
}

// readStat is readPrivate, and says what file it was.
func readStat(dir linux.FD, name string, space []byte, st *unix.Stat_t) ([]byte, error) {
	fd, err := linux.Openat(dir, name, unix.O_RDONLY, 0)
	if err != nil {
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
			err = invalid("file", "is no regular file")
		}
		return nil, err
	}
	defer fd.Close()
	if err := fd.Fstat(st); err != nil {
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
