package fsstore

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/harness"
	"tongs-agents/linux"
)

// Archive is the directory resumable/: the last record of each session that
// has left the store and can be resumed, one SDIGEST.json each. SDIGEST is the
// SessionDigest.
type Archive struct {
	state linux.FD
	dir   linux.FD // -1: there is none yet
}

// Resumable is an entry of the archive.
type Resumable struct {
	*Record
	IdleFrom int64 // when its time of being idle ended, in seconds since the epoch
}

const (
	archiveDir = "resumable"
	idleFrom   = "idle_from"
)

// Archive opens the archive. One that does not exist yet is empty.
func (s *Store) Archive() (*Archive, error) {
	dir, err := openPrivate(s.state, archiveDir, min(s.access, Write))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unavailable(err)
	}
	return &Archive{s.state, dir}, nil
}

// Close closes the directory.
func (a *Archive) Close() {
	if a.dir >= 0 {
		a.dir.Close()
	}
}

// Digests lists the sessions that have an entry.
func (a *Archive) Digests() ([]string, error) {
	if a.dir < 0 {
		return nil, nil
	}
	files, err := namesIn(a.dir)
	if err != nil {
		return nil, err
	}
	digests := files[:0]
	for _, name := range files {
		if digest, ok := strings.CutSuffix(name, recordSuffix); ok && isDigest(digest) {
			digests = append(digests, digest)
		}
	}
	return digests, nil
}

// Get reads the entry of a session: fs.ErrNotExist if there is none, ErrInvalid
// if what is there is none.
func (a *Archive) Get(digest string) (Resumable, error) {
	var entry Resumable
	if a.dir < 0 {
		return entry, fs.ErrNotExist
	}
	text, err := readPrivate(a.dir, digest+recordSuffix, nil)
	if err != nil {
		return entry, err
	}
	if entry.Record, err = Decode(text); err != nil {
		return entry, err
	}
	if entry.SessionDigest() != digest {
		return entry, invalid("session_id", "belongs to another file name")
	}
	for i, m := range entry.Unknown {
		if m.Name == idleFrom {
			entry.IdleFrom, _ = strconv.ParseInt(string(m.Value), 10, 64)
			entry.Unknown = append(entry.Unknown[:i:i], entry.Unknown[i+1:]...)
			break
		}
	}
	return entry, nil
}

// All reads every entry, in no order. One that is none does not hide the
// others: it is among the unreadable ones.
func (a *Archive) All() ([]Resumable, []Unreadable, error) {
	digests, err := a.Digests()
	if err != nil {
		return nil, nil, err
	}
	var entries []Resumable
	var unreadable []Unreadable
	for _, digest := range digests {
		entry, err := a.Get(digest)
		switch {
		case err == nil:
			entries = append(entries, entry)
		case !errors.Is(err, fs.ErrNotExist): // else deleted meanwhile
			unreadable = append(unreadable, Unreadable{archiveDir + "/" + digest + recordSuffix, err})
		}
	}
	return entries, unreadable, nil
}

// Put writes the entry of a session, unless the one that is there has a later
// event, and reports whether it did. It is durable after Sync.
func (a *Archive) Put(r *Record, from int64) (bool, error) {
	if a.dir < 0 {
		dir, err := openPrivate(a.state, archiveDir, Create)
		if err != nil {
			return false, unavailable(err)
		}
		a.dir = dir
	}
	digest := r.SessionDigest()
	if old, err := a.Get(digest); err == nil && old.After(r) {
		return false, nil
	}
	entry := *r
	entry.Unknown = append(entry.Unknown[:len(entry.Unknown):len(entry.Unknown)],
		Member{idleFrom, strconv.AppendInt(nil, from, 10)})
	text, err := entry.encode(make([]byte, 0, 2<<10))
	if err == nil {
		err = writeFile(a.dir, digest+recordSuffix, text)
	}
	return err == nil, err
}

// Remove deletes the entry of a session. One that is gone is no error.
func (a *Archive) Remove(digest string) error {
	if a.dir < 0 {
		return nil
	}
	return unlink(a.dir, digest+recordSuffix)
}

// Written is when the entry of a session was written, zero if there is none.
func (a *Archive) Written(digest string) time.Time { return modified(a.dir, digest+recordSuffix) }

// Changed is when an entry was last written or removed, zero if never.
func (a *Archive) Changed() time.Time {
	if a.dir < 0 {
		return time.Time{}
	}
	return modified(a.dir, ".")
}

// fewSyncs is up to how many files are made durable one by one: more are
// cheaper with the whole file system.
const fewSyncs = 8

// Sync makes durable what was written since then.
func (a *Archive) Sync(since time.Time) error {
	digests, err := a.Digests()
	if err != nil || a.dir < 0 {
		return err
	}
	var written []string
	for _, digest := range digests {
		if at := a.Written(digest); at.IsZero() || !at.Before(since) { // zero: the look at it has failed
			written = append(written, digest+recordSuffix)
		}
	}
	if len(written) > fewSyncs {
		err = a.dir.Syncfs()
	} else {
		for _, name := range written {
			err = errors.Join(err, syncFile(a.dir, name))
		}
		err = errors.Join(err, a.dir.Fsync(), a.state.Fsync()) // which has the name of dir
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// syncFile writes a file's data to the disk. One that is gone is no error.
func syncFile(dir linux.FD, name string) error {
	fd, err := linux.Openat(dir, name, unix.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer fd.Close()
	return fd.Fsync()
}

// CutOff reports whether a session is one that the user may want to resume: it
// is over, by its end or since its process is dead, and CanResume.
func (r *Record) CutOff(bootID string, dead bool) bool {
	return (dead || r.Status == Ended) && r.CanResume(bootID)
}

// CanResume reports whether a session without a process could be resumed: it
// has a directory and a resume command, worked with the user, and did not end
// by the user's wish, but with its process, by a signal, or with an earlier
// boot than the given one.
func (r *Record) CanResume(bootID string) bool { return r.ResumeObstacle(bootID) == "" }

// ResumeObstacle says in a few words why CanResume does not hold. It is empty
// if it does.
func (r *Record) ResumeObstacle(bootID string) string {
	switch {
	case r.Legacy:
		return "its record is a legacy one"
	case r.Kind != KindSession:
		return "no hook has named its session"
	case r.RemovedAt != 0:
		return "it was removed"
	case r.Cwd == "":
		return "its directory is not known"
	case len(r.Resume) == 0:
		return "there is no command that resumes it"
	case r.Mode == Headless:
		return "it worked without the user"
	case r.superseded():
		return "its process went on with another session"
	case r.Status == Ended && !r.endedBySignal() && (r.BootID == "" || r.BootID == bootID):
		return "it was ended, and not by a signal"
	}
	return ""
}

// endedBySignal reports whether the harness says so of the end.
func (r *Record) endedBySignal() bool {
	signal := harness.ByID(r.Harness).SignalReason
	return signal != "" && r.EndReason == signal && r.Mode == Interactive
}

// LastStatus is the status before the end. It is Idle if no more is known.
func (r *Record) LastStatus() Status {
	if r.Status != Ended {
		return r.Status
	}
	for i := len(r.Recent) - 1; i >= 0; i-- {
		if s := r.Recent[i].Status; s != Ended {
			return s
		}
	}
	return Idle
}

// After reports whether the record's last event is later than that of another
// record of the same session.
func (r *Record) After(other *Record) bool {
	if r.BootID != "" && r.BootID == other.BootID && r.Boottime > 0 && other.Boottime > 0 && r.Boottime != other.Boottime {
		return r.Boottime > other.Boottime
	}
	return r.TS > other.TS
}
