package hook

import (
	"time"

	"tongs-agents/fsstore"
)

// entry is what a snapshot says of one session.
type entry struct {
	session    string
	status     string // idle, busy or retry; empty: status does not name it
	blocking   bool   // it waits for the user
	failed     bool   // its turn has failed
	title, cwd string
}

// named reports whether the session is there. A title or a directory alone is
// what a plugin may remember of a session that is gone.
func (n *entry) named() bool { return n.status != "" || n.blocking || n.failed }

func (n *entry) state() (s fsstore.Status, detail string) {
	switch {
	case n.blocking:
		return fsstore.Waiting, "waiting for user input"
	case n.status == "busy":
		return fsstore.Running, "processing prompt"
	case n.status == "retry":
		return fsstore.Running, "retrying"
	case n.failed:
		return fsstore.Error, "turn failed (API error)"
	}
	return fsstore.Idle, ""
}

// refresh is how old the record of an emitter without a process may become
// while it still reports. The maintainer removes it after 10 minutes.
const refresh = 5 * time.Minute

// applyEntry returns the record after an entry, or nil if nothing changes. An
// entry that says what is known is no activity, nor is another title.
func (s *snapshot) applyEntry(store *fsstore.Store, old *fsstore.Record, n *entry) *fsstore.Record {
	r := fsstore.Record{Key: s.key, Kind: fsstore.KindSession, Started: s.ts}
	status, detail := n.state()
	if old != nil {
		if old.NewerThan(s.boot, s.boottime) {
			return nil // the next snapshot says it again
		}
		r = *old
		if keepsError(old, status) {
			status, detail = old.Status, old.Detail
		}
		if s.settledIn(old) && sameState(old, status, detail) {
			s.describe(&r, false)
			if s.owner == nil && s.ts-old.TS >= int64(refresh/time.Second) {
				return s.finish(store, &r, report)
			}
			if r.Title == old.Title && r.Cwd == old.Cwd {
				return nil
			}
			return &r
		}
	}
	s.setTo(&r, status, detail)
	return s.finish(store, &r, state)
}

// sameState compares the details of running alone, where they tell one status
// from another: any other may be what a notice said more exactly.
func sameState(r *fsstore.Record, s fsstore.Status, detail string) bool {
	return r.Status == s && (s != fsstore.Running || r.Detail == detail)
}
