package hook

import (
	"errors"
	"io/fs"
	"strconv"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/proc"
)

// snapshot is what a plugin says of all sessions of its process at once.
type snapshot struct {
	event   // of one session after the other: key, kind and payload change
	id      string
	entries []entry
	index   fsstore.Instance
}

// readSnapshot reads a snapshot. A key that is missing, of a wrong type or of a
// value that a record or an index could not hold refuses the whole.
func readSnapshot(c command, scanner *jsonstream.Scanner, e event) (action, error) {
	s := &snapshot{event: e}
	s.payload = new(payload)
	s.harness, s.name, s.via = c.agent, snapshotEvent, fsstore.SourcePlugin
	d := snapshotDecoder{s: s}
	d.Scanner, d.payload, d.what = scanner, s.payload, snapshotEvent
	if err := d.decode(); err != nil {
		return nil, err
	}
	if Getenv("TONGS_AGENTS_PRIVATE") == "1" {
		for i := range s.entries {
			s.entries[i].title = ""
		}
	}
	s.identify()
	if err := s.index.Validate(); err != nil {
		return nil, d.refuse("status", "cannot be kept: "+err.Error())
	}
	return s, nil
}

// identify names the instance, and the sessions in its index.
func (s *snapshot) identify() {
	here := proc.Root.Host()
	s.boot = here.BootID
	s.index = fsstore.Instance{
		Harness: s.harness.ID, ID: s.id,
		BootID: here.BootID, PIDNamespace: here.PIDNamespace, MachineID: here.MachineID,
		Boottime: s.boottime,
	}
	if s.owner != nil {
		s.index.ID = instanceOf(s.owner)
		s.index.PID, s.index.ProcessStart = strconv.Itoa(s.owner.PID), s.owner.Start
	}
	for _, n := range s.entries {
		s.index.Sessions = append(s.index.Sessions, n.session)
	}
}

// do brings the records up to the snapshot. It touches the index and the
// records of the sessions that are or were named, however many others the store
// has.
//
// It may be killed at any moment. The index names a session before there is a
// record of it, and until that has ended: first the sessions that are left out
// end, then the index is written, then the records of the others. Whatever was
// left undone, the next snapshot sees in the index and in the records, and
// does. So it is with a record that cannot be written, which keeps none of the
// others back.
func (s *snapshot) do() (string, error) {
	dir, err := fsstore.StateDirOf(Getenv)
	if err != nil {
		return "", err
	}
	store, err := fsstore.Open(dir, fsstore.Create) // the end of the process closes it
	if err != nil {
		return "", err
	}
	w := snapshotWriter{snapshot: s, store: store, deadline: time.Now().Add(lockWait)}
	held, err := store.HoldInstance(s.index.Harness, s.index.ID, lockWait)
	if err != nil {
		return "", err
	}
	defer held.Release()
	return w.write(held)
}

// snapshotWriter writes the records of a snapshot, under the lock of the index.
type snapshotWriter struct {
	*snapshot
	store    *fsstore.Store
	deadline time.Time // for all locks
	written  int       // records
	failed   error     // the first of the errors that kept a record from being written
}

func (w *snapshotWriter) write(held *fsstore.HeldInstance) (string, error) {
	if old := held.Stored; old != nil {
		if old.NewerThan(w.boot, w.boottime) {
			return "", dropped("snapshot older than the last one")
		}
		w.endAll(old.Sessions)
	}
	if err := held.Write(&w.index); err != nil {
		return "", err
	}
	for i := range w.entries {
		w.enter(&w.entries[i])
	}
	switch {
	case w.failed != nil:
		return "", w.failed
	case w.written == 0:
		return "", nothingChanges
	}
	return w.harness.ID + "." + w.name + " " + w.index.ID + ": " + strconv.Itoa(len(w.entries)) + " sessions, " +
		strconv.Itoa(w.written) + " records written", nil
}

// endAll ends the sessions of the last snapshot that are left out. The index
// keeps those whose end is yet to be recorded.
func (w *snapshotWriter) endAll(last []string) {
	named := make(map[string]bool, len(w.entries))
	for _, n := range w.entries {
		named[n.session] = true
	}
	for _, session := range last {
		if !named[session] && !w.end(session) {
			w.index.Sessions = append(w.index.Sessions, session)
		}
	}
}

// end ends a session and reports whether it is over.
func (w *snapshotWriter) end(session string) bool {
	w.about(session, harness.SessionEnd, payload{})
	over := true
	err := w.update(false, func(old *fsstore.Record) *fsstore.Record {
		if old.NewerThan(w.boot, w.boottime) { // a notice, say, after which nothing of the session came
			over = false
			return nil
		}
		return w.event.apply(w.store, old)
	})
	return over && err == nil
}

// enter brings the record of a session up to what is said of it. One that says
// it already is only read.
func (w *snapshotWriter) enter(n *entry) {
	w.about(n.session, harness.NoEvent, payload{title: n.title, cwd: n.cwd})
	change := func(old *fsstore.Record) *fsstore.Record { return w.applyEntry(w.store, old, n) }
	if old, err := w.store.Get(w.key); err == nil && change(old) == nil {
		return
	}
	w.update(true, change)
}

// about makes the event one of a session.
func (w *snapshotWriter) about(session string, kind harness.Event, p payload) {
	w.key = fsstore.Key{Harness: w.index.Harness, Session: session, Instance: w.index.ID}
	w.kind = kind
	*w.payload = p
}

// update changes the record of the session that the event is about. None that
// it could change is no error.
func (w *snapshotWriter) update(create bool, change func(old *fsstore.Record) *fsstore.Record) error {
	rules := fsstore.Rules{Create: create, Wait: time.Until(w.deadline)}
	r, err := w.store.Update(w.key, rules, func(old *fsstore.Record) (*fsstore.Record, error) { return change(old), nil })
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsstore.ErrUnavailable) {
		err = nil
	}
	if r != nil {
		w.written++
	}
	if w.failed == nil {
		w.failed = err
	}
	return err
}
