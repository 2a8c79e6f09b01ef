// Package metrics says in numbers what a store holds, in the text format of
// Prometheus (version 0.0.4).
//
// The format is written here and not by a library: the official one,
// prometheus/common/expfmt, links net/http and protocol buffers, which would
// make every command start twice as slowly. The tests read what is written with
// it.
package metrics

import (
	"errors"
	"io/fs"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/listing"
)

// Snapshot is what a store holds at one moment.
type Snapshot struct {
	Rows       []*fsstore.Annotated // as status lists them
	Resumable  int                  // as resumable lists them
	Unreadable int                  // files that are no valid record
	Maintained time.Time            // zero: never
	HookErrors *fsstore.HookErrors  // nil if their file cannot be read, or is none
}

// Read looks at the store in a state directory. One that does not exist holds
// nothing. It changes nothing.
func Read(dir string, now time.Time) (Snapshot, error) {
	l, err := listing.Read(dir, now)
	if err != nil {
		return Snapshot{}, err
	}
	resumables, err := listing.Resumable(dir, now)
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{
		Rows:       l.Rows,
		Resumable:  len(resumables.Within(0)),
		Unreadable: len(resumables.Unreadable), // of the store and the archive
		Maintained: l.Stamp.Time,
	}
	switch e, err := fsstore.ReadHookErrors(dir); {
	case err == nil:
		s.HookErrors = &e
	case errors.Is(err, fs.ErrNotExist):
		s.HookErrors = &fsstore.HookErrors{}
	}
	return s, nil
}

// Build says which program measured.
type Build struct{ Version, Go string }

// Append appends the metrics of a snapshot.
func Append(b []byte, s Snapshot, build Build) []byte {
	for _, f := range families(s, build) {
		b = f.append(b)
	}
	return b
}

func families(s Snapshot, build Build) []family {
	sessions := family{
		name: "tongs_agents_sessions", kind: gauge,
		help: "Sessions that tongs-agents status lists, by agent and state.",
	}
	attention := family{
		name: "tongs_agents_sessions_needing_attention", kind: gauge,
		help: "Sessions that wait for an answer, or have been idle for more than two minutes.",
	}
	for _, h := range harness.All() {
		c, there := countOf(s.Rows, h.ID)
		if !there {
			continue
		}
		for _, status := range fsstore.Statuses { // also those of no session, so that an alert sees a 0 and not nothing
			sessions.add(c.byStatus[status], label{"harness", h.ID}, label{"status", string(status)})
		}
		attention.add(c.attention, label{"harness", h.ID})
	}
	all := []family{
		sessions, attention,
		single("tongs_agents_oldest_wait_seconds", gauge,
			"How long the session that has waited longest for an answer has done so; 0 if none waits.", oldestWait(s.Rows)),
		single("tongs_agents_resumable_sessions", gauge,
			"Sessions that were cut off and can be resumed.", int64(s.Resumable)),
		single("tongs_agents_unreadable_records", gauge,
			"Files in the store that are no valid record.", int64(s.Unreadable)),
		single("tongs_agents_maintenance_last_run_timestamp_seconds", gauge,
			"When tongs-agents cleanup last ran; 0 for never.", seconds(s.Maintained)),
	}
	if e := s.HookErrors; e != nil {
		all = append(all,
			single("tongs_agents_hook_errors_total", counter, "What hooks could not do.", e.Count),
			single("tongs_agents_hook_last_error_timestamp_seconds", gauge, "When a hook last failed; 0 for never.", e.TS))
	}
	info := family{name: "tongs_agents_build_info", kind: gauge, help: "The program that wrote these metrics; always 1."}
	info.add(1, label{"version", build.Version}, label{"goversion", build.Go})
	return append(all, info)
}

// counts are numbers of sessions of one agent.
type counts struct {
	byStatus  map[fsstore.Status]int64
	attention int64
}

// countOf counts the rows of an agent, and reports whether there are any. A
// stored record has a registered agent: the values of the label are a closed set.
func countOf(rows []*fsstore.Annotated, agent string) (c counts, there bool) {
	c.byStatus = make(map[fsstore.Status]int64)
	for _, r := range rows {
		if r.Harness != agent {
			continue
		}
		there = true
		c.byStatus[r.Status]++
		if r.NeedsAttention {
			c.attention++
		}
	}
	return c, there
}

// oldestWait is in seconds. A wait of unknown age is no age.
func oldestWait(rows []*fsstore.Annotated) int64 {
	var oldest int64
	for _, r := range rows {
		if r.Status == fsstore.Waiting && r.TS != 0 {
			oldest = max(oldest, r.Age)
		}
	}
	return oldest
}

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
