// Package listing makes the rows that every front end shows: the same store
// gives the same rows in a table, in JSON and anywhere else.
package listing

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// Listing is what a store holds, as it is to be shown.
type Listing struct {
	Rows       []*fsstore.Annotated // what wants the user first
	Unreadable []fsstore.Unreadable
}

// Read lists the store in a state directory. One that does not exist has no
// sessions. It changes nothing and scans no processes: those of a session with
// several records are looked at, one by one.
func Read(dir string, now time.Time) (Listing, error) {
	store, err := fsstore.Open(dir, fsstore.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return Listing{}, nil
	}
	if err != nil {
		return Listing{}, err
	}
	defer store.Close()
	records, unreadable, err := store.All()
	if err != nil {
		return Listing{}, err
	}
	slices.SortFunc(unreadable, func(a, b fsstore.Unreadable) int { return cmp.Compare(a.Name, b.Name) })
	host := NewProcesses(proc.Root)
	preferred := fsstore.Prefer(records, host.Dead)
	l := Listing{Unreadable: unreadable, Rows: make([]*fsstore.Annotated, len(preferred))}
	for i, p := range preferred {
		row := fsstore.Annotate(p.Record, now)
		row.Duplicate = p.Duplicate
		l.Rows[i] = &row
	}
	slices.SortFunc(l.Rows, attentionFirst)
	return l, nil
}

// attentionFirst orders rows by how much they want the user, those that have
// waited longest first, and all others by their last report.
func attentionFirst(a, b *fsstore.Annotated) int {
	if a.NeedsAttention != b.NeedsAttention {
		if a.NeedsAttention {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(rank(a.Status), rank(b.Status)); c != 0 {
		return c
	}
	c := cmp.Compare(a.TS, b.TS)
	if !a.NeedsAttention {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(a.Session, b.Session), cmp.Compare(a.Harness, b.Harness), cmp.Compare(a.Instance, b.Instance))
}

func rank(s fsstore.Status) int { return slices.Index(fsstore.Statuses, s) }

// Summary counts rows.
type Summary struct {
	Total          int `json:"total"`
	Active         int `json:"active"` // running or started
	Idle           int `json:"idle"`
	NeedsAttention int `json:"needs_attention"`
}

// Summarize counts rows.
func Summarize(rows []*fsstore.Annotated) Summary {
	s := Summary{Total: len(rows)}
	for _, r := range rows {
		switch r.Status {
		case fsstore.Running, fsstore.Started:
			s.Active++
		case fsstore.Idle:
			s.Idle++
		}
		if r.NeedsAttention {
			s.NeedsAttention++
		}
	}
	return s
}

// Processes answers what became of the processes of records.
type Processes struct {
	root proc.FS
	here proc.Host
}

// NewProcesses asks the given proc file system.
func NewProcesses(root proc.FS) Processes { return Processes{root, root.Host()} }

// Check says whether the process of a record lives, and why it thinks so.
func (p Processes) Check(r *fsstore.Record) (proc.Answer, string) {
	return p.root.Check(identity(r), p.here)
}

// Dead reports whether the process of a record has certainly ended.
func (p Processes) Dead(r *fsstore.Record) bool {
	answer, _ := p.Check(r)
	return answer == proc.Dead
}

// identity is what a record says of its process. A process that was found by
// its name must still have one; that of an emitter or of a notice was told.
func identity(r *fsstore.Record) proc.Identity {
	id := proc.Identity{
		PID: r.PID, Start: r.ProcessStart,
		Host: proc.Host{BootID: r.BootID, PIDNamespace: r.PIDNamespace, MachineID: r.MachineID},
	}
	if r.Instance == r.PID+":"+r.ProcessStart && r.Source != "notify" {
		id.Harness = r.Harness
	}
	return id
}
