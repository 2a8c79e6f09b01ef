//go:build !(386 || arm)

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// history is what was in the store at which moment. A moment is a position in
// the log of the disk.
type history struct {
	files    map[string][]version // of records and entries of the archive, by name
	promises []promise
	noted    int // when note was called last
}

// promise is a version of an entry that is durable, as long as nobody changes
// the entry.
type promise struct {
	name, text   string
	since, until int
}

// version of a file: its text from a moment on, empty once it is removed.
type version struct {
	text string
	from int
}

// had reports whether the file ever had the text.
func (h *history) had(name, text string) bool {
	for _, v := range h.files[name] {
		if v.text == text {
			return true
		}
	}
	return false
}

// at is the text that the file had at a moment.
func (h *history) at(name string, moment int) (text string) {
	for _, v := range h.files[name] {
		if v.from <= moment {
			text = v.text
		}
	}
	return text
}

// note reads the store as it is now.
func (h *history) note(state string, now int) error {
	files, err := readFiles(state)
	if err != nil {
		return err
	}
	for name := range h.files {
		if _, there := files[name]; !there {
			files[name] = ""
		}
	}
	for name, text := range files {
		if h.last(name) == text {
			continue
		}
		h.files[name] = append(h.files[name], version{text, now})
		for i := range h.promises {
			if p := &h.promises[i]; p.name == name && p.until > h.noted { // changed at some moment since
				p.until = h.noted
			}
		}
	}
	h.noted = now
	return nil
}

// last is the text that a file has now.
func (h *history) last(name string) string {
	versions := h.files[name]
	if len(versions) == 0 {
		return ""
	}
	return versions[len(versions)-1].text
}

// promise notes the entries that are durable: those older than the time of
// the file of boots.
func (h *history) promise(state string, now int) error {
	durable, err := os.Stat(filepath.Join(state, bootsFile))
	if err != nil {
		return err
	}
	for name := range h.files {
		p := promise{name, h.last(name), now, math.MaxInt}
		known := slices.ContainsFunc(h.promises, func(o promise) bool { return o.name == name && o.text == p.text })
		if !isEntry(name) || p.text == "" || known {
			continue
		}
		info, err := os.Stat(filepath.Join(state, name))
		if err != nil {
			return err
		}
		if info.ModTime().Before(durable.ModTime()) {
			h.promises = append(h.promises, p)
		}
	}
	return nil
}

const (
	bootsFile  = "sessions/.fleet-boots"
	archiveDir = "resumable"
)

func isEntry(name string) bool { return strings.HasPrefix(name, archiveDir+"/") }

// readFiles reads the records and the entries of the archive. Without a store
// there are none.
func readFiles(state string) (map[string]string, error) {
	files := map[string]string{}
	for _, dir := range []string{"sessions", archiveDir} {
		names, err := os.ReadDir(filepath.Join(state, dir))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, entry := range names {
			name := entry.Name()
			if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".json") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(state, dir, name))
			if err != nil {
				return nil, err
			}
			files[dir+"/"+name] = string(text)
		}
	}
	return files, nil
}

// rounds of the workload. From one on, sessions go on that had been archived.
const (
	rounds  = 16
	revived = 10
)

// work uses the store for some seconds: sessions that go on, reported by hooks
// and by an import, and one in each round that dies and is archived. In every
// other round a minute is over, so that the archive is made durable; sometimes
// another program syncs the file system.
func (m *machine) work(d *disk, dir string) (*history, error) {
	h := &history{files: map[string][]version{}}
	state := stateOf(dir)
	for round := range rounds {
		if err := context.Cause(m.ctx); err != nil {
			return nil, err
		}
		for _, c := range []command{
			hook("hooked", []string{"UserPromptSubmit", "Stop"}[round%2]),
			imported(live(round%3, round)),
			imported(record(fmt.Sprint("dead ", round%revived), dead(round), round)),
			cleanup,
		} {
			if c.name() == cleanup.name() && round%2 == 1 {
				then := time.Now().Add(-2 * time.Minute)
				if err := os.Chtimes(filepath.Join(state, bootsFile), then, then); err != nil {
					return nil, err
				}
			}
			if out, err := m.run(state, c); err != nil {
				return nil, fmt.Errorf("%s: %w %s", c.name(), err, out)
			}
			if err := h.note(state, d.position()); err != nil {
				return nil, err
			}
			time.Sleep(commit / 4)
		}
		if err := h.promise(state, d.position()); err != nil {
			return nil, err
		}
		if round%5 == 4 {
			if err := flush(dir); err != nil {
				return nil, err
			}
		}
	}
	if len(h.promises) == 0 {
		return nil, errors.New("the maintenance has made nothing durable")
	}
	return h, nil
}

// commit is how often the file systems write their journal.
const commit = time.Second

func flush(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

func stateOf(dir string) string { return filepath.Join(dir, "state") }

// process is that of a record.
type process struct{ pid, start string }

func self() process {
	st, err := proc.Root.Stat(os.Getpid())
	if err != nil {
		panic(err)
	}
	return process{strconv.Itoa(os.Getpid()), st.Start}
}

// live is the record of a program of this process, which may have several.
func live(n, round int) *fsstore.Record {
	r := record(fmt.Sprint("live ", n), self(), round)
	r.Harness = "other"
	return r
}

// dead is no process of a system with 2²² of them.
func dead(n int) process { return process{strconv.Itoa(1<<22 - n), "1"} }

// record is a record of a session, in another state in every round.
func record(session string, p process, round int) *fsstore.Record {
	host, now := proc.Root.Host(), time.Now().Unix()
	return &fsstore.Record{
		Key:  fsstore.Key{Harness: "claude", Session: session, Instance: p.pid + ":" + p.start},
		Kind: fsstore.KindSession, Identity: fsstore.Identified, PID: p.pid, ProcessStart: p.start,
		Status: fsstore.Running, Detail: fmt.Sprint("round ", round), TS: now, Started: now, Arrival: 1,
		Repo: "app", Cwd: "/src/app", Source: fsstore.SourceHook, LastEvent: "claude.prompt-submit",
		Mode: fsstore.Interactive, Resume: []string{"claude", "--resume", "id"},
		Title:  strings.Repeat("a long title ", 30), // a torn record is shorter than a block, too
		Focus:  fsstore.Focus{Kind: fsstore.FocusUnavailable},
		BootID: host.BootID, PIDNamespace: host.PIDNamespace, MachineID: host.MachineID,
	}
}
