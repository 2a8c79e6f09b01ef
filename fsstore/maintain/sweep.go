package maintain

import (
	"strconv"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
	"tongs-agents/proc/scan"
)

// sweep removes what crashes have left.
func (m *run) sweep() {
	if m.DryRun {
		return
	}
	m.failed(m.store.Sweep(m.contents, fsstore.Leftovers{
		Temp:             m.staleTemp,
		LocksUnusedSince: m.now.Add(-keepLock),
		Session:          func(digest string) bool { return m.sessions[digest] != nil },
	}))
	m.instances()
	m.launches()
}

// instances removes the indexes of emitters whose process is gone, of those
// without one that have not reported for as long as a record of theirs stays,
// and of those of which nothing can be said after as long as a record.
func (m *run) instances() {
	for _, name := range m.contents.Instances() {
		m.failed(m.store.RemoveInstance(name, m.wait, m.instanceOver))
	}
}

func (m *run) instanceOver(i *fsstore.Instance, written time.Time) bool {
	old := !written.IsZero() && m.now.Sub(written) > keepUnknown
	if i == nil {
		return old
	}
	answer, _ := m.processes.CheckInstance(i)
	silent := time.Duration(m.boottime - i.Boottime)
	return answer == proc.Dead || answer == proc.Unknown && old ||
		i.PID == "" && i.BootID == m.processes.Here().BootID && silent > keepPidless
}

// launches removes the launches that began long ago and whose process is gone.
func (m *run) launches() {
	files, err := m.store.Launches()
	if m.failed(err) {
		return
	}
	for _, l := range files {
		if l.Written > 0 && age(m.now, l.Written) > keepUnknown && (l.Err != nil || m.launchDead(l.Launch)) {
			if err := m.store.RemoveLaunch(l.ID); !conflict(err) {
				m.failed(err)
			}
		}
	}
}

// staleTemp reports whether nobody will finish a temporary file: it is old,
// and its writer, if the name tells, is gone or another process by now. Of a
// writer that cannot be judged it is kept like a record.
func (m *run) staleTemp(t fsstore.Temp) bool {
	age := m.now.Sub(t.Time)
	if age <= keepTemp {
		return false
	}
	if t.PID == 0 {
		return true
	}
	switch answer, _ := m.root.Check(proc.Identity{PID: strconv.Itoa(t.PID)}, m.processes.Here()); answer {
	case proc.Dead:
		return true
	case proc.Unknown:
		return age > keepUnknown
	}
	st, err := m.root.Stat(t.PID)
	if err != nil {
		return false // it ends this moment
	}
	started, err := scan.StartedAt(st.Start)
	return err == nil && started.After(t.Time.Add(time.Second))
}
