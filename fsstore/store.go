package fsstore

import (
	"errors"
	"io/fs"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
	"tongs-agents/lockfile"
)

// Store is an open state directory. Its methods may be called from several
// goroutines.
type Store struct {
	state    linux.FD
	sessions linux.FD
	locks    linux.FD // see openLocks; only of a store opened for writing
	access   Access
}

const sessionsDir = "sessions"

// Access is what a store is opened for.
type Access int

const (
	Read   Access = iota // for a reader, which changes nothing
	Write                // to change what is there
	Create               // to change it, and to make what is missing
)

// Open opens a state directory. Except for Create, one that does not exist is
// fs.ErrNotExist: there are no sessions. One that is a symbolic link or of
// another user, or cannot be used for another reason, is ErrUnavailable. One
// that others may enter is narrowed, except for Read.
func Open(path string, access Access) (*Store, error) {
	state, err := openState(path, access)
	if err != nil {
		return nil, openError(path, err, access)
	}
	sessions, err := openPrivate(state, sessionsDir, access)
	if err != nil {
		state.Close()
		return nil, openError(path, err, access)
	}
	s := &Store{state: state, sessions: sessions, locks: noLocks, access: access}
	if access != Read {
		if s.locks, err = openLocks(sessions); err != nil {
			s.Close()
			return nil, &UnavailableError{path, err}
		}
	}
	return s, nil
}

func openError(path string, err error, access Access) error {
	if access != Create && errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &UnavailableError{path, err}
}

// Close closes the directories.
func (s *Store) Close() {
	if s.locks != noLocks && s.locks != s.sessions {
		s.locks.Close()
	}
	s.sessions.Close()
	s.state.Close()
}

// Rules of an update.
type Rules struct {
	Create bool          // a record may come into being
	Wait   time.Duration // for both locks together
}

// Update changes the record of key under its locks and returns what it wrote.
//
// change gets the stored record, nil if there is none or what is there is no
// record, and returns the new one: a copy with any changes, which Update gives
// the key and the next arrival sequence. nil writes nothing. A ts far ahead is
// refused, except for one that was stored already.
//
// The first update that knows the process of a session continues the session's
// unresolved record: change gets that one. Once an identified record is written
// the unresolved one is removed.
//
// Without Create a missing record is fs.ErrNotExist, found without a lock.
func (s *Store) Update(key Key, rules Rules, change func(old *Record) (*Record, error)) (*Record, error) {
	digest, unresolved := key.digest(), ""
	if key.Instance != Unresolved {
		unresolved = key.unresolved().digest()
	}
	if !rules.Create {
		if err := s.existsEither(digest, unresolved); err != nil {
			return nil, err
		}
	}
	deadline := time.Now().Add(rules.Wait)
	identity, err := s.lock(key.sessionLock(), deadline)
	if err != nil {
		return nil, err
	}
	defer identity.release()
	lock, err := s.lock(recordLock(digest), deadline)
	if err != nil {
		return nil, err
	}
	defer lock.release()

	old, err := s.stored(digest)
	from := old // or the unresolved record that this one continues
	if err == nil && old == nil && unresolved != "" {
		from, err = s.stored(unresolved)
	}
	if err != nil {
		return nil, err
	}
	if from == nil && !rules.Create {
		return nil, fs.ErrNotExist
	}
	var before Record // change may have changed what it got
	if from != nil {
		before = *from
	}
	changed, err := change(from)
	if err != nil || changed == nil {
		return nil, err
	}
	r := *changed // the caller's own stays as it is
	r.Key = key
	r.Arrival = before.Arrival + 1
	if old != nil {
		if err := follows(&r, &before); err != nil {
			return nil, err
		}
	}
	if from == nil || r.TS != before.TS {
		if ahead := r.TS - time.Now().Unix(); ahead > MaxAhead {
			return nil, invalid("ts", "is "+strconv.FormatInt(ahead, 10)+" s in the future")
		}
	}
	if err := s.write(&r, digest); err != nil {
		return nil, err
	}
	// A failure to look leaves it to the next update; nobody lists it meanwhile.
	if exists, _ := s.exists(unresolved); exists {
		err = s.removeUnresolved(unresolved, deadline)
	}
	return &r, err
}

// follows reports why r may not replace the stored record old.
func follows(r, old *Record) error {
	switch {
	case old.PID != r.PID || old.ProcessStart != r.ProcessStart:
		return ErrOtherProcess
	case old.HasSequence && (!r.HasSequence || r.Sequence <= old.Sequence):
		return ErrStale
	}
	return nil
}

// write validates r and writes it. What does not fit is dropped from r too.
func (s *Store) write(r *Record, digest string) error {
	if err := r.Validate(); err != nil {
		return err
	}
	text, err := r.encode(make([]byte, 0, 2<<10))
	if err != nil {
		return err
	}
	return writeFile(s.sessions, recordFile(digest), text)
}

// removeUnresolved removes the record that an identified one has continued.
func (s *Store) removeUnresolved(digest string, deadline time.Time) error {
	lock, err := s.lock(recordLock(digest), deadline)
	if err != nil {
		return err
	}
	defer lock.release()
	return unlink(s.sessions, recordFile(digest)) // without locks another writer may have done so
}

// Withdraw takes back the record of a session that only the caller knows of
// and that came to nothing, and with it the locks, which guard nothing then.
func (s *Store) Withdraw(key Key, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	digest := key.digest()
	identity, err := s.lock(key.sessionLock(), deadline)
	if err != nil {
		return err
	}
	defer identity.release()
	lock, err := s.lock(recordLock(digest), deadline)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := unlink(s.sessions, recordFile(digest)); err != nil {
		return err
	}
	if s.locks != noLocks { // whoever waits for one makes a new file
		linux.Unlinkat(s.locks, recordLock(digest))
		linux.Unlinkat(s.locks, key.sessionLock())
	}
	return nil
}

// Import writes a complete record of a producer: what Decode returns of a line
// that an export printed. Only its arrival sequence is not kept; r itself is
// not changed.
func (s *Store) Import(r *Record, wait time.Duration) (*Record, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return s.Update(r.Key, Rules{Create: true, Wait: wait}, func(old *Record) (*Record, error) {
		if old != nil && !r.HasSequence && old.NewerThan(r.BootID, r.Boottime) {
			return nil, ErrStale
		}
		c := *r
		return &c, nil
	})
}

// NewerThan reports whether the record's state was set by an event later than
// that of the given boot and CLOCK_BOOTTIME. Events of two boots, or without a
// time, have no order: the later arrival counts.
func (r *Record) NewerThan(bootID string, boottime int64) bool {
	return newer(r.BootID, r.Boottime, bootID, boottime)
}

// newer reports whether the first of two events is certainly the later one.
func newer(boot string, boottime int64, otherBoot string, other int64) bool {
	return boot != "" && boot == otherBoot && other > 0 && boottime > other
}

// existsEither is fs.ErrNotExist if there is no record file of either digest.
// That one cannot be seen is another error: who is told that a session has no
// record forgets the session.
func (s *Store) existsEither(digests ...string) error {
	for _, digest := range digests {
		if exists, err := s.exists(digest); exists || err != nil {
			return err
		}
	}
	return fs.ErrNotExist
}

// exists reports whether there is a record file. No digest names none.
func (s *Store) exists(digest string) (bool, error) {
	if digest == "" {
		return false, nil
	}
	var st unix.Stat_t
	err := linux.Fstatat(s.sessions, recordFile(digest), &st)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, unavailable(err)
}

// stored reads a record of schema 1. Something that is no record counts as
// none: a write replaces it, but not what a newer program has written.
func (s *Store) stored(digest string) (*Record, error) {
	r, err := s.readRecord(recordFile(digest), nil, newDecoder(1), new(unix.Stat_t))
	switch {
	case errors.Is(err, ErrNewer):
		return nil, err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrInvalid):
		return nil, nil
	case err != nil:
		return nil, unavailable(err)
	}
	return r, nil
}

// heldLock is a lock, or nothing where nothing can be locked.
type heldLock struct {
	lock lockfile.Lock
	held bool
}

func (l heldLock) release() {
	if l.held {
		l.lock.Release()
	}
}

// lock takes a lock of the store. Where the file system cannot lock, writes go
// by rename alone.
func (s *Store) lock(name string, deadline time.Time) (heldLock, error) {
	if s.locks == noLocks {
		return heldLock{}, nil
	}
	l, err := lockfile.Acquire(s.locks, name, deadline)
	switch {
	case err == nil:
		return heldLock{l, true}, nil
	case errors.Is(err, lockfile.ErrUnsupported):
		return heldLock{}, nil
	case errors.Is(err, lockfile.ErrTimeout):
		return heldLock{}, ErrLockTimeout
	}
	return heldLock{}, unavailable(err)
}

// writeFile replaces a file whole: readers see the old or the new one. When it
// fails, the old one stays and nothing else is left.
func writeFile(dir linux.FD, name string, text []byte) error {
	fd, temp, err := createTemp(dir)
	if err != nil {
		return unavailable(err)
	}
	err = writeTemp(fd, text)
	if closeErr := fd.Close(); err == nil {
		err = closeErr // where a network file system reports a failed write
	}
	if err == nil {
		err = linux.Renameat(dir, temp, name)
	}
	if err != nil {
		linux.Unlinkat(dir, temp)
		return unavailable(err)
	}
	return nil
}

func writeTemp(fd linux.FD, text []byte) error {
	var st unix.Stat_t
	if err := fd.Fstat(&st); err != nil {
		return err
	}
	if st.Mode&0o777 != 0o600 { // a umask that takes from the owner
		if err := fd.Fchmod(0o600); err != nil {
			return err
		}
	}
	return fd.WriteAll(text)
}

var temps atomic.Uint64

// createTemp creates a file with a name that no other process or goroutine
// uses. The name begins with the writer's pid, for whoever cleans up after it.
func createTemp(dir linux.FD) (linux.FD, string, error) {
	for {
		name := tempPrefix + strconv.Itoa(unix.Getpid()) + "-" +
			strconv.FormatInt(linux.Boottime(), 36) + "-" + strconv.FormatUint(temps.Add(1), 36) + tempSuffix
		fd, err := linux.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return fd, name, err
		}
	}
}
