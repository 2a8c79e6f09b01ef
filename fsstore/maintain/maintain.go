// Package maintain is the one maintainer of a store: the only code besides a
// record's own writer that changes records.
//
// A run adds the agents that no hook reported, mends what a hook missed, and
// removes what is over. It removes a record only if its process has certainly
// ended, or if nothing was heard of it for long; and only the version that it
// has judged: a record that was written meanwhile stays until the next run.
package maintain

import (
	"errors"
	"io/fs"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/linux"
	"tongs-agents/lockfile"
	"tongs-agents/proc"
)

// Interval is the time within which a second run is not needed.
const Interval = 5 * time.Second

// How long the locks of one record are waited for. Once that was in vain, a run
// waits no longer for others than what a hook takes.
const (
	lockWait  = 2 * time.Second
	shortWait = 20 * time.Millisecond
)

// Options of a run.
type Options struct {
	Forced bool // run even if the last run was a moment ago
	DryRun bool // say what a run would do, and change nothing
	NoScan bool // add no processes, and look at none but those of records
}

// Skip says why a run did not do all that there was to do.
type Skip string

const (
	Busy        Skip = "busy"        // another run is under way
	Recent      Skip = "recent"      // the last run is less than Interval ago
	Unavailable Skip = "unavailable" // something failed: Result.Err
)

// Result is what a run has done, or would do.
type Result struct {
	Removed  []Change `json:"removed"`
	Added    []Change `json:"added"`
	Mended   []Change `json:"mended"`
	Archived []Change `json:"archived"` // of the removed ones, those that can be resumed
	Skipped  Skip     `json:"skipped,omitempty"`
	Err      error    `json:"-"` // the first failure, with Unavailable
}

// Change is what happened to one record, and why.
type Change struct {
	CanonicalID string `json:"canonical_id"`
	Harness     string `json:"harness_id"`
	Session     string `json:"session_id"`
	Why         string `json:"why"`
}

// Run maintains the store of a state directory once. It makes the store if
// there is none. A failure with one record does not keep it from the others.
func Run(dir string, o Options) Result {
	return newRun(proc.Root, time.Now(), o).do(dir)
}

// newRun is a run that looks for processes in the given proc file system, and
// takes now for the present.
func newRun(root proc.FS, now time.Time, o Options) *run {
	return &run{
		Options: o, root: root, now: now, boottime: linux.Boottime(), wait: lockWait,
		result: Result{Removed: []Change{}, Added: []Change{}, Mended: []Change{}, Archived: []Change{}},
	}
}

func (m *run) do(dir string) Result {
	m.maintain(dir)
	if m.result.Err != nil {
		m.result.Skipped = Unavailable
	}
	return m.result
}

// run is a run under way.
type run struct {
	Options
	root      proc.FS
	now       time.Time
	boottime  int64         // CLOCK_BOOTTIME of now, in nanoseconds
	wait      time.Duration // for the locks of the next record
	store     *fsstore.Store
	processes liveness.Processes
	boots     []fsstore.Boot
	newBoot   bool                         // this is the first run in this one
	contents  fsstore.Contents             // of the store, at the beginning
	records   []fsstore.Stored             // in it, as they stand now
	hosted    map[string][]*fsstore.Stored // live sessions of a Codex daemon, by directory
	clients   []client                     // of that daemon
	left      map[*fsstore.Record]bool     // sessions that a dead process had left for another one
	sessions  map[string]*fsstore.Record   // the latest of each session, by SessionDigest
	archive   *fsstore.Archive
	result    Result
}

// step is called between the steps of a run, and removing before the locks of a
// record that goes are taken. They are seams: a test ends the process there, or
// lets a writer in.
var (
	step     = func(name string) {}
	removing = func(r *fsstore.Record) {}
)

func (m *run) maintain(dir string) {
	m.processes = liveness.NewProcesses(m.root)
	if !m.open(dir) {
		return
	}
	defer m.store.Close()
	if m.DryRun {
		m.steps()
		return
	}
	release, err := m.store.LockMaintenance()
	if errors.Is(err, lockfile.ErrLocked) {
		m.result.Skipped = Busy
		return
	}
	if m.failed(err) {
		return
	}
	m.steps()
	release()
	if m.result.Skipped == "" {
		m.durable()
	}
}

func (m *run) steps() {
	stamp := m.store.Stamp()
	if age := m.now.Sub(stamp.Time); !m.Forced && 0 <= age && age < Interval {
		m.result.Skipped = Recent
		return
	}
	step("stamp")
	m.stamp(stamp)
	step("read")
	var err error
	if m.contents, err = m.store.Contents(); m.failed(err) {
		return
	}
	m.records = m.contents.Records
	archive, err := m.store.Archive()
	if m.failed(err) {
		return
	}
	defer archive.Close()
	m.archive = archive
	step("discover")
	m.discover()
	step("mend")
	m.mend()
	step("remove")
	m.sessions = latest(m.records)
	m.forget()
	m.remove()
	step("sweep")
	m.sweep()
	step("done")
}

// open opens the store. Without one a dry run has only processes to look at.
func (m *run) open(dir string) bool {
	access := fsstore.Create
	if m.DryRun {
		access = fsstore.Read
	}
	var err error
	m.store, err = fsstore.Open(dir, access)
	if m.DryRun && errors.Is(err, fs.ErrNotExist) {
		m.discover()
		return false
	}
	return !m.failed(err)
}

// failed notes a failure.
func (m *run) failed(err error) bool {
	if err != nil && m.result.Err == nil {
		m.result.Err = err
	}
	if errors.Is(err, fsstore.ErrLockTimeout) {
		m.wait = shortWait
	}
	return err != nil
}

// conflict reports whether a change did not happen because somebody else was
// faster: the next run judges what is there then.
func conflict(err error) bool {
	return errors.Is(err, fsstore.ErrStale) ||
		errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsstore.ErrUnavailable)
}

func change(r *fsstore.Record, why string) Change {
	return Change{r.CanonicalID(), r.Harness, r.Session, why}
}

// latest returns the latest record of each session, by SessionDigest.
func latest(records []fsstore.Stored) map[string]*fsstore.Record {
	latest := make(map[string]*fsstore.Record, len(records))
	for _, r := range records {
		digest := r.SessionDigest()
		if other := latest[digest]; other == nil || r.After(other) {
			latest[digest] = r.Record
		}
	}
	return latest
}
