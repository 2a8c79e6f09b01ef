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
		m.failed(m.store.SetBoots(boots))
	}
	m.failed(m.store.SetStamp(here))
}

// durableInterval is how often what changed is made durable, at most.
const durableInterval = time.Minute

// durable makes the entries of the archive, and a new boot, outlive a power cut.
// The boots file says when that was last done. It may take long, and holds no
// lock.
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
	step("durable")
	if !m.failed(archive.Sync(last)) && !m.failed(m.store.SetBoots(m.boots)) {
		m.failed(m.store.SyncBoots())
	}
}
