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
	"tongs-agents/fsstore/liveness"
	"tongs-agents/proc"
)

// Listing is what a store holds, as it is to be shown.
type Listing struct {
	Rows       []*fsstore.Annotated // what wants the user first
	Hidden     []fsstore.Hidden     // the other records
	Unreadable []fsstore.Unreadable

	Exists bool          // there is a store
	Stamp  fsstore.Stamp // of its last maintenance
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
	return list(store, records, unreadable, now), nil
}

// list makes the listing of what was read of a store.
func list(store *fsstore.Store, records []*fsstore.Record, unreadable []fsstore.Unreadable, now time.Time) Listing {
	slices.SortFunc(unreadable, byName)
	processes := liveness.NewProcesses(proc.Root)
	preferred, hidden := fsstore.Prefer(records, processes.Dead)
	l := Listing{
		Rows: make([]*fsstore.Annotated, len(preferred)), Hidden: hidden, Unreadable: unreadable,
		Exists: true, Stamp: store.Stamp(),
	}
	rows := make([]fsstore.Annotated, len(preferred))
	for i, p := range preferred {
		rows[i] = fsstore.Annotate(p.Record, now)
		rows[i].Duplicate = p.Duplicate
		l.Rows[i] = &rows[i]
	}
	slices.SortFunc(l.Rows, attentionFirst)
	return l
}

func byName(a, b fsstore.Unreadable) int { return cmp.Compare(a.Name, b.Name) }

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
