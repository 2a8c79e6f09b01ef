//go:build !(386 || arm)

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/blockfs"
)

// found is what was on a disk after a power cut.
type found struct {
	newest, older, missing, unreadable int // records
	durable                            int // entries that were promised
	gone                               int // dead sessions neither in the store nor in the archive, not promised
	wrong                              []string
}

// survivors mounts an image and looks at the store on it, then goes on with it.
func (m *machine) survivors(left image, h *history, moment int) (found, error) {
	const name = "cut"
	var f found
	path := m.shelf.put(name, &disk{size: m.Size, image: left})
	defer m.shelf.remove(name)
	dir := filepath.Join(m.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return f, err
	}
	if err := m.Mount(path, dir); err != nil {
		f.wrong = append(f.wrong, err.Error())
		return f, nil
	}
	defer blockfs.Unmount(dir)
	state := stateOf(dir)
	printed, err := m.run(state, status)
	if err != nil {
		f.wrong = append(f.wrong, fmt.Sprintf("status: %v: %s", err, printed))
	}
	files, err := readFiles(state)
	if err != nil {
		return f, err
	}
	f.records(files, h, moment)
	if warned := strings.Contains(printed, "tongs-agents: warning: sessions/fleet-v1-"); warned != (f.unreadable > 0) {
		f.wrong = append(f.wrong, fmt.Sprintf("%d unreadable, but status prints %s", f.unreadable, printed))
	}
	f.archive(files, h, moment)
	if len(files) > 0 {
		f.goOn(m, state, files)
	}
	return f, nil
}

// records compares the records with what they were at the moment.
func (f *found) records(files map[string]string, h *history, moment int) {
	for name := range h.files {
		if isEntry(name) {
			continue
		}
		text, there := files[name]
		want := h.at(name, moment)
		_, err := fsstore.Decode([]byte(text))
		switch {
		case !there && want == "":
		case !there:
			f.missing++
		case err != nil:
			f.unreadable++
		case !h.had(name, text):
			f.wrong = append(f.wrong, fmt.Sprintf("%s is no version that was written: %s", name, text))
		case want != "" && text != want && older(h.files[name], text, want):
			f.older++
		default:
			f.newest++
		}
	}
}

// older reports whether a text is of an earlier version than another one.
func older(versions []version, text, other string) bool {
	for _, v := range versions {
		switch v.text {
		case text:
			return true
		case other:
			return false
		}
	}
	return false
}

// archive looks for the entries that are promised, and for what is lost that
// was not.
func (f *found) archive(files map[string]string, h *history, moment int) {
	for _, p := range h.promises {
		switch text := files[p.name]; {
		case moment < p.since || moment > p.until:
		case text == p.text:
			f.durable++
		default:
			f.wrong = append(f.wrong, fmt.Sprintf("%s was durable from %d to %d, and is %q", p.name, p.since, p.until, text))
		}
	}
	for name := range h.files {
		if !isEntry(name) {
			continue
		}
		text := files[name]
		_, err := fsstore.Decode([]byte(text))
		if err == nil && !h.had(name, text) {
			f.wrong = append(f.wrong, fmt.Sprintf("%s is no version that was written: %s", name, text))
		}
		if err != nil && h.at(name, moment) != "" && !stored(files, h.at(name, moment)) {
			f.gone++
		}
	}
}

// stored reports whether there is a record of the session of an entry.
func stored(files map[string]string, entry string) bool {
	archived, err := fsstore.Decode([]byte(entry))
	if err != nil {
		return false
	}
	for name, text := range files {
		if r, err := fsstore.Decode([]byte(text)); err == nil && !isEntry(name) && r.Session == archived.Session {
			return true
		}
	}
	return false
}

// goOn lets the next events come, also of a session whose record cannot be read,
// and a maintenance run.
func (f *found) goOn(m *machine, state string, files map[string]string) {
	next := live(0, rounds)
	for _, c := range []command{hook("hooked", "UserPromptSubmit"), imported(next), cleanup} {
		if err := age(state); err != nil {
			f.wrong = append(f.wrong, err.Error())
		}
		if stderr, err := m.run(state, c); err != nil {
			f.wrong = append(f.wrong, fmt.Sprintf("the next %s: %v: %s", c.name(), err, stderr))
		}
	}
	now, err := readFiles(state)
	if err != nil {
		f.wrong = append(f.wrong, err.Error())
	}
	want := map[string]string{"hooked": "processing prompt", next.Session: next.Detail}
	for _, text := range now {
		if r, err := fsstore.Decode([]byte(text)); err == nil && r.Detail == want[r.Session] {
			delete(want, r.Session)
		}
	}
	for session := range want {
		f.wrong = append(f.wrong, "the next event of "+session+" is not in the store")
	}
	temps, err := filepath.Glob(filepath.Join(state, "*", ".fleet-tmp-*"))
	if err != nil || len(temps) > 0 {
		f.wrong = append(f.wrong, fmt.Sprintf("litter: %q %v", temps, err))
	}
}

// age lets an hour pass for the temporary files.
func age(state string) error {
	temps, err := filepath.Glob(filepath.Join(state, "*", ".fleet-tmp-*"))
	for _, temp := range temps {
		if err := os.Chtimes(temp, time.Now(), time.Now().Add(-time.Hour)); err != nil && !strings.Contains(err.Error(), "no such file") {
			return err
		}
	}
	return err
}
