package maintain

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/maintain/evidence"
	"tongs-agents/internal/harness"
	"tongs-agents/proc/scan"
)

// process names a process of this host.
type process struct{ pid, start string }

func processOf(f scan.Found) process { return process{strconv.Itoa(f.PID), f.Start} }

// noHook is the detail of a session that nothing but the scan knows.
const noHook = "no hook has reported"

// discover adds the agents that no hook reported.
func (m *run) discover() {
	if m.NoScan || m.processes.Here().Foreign {
		return
	}
	found, err := scan.List(m.root)
	if err != nil {
		return // without a proc file system nothing is known, which is no failure
	}
	m.hosted = m.hostedByDaemon()
	byHarness, added := m.known()
	for _, f := range found {
		p := processOf(f)
		if f.Client {
			c := client{p, f.Cwd, f.TTY, f.Resumed}
			m.clients = append(m.clients, c)
			if m.shows(c) {
				continue
			}
		}
		known := byHarness[f.Harness]
		if known.has(p) || m.launcherKnown(f, known) {
			continue
		}
		r := m.discovered(f)
		if r.Kind == fsstore.KindSession {
			m.moved(r, added)
		}
		if !added[r.Key] && (r.Kind == fsstore.KindSession || !added.has(f.Harness, r.Instance)) {
			m.add(r)
		}
	}
}

// moved brings the records of a process up to the session that its own file
// names now. No time tells: /clear may keep that of the state before.
func (m *run) moved(to *fsstore.Record, added keys) {
	for i := range m.records {
		r := &m.records[i]
		if r.Source != fsstore.SourceProcess || r.Kind != fsstore.KindSession || r.Harness != to.Harness || r.Instance != to.Instance || !added[r.Key] {
			continue
		}
		switch {
		case r.Session != to.Session && r.Status != fsstore.Ended:
			m.endSuperseded(r)
		case r.Session == to.Session && r.Status == fsstore.Ended && r.RemovedAt == 0:
			m.amend(r, "process "+r.PID+" works on it again", func(r *fsstore.Record) {
				r.Status, r.Detail, r.WaitingFor, r.EndReason = to.Status, to.Detail, to.WaitingFor, ""
				r.TS, r.Started = max(r.TS, to.TS), m.now.Unix()
				note(r, "observed-"+string(to.Status))
			})
		}
	}
}

// processes are those of this host that records name, by harness.
type processes map[string]reported

// reported are processes, some of them without a start.
type reported map[process]bool

// has reports whether somebody named the process. Legacy records know nothing
// but its pid.
func (p reported) has(one process) bool { return p[one] || p[process{pid: one.pid}] }

// keys are those of records that runs have added.
type keys map[fsstore.Key]bool

// has reports whether there is a record of the instance.
func (k keys) has(harness, instance string) bool {
	return k[fsstore.Key{Harness: harness, Instance: instance}]
}

// known returns the processes that somebody reported, and the records of those
// that nothing but a scan has seen.
func (m *run) known() (processes, keys) {
	known, added := processes{}, keys{}
	for _, r := range m.records {
		switch {
		case r.PID == "" || !m.local(r.Record):
		case r.Source == fsstore.SourceProcess:
			added[r.Key] = true
			added[fsstore.Key{Harness: r.Harness, Instance: r.Instance}] = true
		default:
			if known[r.Harness] == nil {
				known[r.Harness] = reported{}
			}
			known[r.Harness][process{r.PID, r.ProcessStart}] = true
		}
	}
	return known, added
}

// local reports whether the process of a record may be one of this host.
func (m *run) local(r *fsstore.Record) bool {
	here := m.processes.Here()
	return (r.BootID == "" || r.BootID == here.BootID) && (r.PIDNamespace == "" || r.PIDNamespace == here.PIDNamespace)
}

// launcherKnown reports whether a record names a process that only waits for
// this one.
func (m *run) launcherKnown(f scan.Found, known reported) bool {
	for _, pid := range f.Launchers {
		if len(known) == 0 {
			return false
		}
		if st, err := m.root.Stat(pid); err == nil && known.has(process{strconv.Itoa(pid), st.Start}) {
			return true
		}
	}
	return false
}

// discovered is the record of a process that no hook reported. Where the
// harness's own file names its session, it is one of that session.
func (m *run) discovered(f scan.Found) *fsstore.Record {
	p, here := processOf(f), m.processes.Here()
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: f.Harness, Session: "proc-" + p.pid, Instance: p.pid + ":" + p.start},
		Kind: fsstore.KindProcess, Identity: fsstore.Identified, PID: p.pid, ProcessStart: p.start,
		BootID: here.BootID, PIDNamespace: here.PIDNamespace, MachineID: here.MachineID,
		Status: fsstore.Discovered, Detail: noHook,
		TS: m.now.Unix(), Started: m.now.Unix(), Arrival: 1,
		Source: fsstore.SourceProcess, LastEvent: f.Harness + ".discovered",
		Mode: f.Mode, TTY: f.TTY, Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
	}
	if !f.StartedAt.IsZero() {
		r.Started = f.StartedAt.Unix()
	}
	if f.TTY != "" {
		r.Focus.Kind = fsstore.FocusTerminal
	}
	setCwd(r, f.Cwd)
	if source, ok := evidence.ByHarness(f.Harness, m.root).(evidence.Identifier); ok {
		if o, ok := source.Identify(f.PID, f.Start); ok && !m.ahead(o) {
			if named := m.named(*r, o); named.Validate() == nil {
				return named
			}
		}
	}
	return r
}

// named is the record of a process as one of the session that it works on.
func (m *run) named(r fsstore.Record, o evidence.Observation) *fsstore.Record {
	r.Session, r.Kind = o.Session, fsstore.KindSession
	r.Resume = harness.ByID(r.Harness).ResumeCommand(o.Session)
	if o.Cwd != "" {
		setCwd(&r, o.Cwd)
	}
	if o.Mode != "" {
		r.Mode = o.Mode
	}
	r.TS = 0 // that of the observation
	observe(&r, o)
	return &r
}

// setCwd sets the directory, as far as it is text.
func setCwd(r *fsstore.Record, cwd string) {
	cwd = strings.ToValidUTF8(cwd, "\ufffd")
	if len(cwd) > fsstore.MaxCwd {
		return
	}
	r.Cwd, r.Repo = cwd, ""
	if repo := path.Base(cwd); cwd != "" && len(repo) <= fsstore.MaxRepo {
		r.Repo = repo
	}
}

// add writes a record that is not there yet.
func (m *run) add(r *fsstore.Record) {
	if !m.DryRun {
		written, err := m.store.Update(r.Key, fsstore.Rules{Create: true, Wait: m.wait},
			func(old *fsstore.Record) (*fsstore.Record, error) {
				if old != nil { // a hook was faster
					return nil, nil
				}
				return r, nil
			})
		if errors.Is(err, fsstore.ErrNewer) || m.failed(err) || written == nil {
			return
		}
		r = written
	}
	m.result.Added = append(m.result.Added, change(r, noHook+" process "+r.PID))
}
