package fsstore

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// Stored is a record as it stood in the store when it was read. It is for
// whoever changes records of others: a maintainer, or the user's own hand.
type Stored struct {
	*Record
	name    string
	version version
}

// version tells one version of a file from the others. Every write makes a new
// file; its inode may be that of an earlier one, but not in the same moment.
type version struct {
	inode  uint64
	change unix.Timespec
	size   int64
}

func versionOf(st *unix.Stat_t) version { return version{st.Ino, st.Ctim, st.Size} }

// locks are the names of the record's locks, in the order of taking them. A
// legacy record has no writer and none.
func (r Stored) locks() []string {
	if r.Legacy {
		return nil
	}
	digest := r.name[len(recordPrefix) : len(recordPrefix)+hexDigest]
	return []string{r.sessionLock(), recordLock(digest)}
}

// Remove unlinks the record under its locks, if it still is the version that
// was read: ErrStale if not, fs.ErrNotExist if it is gone.
func (s *Store) Remove(r Stored, wait time.Duration) error {
	locks := r.locks()
	return s.hold(r, locks, wait, func(held []heldLock) error {
		if err := unlink(s.sessions, r.name); err != nil {
			return err
		}
		now := time.Now()
		for i, l := range held {
			if l.held && l.lock.Sole() {
				linux.Utimensat(s.locks, locks[i], now) // see Leftovers
			}
		}
		return nil
	})
}

// Amend writes the record anew under its locks, if it still is the version
// that was read: ErrStale if not, fs.ErrNotExist if it is gone. change gets a
// copy to change; the arrival sequence is as it leaves it. Amend returns the
// record as it then stands in the store.
func (s *Store) Amend(r Stored, wait time.Duration, change func(*Record)) (Stored, error) {
	if r.Legacy {
		return r, invalid("schema_version", "is 0, which is never written")
	}
	amended := *r.Record
	change(&amended)
	r.Record = &amended
	err := s.hold(r, r.locks(), wait, func([]heldLock) error {
		if err := s.write(&amended, amended.digest()); err != nil {
			return err
		}
		var st unix.Stat_t
		if err := linux.Fstatat(s.sessions, r.name, &st); err != nil {
			return unavailable(err)
		}
		r.version = versionOf(&st)
		return nil
	})
	return r, err
}

// hold calls fn with the locks of the record held, if the file still is the
// version that was read.
func (s *Store) hold(r Stored, locks []string, wait time.Duration, fn func(held []heldLock) error) error {
	deadline := time.Now().Add(wait)
	held := make([]heldLock, len(locks))
	for i, name := range locks {
		lock, err := s.lock(name, deadline)
		if err != nil {
			return err
		}
		defer lock.release()
		held[i] = lock
	}
	// Opened, since a network file system only then asks for the file's state.
	fd, err := linux.Openat(s.sessions, r.name, unix.O_RDONLY, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return unavailable(err)
	}
	defer fd.Close()
	var st unix.Stat_t
	if err := fd.Fstat(&st); err != nil {
		return unavailable(err)
	}
	if versionOf(&st) != r.version {
		return ErrStale
	}
	return fn(held)
}
