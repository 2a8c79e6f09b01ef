package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// statuses are what a session of a host comes to, one after the other.
var statuses = []fsstore.Status{fsstore.Running, fsstore.Waiting, fsstore.Idle}

// written is the record of a session of this process after its nth event. All
// that the event says tells n, in a length that changes.
func written(session string, n int64) *fsstore.Record {
	host, now, pid := proc.Root.Host(), time.Now().Unix(), os.Getpid()
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: "other", Session: session},
		Kind: fsstore.KindSession, Identity: fsstore.Identified,
		PID: strconv.Itoa(pid), ProcessStart: startOf(pid),
		TS: now, Started: now, Source: fsstore.SourceNotify, LastEvent: "other.notify",
		Mode: fsstore.Interactive, Resume: []string{"other", session},
		Focus:  fsstore.Focus{Kind: fsstore.FocusUnavailable},
		BootID: host.BootID, PIDNamespace: host.PIDNamespace, MachineID: host.MachineID,
	}
	r.Instance = r.PID + ":" + r.ProcessStart
	r.Status, r.Detail, r.Title, r.Cwd = content(n)
	return r
}

func content(n int64) (status fsstore.Status, detail, title, cwd string) {
	part := "/" + strconv.FormatInt(n, 10)
	repeated := func(most int64) string { return strings.Repeat(part, int(1+n*31%most)) }
	return statuses[n%int64(len(statuses))], repeated(40), repeated(50), repeated(200)
}

// startOf is when a process started, in the words of a record. One that is gone
// has no start.
func startOf(pid int) string {
	st, err := proc.Root.Stat(pid)
	if err != nil {
		return ""
	}
	return st.Start
}

// shown is a session as the programs print it.
type shown struct {
	Harness string         `json:"harness_id"`
	Session string         `json:"session_id"`
	Kind    string         `json:"record_kind"`
	Status  fsstore.Status `json:"status"`
	Detail  string         `json:"detail"`
	Tool    string         `json:"tool"`
	Title   string         `json:"title"`
	Cwd     string         `json:"cwd"`
	Arrival int64          `json:"arrival_sequence"`
}

// torn says why a row is of no state that was written, empty if it is.
func (r *shown) torn(final int64) string {
	if r.Harness == agentProgram {
		return r.tornHook(final)
	}
	status, detail, title, cwd := content(r.Arrival)
	if final == r.Arrival {
		status = fsstore.Ended
	}
	if r.Status != status || r.Detail != detail || r.Title != title || r.Cwd != cwd {
		return fmt.Sprintf("no event wrote %+v", *r)
	}
	return ""
}

// tornHook is torn for the events of hooks. Of those that run at once the later
// one tells the state, whichever arrives last.
func (r *shown) tornHook(final int64) string {
	digits, _, _ := strings.Cut(r.Tool, "-")
	n, _ := strconv.ParseInt(digits, 10, 64)
	status, detail, tool := fsstore.Running, "using "+r.Tool, toolName(n)
	switch {
	case r.Arrival == 1:
		status, detail, tool = fsstore.Started, "session started", ""
	case r.Arrival == final:
		status, detail, tool = fsstore.Ended, "session closed", ""
	case n < r.Arrival-burst || n > r.Arrival+burst:
		return fmt.Sprintf("event %d shows at %d", n, r.Arrival)
	}
	if r.Status != status || r.Detail != detail || r.Tool != tool || r.Cwd != "/src/app" {
		return fmt.Sprintf("no event wrote %+v", *r)
	}
	return ""
}
