package fsstore

import "tongs-agents/internal/harness"

// Preferred is a record that a listing shows.
type Preferred struct {
	*Record
	Duplicate bool // another live process works on the same session
}

// Prefer returns the records that a listing shows, in the order given. Hidden
// are:
//   - a legacy record where its session has one of schema 1;
//   - an unresolved record where its session has an identified one;
//   - a process record where the process has a session record;
//   - tombstones;
//   - ended and dead records of a session that lives in another process;
//   - of several sessions of one process that works on one at a time, all but
//     the one with the newest event.
//
// dead says whether a record's process has certainly ended. It is asked only
// about sessions with several records.
func Prefer(records []*Record, dead func(*Record) bool) []Preferred {
	p := preference{hidden: make(map[*Record]bool), duplicate: make(map[*Record]bool)}
	sessions := groups(records, sessionOf)
	for _, g := range sessions {
		p.betterRecords(g)
	}
	for _, g := range groups(records, processOf) {
		p.processRecords(g)
		p.superseded(g)
	}
	for _, r := range records {
		if r.RemovedAt != 0 { // after what it hides
			p.hidden[r] = true
		}
	}
	for _, g := range sessions {
		p.otherProcesses(g, dead)
	}
	shown := make([]Preferred, 0, len(records))
	for _, r := range records {
		if !p.hidden[r] {
			shown = append(shown, Preferred{r, p.duplicate[r]})
		}
	}
	return shown
}

type preference struct {
	hidden, duplicate map[*Record]bool
}

// session names a session in whatever process.
type session struct{ harness, id string }

func sessionOf(r *Record) (session, bool) { return session{r.Harness, r.Session}, true }

// process names a process in which a harness runs, on one boot of one machine.
type process struct{ harness, pid, start string }

func processOf(r *Record) (process, bool) {
	return process{r.Harness, r.PID, r.ProcessStart}, r.PID != ""
}

// groups returns the records that share a key with another one. Most share
// none, so that a store of many sessions costs one map.
func groups[K comparable](records []*Record, key func(*Record) (K, bool)) [][]*Record {
	first := make(map[K]*Record, len(records))
	index := make(map[K]int)
	var groups [][]*Record
	for _, r := range records {
		k, ok := key(r)
		if !ok {
			continue
		}
		other, seen := first[k]
		if !seen {
			first[k] = r
			continue
		}
		i, grouped := index[k]
		if !grouped {
			i = len(groups)
			index[k] = i
			groups = append(groups, []*Record{other})
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// visible returns the records of a group that nothing has hidden yet.
func (p *preference) visible(group []*Record) []*Record {
	var visible []*Record
	for _, r := range group {
		if !p.hidden[r] {
			visible = append(visible, r)
		}
	}
	return visible
}

// betterRecords hides what a better founded record of the session replaces.
func (p *preference) betterRecords(session []*Record) {
	rank := func(r *Record) int {
		switch {
		case r.Legacy:
			return 0
		case r.Identity == Unresolved:
			return 1
		}
		return 2
	}
	best := 0
	for _, r := range session {
		best = max(best, rank(r))
	}
	for _, r := range session {
		if rank(r) < best {
			p.hidden[r] = true
		}
	}
}

// processRecords hides what a scan found of a process that a hook reports.
func (p *preference) processRecords(process []*Record) {
	reported := false
	for _, r := range process {
		reported = reported || r.Kind == KindSession
	}
	for _, r := range process {
		if reported && r.Kind == KindProcess {
			p.hidden[r] = true
		}
	}
}

// superseded hides the sessions that a process has left for another one.
func (p *preference) superseded(process []*Record) {
	if !harness.ByID(process[0].Harness).Single {
		return
	}
	for _, g := range groups(p.visible(process), hostOf) {
		newest := newest(g)
		for _, r := range g {
			if r != newest {
				p.hidden[r] = true
			}
		}
	}
}

// host says where a pid and a start name one process.
type host struct{ boot, namespace string }

// hostOf returns the host of a record that a new session of its process
// supersedes.
func hostOf(r *Record) (host, bool) {
	return host{r.BootID, r.PIDNamespace}, r.Kind == KindSession && r.Mode != Daemon
}

// newest returns the record with the newest event, of several of one boot. The
// order in which they are given does not matter.
func newest(records []*Record) *Record {
	timed := true // if one lacks its time since boot, the others' is of no use
	for _, r := range records {
		timed = timed && r.Boottime != 0
	}
	later := func(a, b *Record) bool {
		switch {
		case timed && a.Boottime != b.Boottime:
			return a.Boottime > b.Boottime
		case a.TS != b.TS:
			return a.TS > b.TS
		}
		return a.Session > b.Session
	}
	found := records[0]
	for _, r := range records[1:] {
		if later(r, found) {
			found = r
		}
	}
	return found
}

// otherProcesses hides what is left of a session in processes that it has
// outlived, and marks one that lives twice.
func (p *preference) otherProcesses(session []*Record, dead func(*Record) bool) {
	session = p.visible(session)
	if len(session) < 2 {
		return
	}
	var alive []*Record
	for _, r := range session {
		if r.Status != Ended && !dead(r) {
			alive = append(alive, r)
		}
	}
	if len(alive) == 0 {
		return
	}
	for _, r := range session {
		p.hidden[r] = true
	}
	for _, r := range alive {
		p.hidden[r] = false
		p.duplicate[r] = len(alive) > 1
	}
}
