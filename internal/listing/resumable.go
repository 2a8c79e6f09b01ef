package listing

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/proc"
)

// Resumables are the sessions that can be resumed.
type Resumables struct {
	Rows       []*fsstore.Annotated // the last reported first
	Unreadable []fsstore.Unreadable
	idleFrom   map[*fsstore.Annotated]int64
}

// IdleFrom is when the time of a session's being idle ended: with its process,
// or with the machine. It is in seconds since the epoch.
func (l *Resumables) IdleFrom(row *fsstore.Annotated) int64 { return l.idleFrom[row] }

// Within returns the rows of the sessions that were cut off while they worked
// or waited for the user, and of those that had been idle for at most the
// given time.
func (l *Resumables) Within(idle time.Duration) []*fsstore.Annotated {
	kept := l.Rows[:0:0]
	for _, r := range l.Rows {
		was := time.Duration(max(l.idleFrom[r]-r.TS, 0)) * time.Second
		if s := r.LastStatus(); s == fsstore.Running || s == fsstore.Waiting || 0 < idle && was <= idle {
			kept = append(kept, r)
		}
	}
	return kept
}

// Resumable lists the sessions of a state directory that were cut off: those in
// the archive, and those in the store that a maintenance would put there. A
// session is judged by its newest record; one that lives in some process is
// not to be resumed.
func Resumable(dir string, now time.Time) (Resumables, error) {
	var l Resumables
	store, err := fsstore.Open(dir, fsstore.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer store.Close()
	// The store first: what leaves it meanwhile is in the archive then.
	records, unreadable, err := store.All()
	if err != nil {
		return l, err
	}
	archive, err := store.Archive()
	if err != nil {
		return l, err
	}
	defer archive.Close()
	entries, unreadableEntries, err := archive.All()
	if err != nil {
		return l, err
	}
	l.Unreadable = append(unreadable, unreadableEntries...)
	slices.SortFunc(l.Unreadable, byName)

	found := make(bySession)
	for _, e := range entries {
		found.add(last{e.Record, e.IdleFrom, true})
	}
	processes := liveness.NewProcesses(proc.Root)
	here := processes.Here().BootID
	boots := store.BootsBefore(here, store.Stamp(), now)
	left := make(map[*fsstore.Record]bool)
	for _, r := range fsstore.Superseded(records) {
		left[r] = true
	}
	for _, r := range records {
		dead := processes.Dead(r)
		switch {
		case r.Status != fsstore.Ended && !dead:
			found.of(r).lives = true
		case !r.Legacy:
			found.add(last{r, fsstore.LastUp(boots, r.BootID, here, now).Unix(), r.CutOff(here, dead) && !left[r]})
		}
	}
	l.list(found, now)
	return l, nil
}

// list makes the rows.
func (l *Resumables) list(found bySession, now time.Time) {
	l.idleFrom = make(map[*fsstore.Annotated]int64)
	for _, s := range found {
		if s.lives || !s.last.cutOff {
			continue
		}
		row := fsstore.Annotate(s.last.Record, now)
		l.idleFrom[&row] = s.last.idleFrom
		l.Rows = append(l.Rows, &row)
	}
	slices.SortFunc(l.Rows, func(a, b *fsstore.Annotated) int {
		return cmp.Or(cmp.Compare(b.TS, a.TS), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Harness, b.Harness))
	})
}

// bySession is what is known of each session, by its key without an instance.
type bySession map[fsstore.Key]*session

type session struct {
	lives bool
	last  last
}

// last is the newest record of a session of which no process is left.
type last struct {
	*fsstore.Record
	idleFrom int64
	cutOff   bool
}

func (s bySession) of(r *fsstore.Record) *session {
	key := fsstore.Key{Harness: r.Harness, Session: r.Session}
	if s[key] == nil {
		s[key] = new(session)
	}
	return s[key]
}

// add keeps the newer one of two records of a session. Of two with the same
// time, one that was not cut off says that the session is over.
func (s bySession) add(l last) {
	known := &s.of(l.Record).last
	switch {
	case known.Record == nil, l.After(known.Record):
		*known = l
	case !l.cutOff && !known.After(l.Record):
		*known = l
	}
}
