package maintain

import (
	"slices"
	"time"

	"tongs-agents/fsstore"
)

// stamp says that a run is under way, whatever becomes of it. The last stamp
// of an earlier boot is kept: it is when that boot was last known to be up.
func (m *run) stamp(last fsstore.Stamp) {
	here := m.processes.Here().BootID
	boots := m.store.BootsBefore(here, last, m.now)
	known := slices.ContainsFunc(boots, func(b fsstore.Boot) bool { return b.ID == here })
	// Another program's stamp has no boot id, and is of this one.
	m.newBoot = here != "" && (!known || last.BootID != "" && last.BootID != here)
	if here != "" {
		boots = fsstore.WithBoot(boots, here, m.now, m.now)
	}
	m.boots = boots
	if m.DryRun {
		return
	}
	if m.newBoot {
		_, durable := m.store.Boots()
		m.failed(m.store.SetBoots(boots, durable))
	}
	m.failed(m.store.SetStamp(here))
}

// durableInterval is how often what changed is made durable, at most.
const durableInterval = time.Minute

// fileTick is more than the clock of file systems is behind: a jiffy, see
// time(7).
const fileTick = 20 * time.Millisecond

// durable makes the entries of the archive, and a new boot, outlive a power cut.
// The time of the boots file says up to when that was done. It may take long,
// and holds no lock.
func (m *run) durable() {
	archive, err := m.store.Archive()
	if m.failed(err) {
		return
	}
	defer archive.Close()
	_, last := m.store.Boots()
	age := m.now.Sub(last)
	if !m.newBoot && (archive.Changed().Before(last) || 0 <= age && age < durableInterval) {
		return
	}
	// What another run writes from now on is for the next time. What it writes
	// at once may still get an earlier time, and is synced now.
	began := time.Now()
	time.Sleep(fileTick)
	step("durable")
	if !m.failed(archive.Sync(last)) && !m.failed(m.store.SetBoots(m.boots, began)) {
		m.failed(m.store.SyncBoots())
	}
}
