package fsstore

import (
	"slices"

	"tongs-agents/internal/harness"
)

// Preferred is a record that a listing shows.
type Preferred struct {
	*Record
	Duplicate bool // another live process works on the same session
}

// Hidden is a record that a listing does not show.
type Hidden struct {
	*Record
	Why string  // in a few words for the user
	By  *Record // the record for which it is hidden, if it is for one
}

// Prefer returns the records that a listing shows, and those that it does not,
// each in the order given. Hidden are:
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
func Prefer(records []*Record, dead func(*Record) bool) ([]Preferred, []Hidden) {
	p := preference{hidden: make(map[*Record]Hidden), duplicate: make(map[*Record]bool)}
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
			p.hide(r, "it was removed", nil)
		}
	}
	for _, g := range sessions {
		p.otherProcesses(g, dead)
	}
	shown := make([]Preferred, 0, len(records))
	hidden := make([]Hidden, 0, len(p.hidden))
	for _, r := range records {
		if h, ok := p.hidden[r]; ok {
			hidden = append(hidden, h)
		} else {
			shown = append(shown, Preferred{r, p.duplicate[r]})
		}
	}
	return shown, hidden
}

type preference struct {
	hidden    map[*Record]Hidden
	duplicate map[*Record]bool
}

func (p *preference) hide(r *Record, why string, by *Record) { p.hidden[r] = Hidden{r, why, by} }

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
		if _, hidden := p.hidden[r]; !hidden {
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
	best := session[0]
	for _, r := range session {
		if rank(r) > rank(best) {
			best = r
		}
	}
	for _, r := range session {
		switch {
		case rank(r) == rank(best):
		case r.Legacy:
			p.hide(r, "its session has a record of schema 1", best)
		default:
			p.hide(r, "its session has a record that names the process", best)
		}
	}
}

// processRecords hides what a scan found of a process that a hook reports.
func (p *preference) processRecords(process []*Record) {
	var reported *Record
	for _, r := range process {
		if r.Kind == KindSession {
			reported = r
		}
	}
	for _, r := range process {
		if reported != nil && r.Kind == KindProcess {
			p.hide(r, "the session of its process is known", reported)
		}
	}
}

// superseded hides the sessions that a process has left for another one.
func (p *preference) superseded(process []*Record) {
	for _, l := range left(p.visible(process)) {
		p.hide(l.Record, "its process works on another session", l.newer)
	}
}

// left returns, of the sessions of one process, those that it has left for
// another one: all but the one with the newest event, if it works on one at a
// time.
func left(process []*Record) []leftSession {
	if len(process) == 0 || !harness.ByID(process[0].Harness).Single {
		return nil
	}
	var left []leftSession
	for _, g := range groups(process, hostOf) {
		newest := newest(g)
		for _, r := range g {
			if r != newest {
				left = append(left, leftSession{r, newest})
			}
		}
	}
	return left
}

// leftSession is a session that its process has left for a newer one.
type leftSession struct {
	*Record
	newer *Record
}

// Superseded returns the sessions that have not ended although their process
// has left them for another one: Prefer hides them.
func Superseded(records []*Record) []*Record {
	var superseded []*Record
	for _, process := range groups(records, processOf) {
		for _, l := range left(process) {
			if l.Status != Ended && !l.Legacy {
				superseded = append(superseded, l.Record)
			}
		}
	}
	return superseded
}

// host says where a pid and a start name one process.
type host struct{ boot, namespace string }

// hostOf returns the host of a record that a new session of its process
// supersedes.
func hostOf(r *Record) (host, bool) {
	return host{r.BootID, r.PIDNamespace}, r.Kind == KindSession && r.Mode != Daemon
}

// EventSuperseded is the last event, after the harness and a dot, of a session
// that its process has left for another one, as a maintainer found.
const EventSuperseded = "superseded"

func (r *Record) superseded() bool {
	return r.Status == Ended && r.LastEvent == r.Harness+"."+EventSuperseded
}

// newest returns the record with the newest event, of several of one boot. The
// order in which they are given does not matter. One that is known to be
// superseded is not it, although its end may be the last that was written.
func newest(records []*Record) *Record {
	timed := true // if one lacks its time since boot, the others' is of no use
	for _, r := range records {
		timed = timed && r.Boottime != 0
	}
	later := func(a, b *Record) bool {
		switch {
		case a.superseded() != b.superseded():
			return b.superseded()
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
		if !slices.Contains(alive, r) {
			p.hide(r, "its session lives in another process", alive[0])
		}
	}
	for _, r := range alive {
		p.duplicate[r] = len(alive) > 1
	}
}
