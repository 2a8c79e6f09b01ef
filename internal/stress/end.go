package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// checkEnd looks at the sessions when nothing happens any more: every event is
// there, and the feed has come to what is.
func (m *many) checkEnd(keeper *child, w *watch) error {
	if err := m.maintain(keeper); err != nil {
		return err
	}
	m.look("ps")
	rows := m.look("status")
	why := w.differs(rows)
	for end := time.Now().Add(patience); why != "" && time.Now().Before(end); why = w.differs(rows) {
		time.Sleep(10 * time.Millisecond)
		rows = m.look("status")
	}
	m.feed.seen(len(rows))
	if why != "" {
		m.feed.fail("%s", why)
	}
	return nil
}

// checkAfter kills all agents, and looks at what is left once a maintenance has
// been: what can be resumed, and nothing else.
func (m *many) checkAfter(keeper *child) error {
	m.killBut(keeper)
	m.fleet.quiet()
	if err := m.maintain(keeper); err != nil {
		return err
	}
	m.look("ps")
	if rows := m.look("status"); len(rows) > 0 {
		m.ghosts.fail("status lists %d sessions after all have ended: %+v", len(rows), rows[0])
	}
	m.checkResumable()
	if err := checkHookErrors(m.hook, m.state); err != nil {
		return err
	}
	if err := m.age(); err != nil {
		return err
	}
	if err := m.maintain(keeper); err != nil {
		return err
	}
	return m.checkFiles()
}

// killBut kills all that was started, but one.
func (m *many) killBut(c *child) {
	m.drop(c)
	m.killAll()
	m.keep(c)
}

// checkResumable looks whether the sessions whose host was killed can be resumed.
func (m *many) checkResumable() {
	rows, err := m.read("resumable", "--idle", "24h")
	if err != nil {
		m.resumable.fail("%v", err)
		return
	}
	listed := map[string]bool{}
	for _, r := range rows {
		listed[r.Session] = true
	}
	for _, s := range m.fleet.snapshot() {
		if strings.HasPrefix(s.id, "agent") || !s.begun { // without a terminal, an agent works for nobody who could resume it
			continue
		}
		if m.resumable.seen(1); listed[s.id] == s.ended {
			m.resumable.fail("%s can be resumed: %t, it was ended: %t", s.id, listed[s.id], s.ended)
		}
	}
}

// age lets a day pass for what crashes leave.
func (m *many) age() error {
	then := time.Now().Add(-25 * time.Hour)
	names, err := m.files()
	for _, name := range names {
		if strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".lock") {
			if err := os.Chtimes(name, then, then); err != nil {
				return err
			}
		}
	}
	return err
}

// checkFiles looks for files that nothing needs.
func (m *many) checkFiles() error {
	names, err := m.files()
	if err != nil {
		return err
	}
	for _, path := range names {
		name := filepath.Base(path)
		entry := filepath.Base(filepath.Dir(path)) == "resumable" && !strings.HasPrefix(name, ".")
		if m.litter.seen(1); !entry && !slices.Contains(staying, name) {
			m.litter.fail("%s", path)
		}
		if strings.HasSuffix(name, ".lock") && locked(path) {
			m.litter.fail("%s is locked", path)
		}
	}
	return nil
}

// staying are the files of a store without sessions, besides its archive.
var staying = []string{".fleet-maintenance.lock", ".fleet-maintenance.stamp", ".fleet-boots"}

// files are the paths of all files of the store.
func (m *many) files() (paths []string, err error) {
	err = filepath.WalkDir(m.state, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}
