package fsstore

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
	"tongs-agents/lockfile"
)

// Leftovers says what of a store nothing will use any more.
type Leftovers struct {
	// Temp reports whether no writer will rename a temporary file.
	Temp func(Temp) bool

	// Locks are left over that were not used since, and whose record, session
	// or instance the store no longer has. Removing a record counts as a use.
	LocksUnusedSince time.Time

	// Session reports whether there is a record of a session, by its
	// SessionDigest.
	Session func(digest string) bool
}

// Temp is a file whose writing has begun and not ended.
type Temp struct {
	PID  int       // of the writer, 0 if the name does not tell
	Time time.Time // of the last write
}

// Sweep removes leftovers from among what the store held: temporary files in
// every directory of it, and lock files. Whoever waits for a lock that is
// removed finds so once it has it, and takes the next one.
func (s *Store) Sweep(c Contents, l Leftovers) error {
	err := sweepTemps(s.sessions, c.names, l.Temp)
	for _, name := range [...]string{".", archiveDir, launches} {
		err = errors.Join(err, sweepTempsIn(s.state, name, l.Temp))
	}
	if s.locks == noLocks {
		return err
	}
	locks := c.names
	if s.locks != s.sessions {
		var namesErr error
		if locks, namesErr = namesIn(s.locks); namesErr != nil {
			return errors.Join(err, namesErr)
		}
	}
	guarded := make(map[string]bool, len(c.names))
	for _, name := range c.names {
		guarded[name] = true
	}
	return errors.Join(err, s.sweepLocks(locks, guarded, l))
}

func sweepTempsIn(state linux.FD, name string, stale func(Temp) bool) error {
	dir, err := openPrivate(state, name, Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unavailable(err)
	}
	defer dir.Close()
	files, err := namesIn(dir)
	if err != nil {
		return err
	}
	return sweepTemps(dir, files, stale)
}

func sweepTemps(dir linux.FD, files []string, stale func(Temp) bool) error {
	for _, name := range files {
		rest, ok := strings.CutPrefix(name, tempPrefix)
		if !ok || !strings.HasSuffix(name, tempSuffix) {
			continue
		}
		temp := Temp{Time: modified(dir, name)}
		pid, _, _ := strings.Cut(rest, "-")
		temp.PID, _ = strconv.Atoi(pid)
		if temp.Time.IsZero() || !stale(temp) {
			continue
		}
		if err := unlink(dir, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) sweepLocks(locks []string, guarded map[string]bool, l Leftovers) error {
	for _, name := range locks {
		if !unused(name, guarded, l.Session) {
			continue
		}
		if used := modified(s.locks, name); used.IsZero() || !used.Before(l.LocksUnusedSince) {
			continue
		}
		lock, err := lockfile.Try(s.locks, name)
		if err != nil {
			continue // in use, or nothing that we ever locked
		}
		err = unlink(s.locks, name)
		lock.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// unused reports whether a name is that of a lock with nothing to guard.
func unused(name string, guarded map[string]bool, session func(digest string) bool) bool {
	digest, ok := strings.CutPrefix(name, lockPrefix)
	digest, isLock := strings.CutSuffix(digest, lockSuffix)
	if !ok || !isLock {
		return false
	}
	if digest, ok := strings.CutPrefix(digest, "session-"); ok {
		return isDigest(digest) && !session(digest)
	}
	if instance, ok := strings.CutPrefix(digest, "instance-"); ok {
		return isDigest(instance) && !guarded[instanceFile(instance)]
	}
	return isDigest(digest) && !guarded[recordFile(digest)]
}

// unlink removes a name. One that is gone is no error.
func unlink(dir linux.FD, name string) error {
	if err := linux.Unlinkat(dir, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable(err)
	}
	return nil
}

// modified is the time of a file's last change, zero if there is none.
func modified(dir linux.FD, name string) time.Time {
	var st unix.Stat_t
	if linux.Fstatat(dir, name, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Mtim.Unix())
}
