package maintain

import (
	"errors"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

// How long records and files stay that nothing contradicts.
const (
	keepEnded   = 5 * time.Minute
	keepPidless = 10 * time.Minute
	keepUnknown = 7 * 24 * time.Hour // also entries of the archive, and launches
	keepTemp    = time.Minute
	keepLock    = 24 * time.Hour
)

// doomed is a record that is to go.
type doomed struct {
	fsstore.Stored
	why     string
	archive bool
}

// remove removes the records of what is over. Those that can be resumed are in
// the archive by then: all of them first, since ext4 makes no new file in the
// inode of one that was unlinked in the last seconds, but looks at each. Of the
// records of a session only the latest can be resumed.
func (m *run) remove() {
	all := m.doomed()
	if !m.DryRun {
		all = m.archived(all)
	}
	step("unlink")
	for _, r := range all {
		if !m.DryRun && !m.unlinked(r) {
			continue
		}
		c := change(r.Record, r.why)
		m.result.Removed = append(m.result.Removed, c)
		if r.archive {
			m.result.Archived = append(m.result.Archived, c)
		}
	}
}

// doomed returns the records that are to go.
func (m *run) doomed() []doomed {
	var all []doomed
	for _, r := range m.records {
		answer, why := m.processes.Check(r.Record)
		if why, over := m.over(r.Record, answer, why); over {
			archive := m.cutOff(r.Record, answer) && !m.left[r.Record] && m.sessions[r.SessionDigest()] == r.Record
			all = append(all, doomed{r, why, archive})
		}
	}
	return all
}

// archived writes what can be resumed into the archive. A record that cannot be
// written there is not among those returned: it stays, and with it what is
// known of the session.
func (m *run) archived(all []doomed) []doomed {
	kept := all[:0]
	for _, r := range all {
		if r.archive {
			written, err := m.archive.Put(r.Record, m.idleFrom(r.Record))
			if errors.Is(err, fsstore.ErrInvalid) { // with what is added it is too long
				err = nil
			}
			if m.failed(err) {
				continue
			}
			r.archive = written
		}
		kept = append(kept, r)
	}
	return kept
}

// unlinked removes a record, and reports whether it did.
func (m *run) unlinked(r doomed) bool {
	removing(r.Record)
	err := m.store.Remove(r.Stored, m.wait)
	switch {
	case err == nil:
		return true
	case errors.Is(err, fsstore.ErrStale) && r.archive: // it goes on
		m.failed(m.archive.Remove(r.SessionDigest()))
	case !conflict(err):
		m.failed(err)
	}
	return false
}

// cutOff reports whether the session of a record that goes can be resumed. A
// boot of another machine is no earlier one: what ended there, the user may
// have ended.
func (m *run) cutOff(r *fsstore.Record, answer proc.Answer) bool {
	return answer != proc.Unknown && r.CutOff(m.processes.Here().BootID, answer == proc.Dead)
}

// idleFrom is when the time of a session's being idle ended: with its process
// just now, or with the boot.
func (m *run) idleFrom(r *fsstore.Record) int64 {
	return fsstore.LastUp(m.boots, r.BootID, m.processes.Here().BootID, m.now).Unix()
}

// over reports whether a record goes, and why. answer is what was said of its
// process, for the given reason.
func (m *run) over(r *fsstore.Record, answer proc.Answer, reason string) (why string, over bool) {
	age := age(m.now, r.TS)
	pidless := r.PID == "" && m.local(r)
	switch {
	case answer == proc.Dead:
		return reason, true
	case answer == proc.Unknown && !pidless:
		return reason + ", not reported for " + span(r, age), age > keepUnknown
	case r.Status == fsstore.Ended:
		return "ended " + span(r, age) + " ago", age > keepEnded
	case pidless && m.launchEnded(r):
		return "its launch has ended", true
	case pidless && answer == proc.Unknown:
		return "no process recorded, not reported for " + span(r, age), age > keepPidless
	case r.Kind == fsstore.KindProcess && m.isClient(r):
		return "its session is one of the Codex daemon", true
	}
	return "", false
}

// span writes the age of a record.
func span(r *fsstore.Record, age time.Duration) string {
	if r.TS == 0 {
		return "an unknown time"
	}
	return text.Span(age)
}

// launchEnded reports whether the record is of a launch whose process is gone.
func (m *run) launchEnded(r *fsstore.Record) bool {
	id := r.LookupEnv(fsstore.EnvLaunchID)
	if id == "" {
		id = r.Session // as notify names the session of a launch
	}
	if r.Harness != "other" || !fsstore.IsLaunchID(id) {
		return false
	}
	launch, err := m.store.Launch(id)
	return err == nil && m.launchDead(launch)
}

func (m *run) launchDead(l fsstore.Launch) bool {
	here := m.processes.Here()
	host := proc.Host{BootID: l.BootID}
	if l.BootID != here.BootID {
		host.MachineID = here.MachineID // a launch does not say; the directory is this host's, unless shared
	}
	answer, _ := m.root.Check(proc.Identity{PID: l.PID, Start: l.ProcessStart, Host: host}, here)
	return answer == proc.Dead
}

// isClient reports whether the process of a record shows a session that a
// Codex daemon hosts.
func (m *run) isClient(r *fsstore.Record) bool {
	for _, c := range m.clients {
		if c.process == (process{r.PID, r.ProcessStart}) && m.shows(c) {
			return true
		}
	}
	return false
}

// forget deletes the entries of the archive that are old, and those of
// sessions that have gone on or ended by the user's wish.
func (m *run) forget() {
	if m.DryRun {
		return
	}
	digests, err := m.archive.Digests()
	if m.failed(err) || len(digests) == 0 {
		return
	}
	newer := m.bySession(digests)
	for _, digest := range digests {
		written := m.archive.Written(digest)
		stale := !written.IsZero() && m.now.Sub(written) > keepUnknown
		if records := newer[digest]; !stale && len(records) > 0 {
			entry, err := m.archive.Get(digest)
			stale = err == nil && m.goneOn(entry, records)
		}
		if stale {
			m.failed(m.archive.Remove(digest))
		}
	}
}

// bySession returns the records of the sessions with those digests.
func (m *run) bySession(digests []string) map[string][]*fsstore.Record {
	found := make(map[string][]*fsstore.Record, len(digests))
	for _, digest := range digests {
		if m.sessions[digest] != nil {
			found[digest] = nil
		}
	}
	if len(found) == 0 {
		return found
	}
	for _, r := range m.records {
		digest := r.SessionDigest()
		if _, ok := found[digest]; ok && !r.Legacy {
			found[digest] = append(found[digest], r.Record)
		}
	}
	return found
}

// goneOn reports whether a record makes the entry of its session obsolete.
func (m *run) goneOn(entry fsstore.Resumable, records []*fsstore.Record) bool {
	for _, r := range records {
		byUser := r.Status == fsstore.Ended && !r.CanResume(m.processes.Here().BootID)
		if r.After(entry.Record) || byUser && !entry.After(r) {
			return true
		}
	}
	return false
}
