package fsstore

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
	"tongs-agents/lockfile"
)

const (
	maintenanceLock  = ".fleet-maintenance.lock"
	maintenanceStamp = ".fleet-maintenance.stamp"
	boots            = ".fleet-boots"
)

// LockMaintenance takes the lock of the one maintenance run at a time, without
// waiting: lockfile.ErrLocked if somebody holds it. Where nothing can be
// locked there is no lock to wait for.
func (s *Store) LockMaintenance() (release func(), err error) {
	if s.locks == noLocks {
		return func() {}, nil
	}
	l, err := lockfile.Try(s.locks, maintenanceLock)
	switch {
	case err == nil:
		return func() { l.Release() }, nil
	case errors.Is(err, lockfile.ErrUnsupported):
		return func() {}, nil
	case errors.Is(err, lockfile.ErrLocked):
		return nil, err
	}
	return nil, unavailable(err)
}

// Stamp is when the store was maintained last, and in which boot. The time is
// that of the file; its text is the boot id, empty if another program wrote it.
type Stamp struct {
	BootID string
	Time   time.Time // zero: never
}

// Stamp reads the stamp of the last maintenance. What is no regular file of
// ours is none.
func (s *Store) Stamp() Stamp {
	fd, err := linux.Openat(s.sessions, maintenanceStamp, unix.O_RDONLY, 0)
	if err != nil {
		return Stamp{}
	}
	defer fd.Close()
	var st unix.Stat_t
	if fd.Fstat(&st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != unix.Geteuid() {
		return Stamp{}
	}
	text := make([]byte, maxID+len("\n"))
	n, _ := fd.Read(text)
	id := strings.TrimSpace(string(text[:n]))
	if !isBootID(id) {
		id = ""
	}
	return Stamp{id, time.Unix(st.Mtim.Unix())}
}

// SetStamp says that the store is being maintained now.
func (s *Store) SetStamp(bootID string) error {
	if s.Stamp().BootID == bootID && bootID != "" {
		if err := linux.Utimensat(s.sessions, maintenanceStamp, time.Now()); err == nil {
			return nil
		}
	}
	err := writeFile(s.sessions, maintenanceStamp, []byte(bootID+"\n"))
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY) {
		if err := linux.Rmdirat(s.sessions, maintenanceStamp); err != nil {
			return unavailable(err)
		}
		err = writeFile(s.sessions, maintenanceStamp, []byte(bootID+"\n"))
	}
	return err
}

// Boot is a boot of this machine and the last time in it at which the store is
// known to have been maintained.
type Boot struct {
	ID   string
	Last time.Time
}

// maxBoots is how many boots are remembered.
const maxBoots = 32

// Boots reads what is known of this and earlier boots, the latest last, and up
// to when the archive is durable. Lines that say nothing are passed over.
func (s *Store) Boots() ([]Boot, time.Time) {
	var st unix.Stat_t
	text, err := readStat(s.sessions, boots, nil, &st)
	if err != nil {
		return nil, time.Time{}
	}
	var known []Boot
	for line := range strings.Lines(string(text)) {
		id, last, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, err := time.Parse(time.RFC3339, last)
		if isBootID(id) && err == nil {
			known = append(known, Boot{id, at})
		}
	}
	return known, time.Unix(st.Mtim.Unix())
}

// SetBoots writes what is known of boots, the latest last, and up to when the
// archive is durable: the time of the file. It is itself durable after
// SyncBoots.
func (s *Store) SetBoots(known []Boot, durable time.Time) error {
	var text []byte
	for _, b := range known[max(len(known)-maxBoots, 0):] {
		text = b.Last.UTC().AppendFormat(append(append(text, b.ID...), ' '), time.RFC3339)
		text = append(text, '\n')
	}
	if err := writeFile(s.sessions, boots, text); err != nil {
		return err
	}
	if durable.IsZero() {
		durable = time.Unix(0, 0)
	}
	if err := linux.Utimensat(s.sessions, boots, durable); err != nil {
		return unavailable(err)
	}
	return nil
}

// SyncBoots makes durable what SetBoots has written.
func (s *Store) SyncBoots() error {
	if err := errors.Join(syncFile(s.sessions, boots), s.sessions.Fsync()); err != nil {
		return unavailable(err)
	}
	return nil
}

// isBootID reports whether a word can be a boot id: see proc_sys_kernel(5).
func isBootID(id string) bool {
	for _, c := range []byte(id) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return id != "" && len(id) <= maxID
}
