package bar

import (
	"fmt"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// Data is what a template sees. docs/status-bars.md has every name.
type Data struct {
	listing.Summary

	// By status, idle is in the summary.
	Running, Started, Waiting, Error, Discovered, Ended int

	rows []*fsstore.Annotated // what wants the user first
}

// NewData makes the data of rows in the order of a listing.
func NewData(rows []*fsstore.Annotated) *Data {
	d := &Data{Summary: listing.Summarize(rows), rows: rows}
	for _, r := range rows {
		switch r.Status {
		case fsstore.Running:
			d.Running++
		case fsstore.Started:
			d.Started++
		case fsstore.Waiting:
			d.Waiting++
		case fsstore.Error:
			d.Error++
		case fsstore.Discovered:
			d.Discovered++
		case fsstore.Ended:
			d.Ended++
		}
	}
	return d
}

// Sessions are all rows, those that need the user first.
func (d *Data) Sessions() []Session { return sessions(d.rows) }

// Attention are the rows that need the user, the longest waiting first.
func (d *Data) Attention() []Session { return sessions(d.rows[:d.NeedsAttention]) }

// quiet counts the sessions of which there is nothing to say but that they are
// there.
func (d *Data) quiet() int {
	return d.Total - d.Active - d.Error - d.NeedsAttention - d.Ended
}

// Counts says in short how many sessions there are of each kind, without those
// that have ended: 2● 1○ 1✗ 1⚠ are active, quiet, failed and in need of the
// user. It is empty if there is none.
func (d *Data) Counts() string { return strings.Join(d.counts(), " ") }

// counts are the parts of Counts; the last one says who needs the user, if
// anyone does.
func (d *Data) counts() []string {
	signs := [...]string{"●", "○", "✗", "⚠"}
	if !text.UTF8() {
		signs = [...]string{"*", "o", "x", "!"}
	}
	var parts []string
	for i, n := range [...]int{d.Active, d.quiet(), d.Error, d.NeedsAttention} {
		if n > 0 {
			parts = append(parts, fmt.Sprint(n, signs[i]))
		}
	}
	return parts
}

// unavailable stands in place of the counts if there are none to be had.
func unavailable() string {
	if text.UTF8() {
		return "agents ✗"
	}
	return "agents x"
}

// state is one word for all sessions, by what wants the user most.
func (d *Data) state() string {
	switch {
	case d.NeedsAttention > 0:
		return "attention"
	case d.Error > 0:
		return "error"
	case d.Active > 0:
		return "active"
	}
	return "quiet"
}

// first names the session that has needed the user for longest, in a few cells.
func (d *Data) first() string {
	const width = 20
	s := d.Attention()[0]
	for _, name := range [...]string{s.Repo(), s.Title()} {
		if name != "" {
			return cut(width, name)
		}
	}
	return s.Agent()
}

// cut cuts a clean text to so many cells.
func cut(width int, s string) string {
	tail := "…"
	if !text.UTF8() {
		tail = "..."
	}
	return text.Fit(s, width, tail)
}
