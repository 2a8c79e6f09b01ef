package fsstore

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// SessionsDir is where the records of a state directory are, for whoever
// watches it: a record comes, changes and goes by rename(2) and unlink(2).
func SessionsDir(state string) string { return state + "/" + sessionsDir }

// IsRecordFile reports whether a file of the sessions directory has the name of
// a record.
func IsRecordFile(name string) bool {
	return !strings.HasPrefix(name, ".") && strings.HasSuffix(name, recordSuffix)
}

// View is what a store held when it was last looked at. Looking again reads
// only what is another file since. It is for one goroutine, and as long as its
// store is open.
type View struct {
	store   *Store
	files   map[string]viewed
	listed  unix.Timespec // the time of the directory when its names were read
	settled bool          // that time is another one after any change
	decoder *decoder
	space   []byte
}

// viewed is a file in the place of a record: either a record or why it is none.
type viewed struct {
	version version
	record  *Record
	err     error
}

// View has nothing in it until it is refreshed.
func (s *Store) View() *View {
	return &View{store: s, files: make(map[string]viewed), decoder: newDecoder(1), space: make([]byte, 0, MaxRecord)}
}

// Records are the records of the view, in no order, and the files that are
// none.
func (v *View) Records() ([]*Record, []Unreadable) {
	records := make([]*Record, 0, len(v.files))
	var unreadable []Unreadable
	for name, f := range v.files {
		if f.err != nil {
			unreadable = append(unreadable, Unreadable{sessionsDir + "/" + name, f.err})
		} else {
			records = append(records, f.record)
		}
	}
	return records, unreadable
}

// Refresh looks at every file, and reports whether any is another one.
//
// A directory whose time has not changed holds what it held: then only the
// files that may have been written in place are looked at.
func (v *View) Refresh() (changed bool, err error) {
	var st unix.Stat_t
	if err := v.store.sessions.Fstat(&st); err != nil {
		return false, unavailable(err)
	}
	if v.settled && st.Mtim == v.listed {
		for name, f := range v.files {
			if f.err != nil || f.record.Legacy {
				changed = v.Reread(name) || changed
			}
		}
		return changed, nil
	}
	names, err := v.store.names()
	if err != nil {
		return false, err
	}
	gone := maps.Clone(v.files)
	for _, name := range names {
		if IsRecordFile(name) {
			changed = v.Reread(name) || changed
			delete(gone, name)
		}
	}
	// A listing may lack a name that a rename replaces meanwhile, on ext4 as on
	// tmpfs: the file itself says whether it is gone.
	for name := range gone {
		changed = v.Reread(name) || changed
	}
	// A second change in the same tick of the clock leaves the time as it is,
	// and the clock of a file server is not ours.
	const tick = 2 * time.Second
	network, _, err := v.store.Network()
	v.settled = err == nil && !network && time.Since(time.Unix(st.Mtim.Unix())) > tick
	v.listed = st.Mtim
	return changed, nil
}

// Reread looks at one file of the sessions directory, and reports whether it is
// another one.
func (v *View) Reread(name string) (changed bool) {
	if !IsRecordFile(name) {
		return false
	}
	old, known := v.files[name]
	var st unix.Stat_t
	err := linux.Fstatat(v.store.sessions, name, &st)
	if known && old.err == nil && err == nil && old.version == versionOf(&st) {
		return false
	}
	var f viewed
	if err == nil {
		f.record, err = v.store.readRecord(name, v.space, v.decoder, &st)
	}
	if errors.Is(err, fs.ErrNotExist) {
		delete(v.files, name)
		return known
	}
	f.version, f.err = versionOf(&st), err
	v.files[name] = f
	return !known || f.err == nil || old.err == nil || f.err.Error() != old.err.Error()
}

// IsAt reports whether a state directory still is the one that was opened.
func (s *Store) IsAt(path string) bool {
	var opened, there unix.Stat_t
	if s.sessions.Fstat(&opened) != nil || linux.Stat(SessionsDir(path), &there) != nil {
		return false
	}
	return opened.Ino == there.Ino && opened.Dev == there.Dev
}
