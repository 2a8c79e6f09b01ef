package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/shell"
	"tongs-agents/proc"
)

// records looks at the files of the store.
func (p *patient) records() []Finding {
	if p.stored.err != nil {
		return nil // which the check of the store says
	}
	found := []Finding{p.count()}
	found = append(found, unreadable(filepath.Join(p.Env.State, "sessions"), "record", p.stored.contents.Unreadable)...)
	archived, err := p.archived()
	if err != nil {
		found = append(found, fail("resumable: %v", err))
	}
	found = append(found, unreadable(filepath.Join(p.Env.State, "resumable"), "entry of a session that can be resumed", archived)...)
	launched, err := p.launched()
	if err != nil {
		found = append(found, fail("launches: %v", err))
	}
	found = append(found, unreadable(filepath.Join(p.Env.State, "launches"), "launch", launched)...)
	if n := litter(p.Env.State, p.now); n > 0 {
		found = append(found, warn("%s left by writers that were killed", plural(n, "temporary file", "temporary files")).with(p.self("cleanup")))
	}
	return found
}

// count says what kinds of records there are.
func (p *patient) count() Finding {
	here := proc.Root.Host()
	var legacy, machine, namespace int
	for _, r := range p.stored.contents.Records {
		switch {
		case r.Legacy:
			legacy++
		case otherThan(r.BootID, here.BootID) && r.MachineID != here.MachineID:
			machine++
		case r.BootID == here.BootID && otherThan(r.PIDNamespace, here.PIDNamespace):
			namespace++
		}
	}
	text := plural(len(p.stored.contents.Records), "record", "records")
	if legacy > 0 {
		text += fmt.Sprintf("; %d legacy", legacy)
	}
	if machine > 0 {
		text += fmt.Sprintf("; %d of another machine, whose processes cannot be looked at from here", machine)
	}
	if namespace > 0 {
		text += fmt.Sprintf("; %d of another container or sandbox, whose processes cannot be looked at from here", namespace)
	}
	return ok("%s", text)
}

func otherThan(there, here string) bool { return there != "" && here != "" && there != here }

// shown is how many bad files are named one by one.
const shown = 3

// unreadable says which files of a directory are not what their names say, and why.
func unreadable(dir, what string, files []fsstore.Unreadable) []Finding {
	slices.SortFunc(files, func(a, b fsstore.Unreadable) int { return cmp.Compare(a.Name, b.Name) })
	var found []Finding
	for i, f := range files {
		if i == shown {
			return append(found, warn("%d more files are no %s", len(files)-shown, what))
		}
		path := filepath.Join(dir, filepath.Base(f.Name))
		switch {
		case errors.Is(f.Err, fsstore.ErrNewer):
			found = append(found, warn("%s: %v", path, f.Err).with(reinstall))
		case errors.Is(f.Err, fs.ErrPermission):
			found = append(found, warn("%s: %v", path, f.Err).with(shell.Command([]string{"chmod", "600", path})))
		default:
			found = append(found, warn("%s is no %s: %v", path, what, f.Err).with(shell.Command([]string{"rm", "-r", path})))
		}
	}
	return found
}

func (p *patient) archived() ([]fsstore.Unreadable, error) {
	archive, err := p.stored.store.Archive()
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	_, bad, err := archive.All()
	return bad, err
}

func (p *patient) launched() ([]fsstore.Unreadable, error) {
	files, err := p.stored.store.Launches()
	if err != nil {
		return nil, err
	}
	var bad []fsstore.Unreadable
	for _, f := range files {
		if f.Err != nil {
			bad = append(bad, fsstore.Unreadable{Name: f.ID + ".json", Err: f.Err})
		}
	}
	return bad, nil
}

// litter counts temporary files that no writer will rename any more: a write
// takes milliseconds.
func litter(dir string, now time.Time) int {
	n := 0
	for _, part := range append([]string{""}, parts...) {
		entries, _ := os.ReadDir(filepath.Join(dir, part)) // what is wrong with it is said elsewhere
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".fleet-tmp-") {
				continue
			}
			if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > time.Minute {
				n++
			}
		}
	}
	return n
}
