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
	p.betterRecords(records)
	p.processRecords(records)
	p.superseded(records)
	p.tombstones(records) // after what they hide
	p.otherProcesses(records, dead)

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

func sessionOf(r *Record) session { return session{r.Harness, r.Session} }

// process names a process in which a harness runs.
type process struct{ harness, pid, start, boot, namespace string }

func processOf(r *Record) process {
	return process{r.Harness, r.PID, r.ProcessStart, r.BootID, r.PIDNamespace}
}

// group collects the records that are not hidden, of one key each.
func group[K comparable](p *preference, records []*Record, key func(*Record) (K, bool)) map[K][]*Record {
	groups := make(map[K][]*Record, len(records))
	for _, r := range records {
		if k, ok := key(r); ok && !p.hidden[r] {
			groups[k] = append(groups[k], r)
		}
	}
	return groups
}

// betterRecords hides what a better founded record of the session replaces.
func (p *preference) betterRecords(records []*Record) {
	rank := func(r *Record) int {
		switch {
		case r.Legacy:
			return 0
		case r.Identity == Unresolved:
			return 1
		}
		return 2
	}
	best := make(map[session]int, len(records))
	for _, r := range records {
		best[sessionOf(r)] = max(best[sessionOf(r)], rank(r))
	}
	for _, r := range records {
		if rank(r) < best[sessionOf(r)] {
			p.hidden[r] = true
		}
	}
}

// processRecords hides what a scan found where a hook has reported since.
func (p *preference) processRecords(records []*Record) {
	reported := make(map[process]bool)
	key := func(r *Record) process { return process{harness: r.Harness, pid: r.PID, start: r.ProcessStart} }
	for _, r := range records {
		if r.Kind == KindSession && r.PID != "" {
			reported[key(r)] = true
		}
	}
	for _, r := range records {
		if r.Kind == KindProcess && reported[key(r)] {
			p.hidden[r] = true
		}
	}
}

// superseded hides the sessions that a process has left for another one.
func (p *preference) superseded(records []*Record) {
	groups := group(p, records, func(r *Record) (process, bool) {
		h := harness.ByID(r.Harness)
		return processOf(r), h.Single && r.Kind == KindSession && r.PID != "" && r.Mode != Daemon
	})
	for _, g := range groups {
		newest := g[0]
		for _, r := range g[1:] {
			if later(r, newest) {
				newest = r
			}
		}
		for _, r := range g {
			if r != newest {
				p.hidden[r] = true
			}
		}
	}
}

// later reports whether the newest event of a, a record of the same boot, is
// later than that of b.
func later(a, b *Record) bool {
	if a.Boottime != b.Boottime && a.Boottime != 0 && b.Boottime != 0 {
		return a.Boottime > b.Boottime
	}
	return a.TS > b.TS
}

func (p *preference) tombstones(records []*Record) {
	for _, r := range records {
		if r.RemovedAt != 0 {
			p.hidden[r] = true
		}
	}
}

// otherProcesses hides what is left of a session in processes that it has
// outlived, and marks one that lives twice.
func (p *preference) otherProcesses(records []*Record, dead func(*Record) bool) {
	groups := group(p, records, func(r *Record) (session, bool) { return sessionOf(r), true })
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		var alive []*Record
		for _, r := range g {
			if r.Status != Ended && !dead(r) {
				alive = append(alive, r)
			}
		}
		if len(alive) == 0 {
			continue
		}
		for _, r := range g {
			p.hidden[r] = true
		}
		for _, r := range alive {
			p.hidden[r] = false
			p.duplicate[r] = len(alive) > 1
		}
	}
}
