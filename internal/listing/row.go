package listing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/text"
)

// Living returns the rows of sessions that have not ended, the newest first,
// and uses up rows. A process that cannot be judged counts as one that lives.
func Living(rows []*fsstore.Annotated, processes liveness.Processes) []*fsstore.Annotated {
	kept := slices.DeleteFunc(rows, func(r *fsstore.Annotated) bool {
		return r.Status == fsstore.Ended || processes.Dead(&r.Record)
	})
	slices.SortStableFunc(kept, func(a, b *fsstore.Annotated) int { return cmp.Compare(b.Started, a.Started) })
	return kept
}

// Detail is what a session does, with what runs beside it, on one line.
func Detail(r *fsstore.Annotated) string {
	d := text.Clean(r.Detail)
	add := func(s string) {
		if d != "" {
			d += " "
		}
		d += "(" + s + ")"
	}
	if n := r.BackgroundTasks; n > 0 {
		add(fmt.Sprintf("%d in background", n))
	}
	switch n := r.Subagents; {
	case n == 1:
		add("1 subagent")
	case n > 1:
		add(fmt.Sprintf("%d subagents", n))
	}
	if r.Duplicate {
		add("session is open twice")
	}
	return d
}

// Age is how long ago a session was last reported, as 4m; empty if that is not
// known.
func Age(r *fsstore.Annotated) string {
	if r.TS == 0 {
		return ""
	}
	return text.Span(time.Duration(r.Age) * time.Second)
}

// Uptime is how long ago a session started: 0 for a start that is not known,
// or ahead of our clock. now is in seconds since the epoch.
func Uptime(r *fsstore.Annotated, now int64) time.Duration {
	if r.Started == 0 || r.Started > now {
		return 0
	}
	return time.Duration(now-r.Started) * time.Second
}
