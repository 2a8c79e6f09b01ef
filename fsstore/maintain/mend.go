package maintain

import (
	"slices"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/maintain/evidence"
	"tongs-agents/proc"
)

// mend corrects what hooks have missed.
func (m *run) mend() {
	for i := range m.records {
		r := &m.records[i]
		if o, ok := m.contradiction(r.Record); ok {
			m.amend(r, "the agent's own file says "+string(o.Status)+" since "+o.At.Format(time.TimeOnly),
				func(r *fsstore.Record) { observe(r, o) })
		}
	}
	m.supersede()
	m.placeHosted()
}

// contradiction returns what the harness's own file says of a session, if that
// is newer than the record and changes it.
func (m *run) contradiction(r *fsstore.Record) (evidence.Observation, bool) {
	var none evidence.Observation
	if r.Kind != fsstore.KindSession || r.Legacy || r.RemovedAt != 0 || r.PID == "" {
		return none, false
	}
	if r.Status != fsstore.Running && r.Status != fsstore.Waiting && r.Source != fsstore.SourceProcess {
		return none, false // before anything is read
	}
	source := evidence.ByHarness(r.Harness, m.root)
	if source == nil {
		return none, false
	}
	if answer, _ := m.processes.Check(r); answer != proc.Alive {
		return none, false
	}
	o, ok := source.Observe(r)
	if !ok || !mends(r, o) {
		return none, false
	}
	if o.Automatic && r.Status == fsstore.Waiting {
		return o, true // its request is newer, and was no question to the user
	}
	return o, o.At.After(m.reported(r)) && !m.ahead(o)
}

// ahead reports whether an observation is of a time that is yet to come.
func (m *run) ahead(o evidence.Observation) bool {
	return o.At.After(m.now.Add(fsstore.MaxAhead * time.Second))
}

// mends reports whether an observation may change the state of a record. What
// only a scan has found has no other reporter than the file, which also tells
// of a turn that came and went unseen.
func mends(r *fsstore.Record, o evidence.Observation) bool {
	if r.Source == fsstore.SourceProcess {
		return r.Status != fsstore.Ended && (r.Status != o.Status || r.TS != o.At.Unix())
	}
	switch r.Status {
	case o.Status:
		return false
	case fsstore.Running:
		return o.Status == fsstore.Idle || o.Status == fsstore.Waiting || o.Status == fsstore.Error && r.Harness == "codex"
	case fsstore.Waiting:
		return o.Status == fsstore.Idle || o.Status == fsstore.Running
	}
	return false
}

// reported is the time of the last report, by the wall clock. A record has it
// in whole seconds, but that of the event which set the state exactly.
func (m *run) reported(r *fsstore.Record) time.Time {
	at := time.Unix(min(r.TS, m.now.Unix()), 0)
	if r.BootID == m.processes.Here().BootID && 0 < r.Boottime && r.Boottime <= m.boottime {
		if exact := m.now.Add(time.Duration(r.Boottime - m.boottime)); exact.After(at) {
			return exact
		}
	}
	return at
}

// observe takes over what an agent's own file says.
func observe(r *fsstore.Record, o evidence.Observation) {
	r.Status, r.Tool, r.WaitingFor = o.Status, "", nil
	if o.Status == fsstore.Waiting {
		r.WaitingFor = new(fsstore.Wait)
	}
	switch {
	case r.Source == fsstore.SourceProcess && o.Status != fsstore.Waiting:
		r.Detail = noHook // nothing says how the turn ended
	case o.Detail != "":
		r.Detail = o.Detail
	case o.Status == fsstore.Running:
		r.Detail = "processing prompt"
	case o.Status == fsstore.Waiting:
		r.Detail = "waiting for user input"
	case o.Status == fsstore.Error:
		r.Detail = "turn failed (API error)"
	default:
		r.Detail = "interrupted"
	}
	r.TS = max(r.TS, o.At.Unix())
	note(r, "observed-"+string(o.Status))
}

// note says in the record what has happened to it.
func note(r *fsstore.Record, event string) {
	r.LastEvent = r.Harness + "." + event
	r.AddRecent(fsstore.Recent{Event: event, Status: r.Status, TS: r.TS})
}

// supersede ends the sessions that their process has left for another one.
func (m *run) supersede() {
	records := make([]*fsstore.Record, len(m.records))
	for i, r := range m.records {
		records[i] = r.Record
	}
	superseded := fsstore.Superseded(records)
	if len(superseded) == 0 {
		return
	}
	index := make(map[*fsstore.Record]int, len(records))
	for i, r := range records {
		index[r] = i
	}
	m.left = make(map[*fsstore.Record]bool)
	for _, r := range superseded {
		switch {
		case m.processes.Dead(r):
			m.left[r] = true // it goes in a moment
		case m.local(r):
			m.endSuperseded(&m.records[index[r]])
		}
	}
}

// endSuperseded ends a session that its process has left for another one.
func (m *run) endSuperseded(r *fsstore.Stored) {
	m.amend(r, "process "+r.PID+" works on another session", func(r *fsstore.Record) {
		r.Status, r.Detail, r.EndReason = fsstore.Ended, "superseded by another session", fsstore.EventSuperseded
		r.Tool, r.WaitingFor = "", nil
		r.TS = m.now.Unix()
		note(r, fsstore.EventSuperseded)
	})
}

// client is a Codex process that shows a session of the daemon.
type client struct {
	process
	cwd, tty string
	resumed  string // the session that its command line names
}

// resumedBy returns the session of the daemon that a client was told to
// resume, or nil.
func (m *run) resumedBy(c client) *fsstore.Stored {
	for _, sessions := range m.hosted {
		for _, r := range sessions {
			if r.Session == c.resumed {
				return r
			}
		}
	}
	return nil
}

// shows reports whether a client may show a session of the daemon.
func (m *run) shows(c client) bool { return len(m.hosted[c.cwd]) > 0 || m.resumedBy(c) != nil }

// hostedByDaemon returns the live sessions of a Codex daemon.
func (m *run) hostedByDaemon() map[string][]*fsstore.Stored {
	hosted := map[string][]*fsstore.Stored{}
	for i := range m.records {
		r := &m.records[i]
		if r.Harness == "codex" && r.Mode == fsstore.Daemon && r.Status != fsstore.Ended && r.Cwd != "" && m.local(r.Record) && !m.processes.Dead(r.Record) {
			hosted[r.Cwd] = append(hosted[r.Cwd], r)
		}
	}
	return hosted
}

// placeHosted says on which terminal a session of a daemon is shown. Unless a
// client was told to resume it, nothing but the directory joins the two: one
// session and one client in it are a pair. A terminal that no client of the
// session has any more is forgotten.
func (m *run) placeHosted() {
	ttys := map[*fsstore.Stored][]string{}
	sure := map[*fsstore.Stored]bool{} // its client can show no other
	var others []client
	for _, c := range m.clients {
		if r := m.resumedBy(c); r != nil {
			ttys[r], sure[r] = append(ttys[r], c.tty), true
		} else {
			others = append(others, c)
		}
	}
	for _, sessions := range m.hosted {
		left := slices.DeleteFunc(slices.Clone(sessions), func(r *fsstore.Stored) bool { return sure[r] })
		for _, r := range left {
			for _, c := range others {
				if c.cwd == r.Cwd {
					ttys[r] = append(ttys[r], c.tty)
				}
			}
			sure[r] = len(left) == 1
		}
	}
	for _, sessions := range m.hosted {
		for _, r := range sessions {
			switch {
			case len(ttys[r]) == 1 && sure[r] && r.TTY != ttys[r][0]:
				tty := ttys[r][0]
				m.amend(r, "shown on "+tty, func(r *fsstore.Record) { place(r, tty) })
			case r.TTY != "" && !slices.Contains(ttys[r], r.TTY):
				m.amend(r, "no longer shown on "+r.TTY, func(r *fsstore.Record) { place(r, "") })
			}
		}
	}
}

// place sets the terminal of a session. It is no report.
func place(r *fsstore.Record, tty string) {
	r.TTY, r.Focus = tty, fsstore.Focus{Kind: fsstore.FocusUnavailable}
	if tty != "" {
		r.Focus.Kind = fsstore.FocusTerminal
	}
}

// amend writes a record anew.
func (m *run) amend(r *fsstore.Stored, why string, fn func(*fsstore.Record)) {
	was := r.Status
	if m.DryRun {
		amended := *r.Record
		fn(&amended)
		r.Record = &amended
	} else {
		amended, err := m.store.Amend(*r, m.wait, func(r *fsstore.Record) {
			fn(r)
			r.Arrival++
		})
		if conflict(err) || m.failed(err) {
			return
		}
		*r = amended
	}
	if r.Status != was {
		why = string(was) + " to " + string(r.Status) + ": " + why
	}
	m.result.Mended = append(m.result.Mended, change(r.Record, why))
}

func age(now time.Time, ts int64) time.Duration {
	return time.Duration(max(now.Unix()-ts, 0)) * time.Second
}
