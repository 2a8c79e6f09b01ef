package hook

import (
	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
)

// effect is how much an event changes of a record.
type effect int

const (
	nothing effect = iota // the record stays as it is
	report                // the session has shown that it lives
	state                 // the event has set the state, or confirmed it
)

// step is the state machine: it brings the state of r up to what the event
// says. A new record has no status yet.
//
// The counts of subagents and background tasks change here too; all other
// parts of a record are no state.
func (e *event) step(r *fsstore.Record) effect {
	if r.Status == fsstore.Ended && !e.revives() {
		return nothing
	}
	if e.kind == harness.SubagentStart || e.kind == harness.SubagentStop || e.agentID != "" {
		return e.stepSubagent(r)
	}
	switch e.kind {
	case harness.SessionStart:
		if e.continues() && r.Status != "" {
			return report
		}
		e.set(r, fsstore.Started, "session started", nil)
		r.Subagents, r.BackgroundTasks = 0, 0
		r.EndReason = ""
		return state
	case harness.PromptSubmit:
		e.set(r, fsstore.Running, "processing prompt", nil)
		r.EndReason = ""
		return state
	case harness.PermissionRequest:
		return e.wait(r, e.permission())
	case harness.Elicitation:
		return e.wait(r, "waiting for user input")
	case harness.Interrupt:
		if r.Status != fsstore.Error {
			e.set(r, fsstore.Idle, "interrupted", nil)
		}
		return state
	case harness.StopFailure:
		e.set(r, fsstore.Error, "turn failed (API error)", nil)
		return state
	case harness.SessionEnd:
		e.set(r, fsstore.Ended, "session closed", nil)
		r.EndReason = e.reason
		return state
	case harness.Notification:
		return e.stepNotification(r)
	}
	// What follows says that the main agent goes on or has stopped. It does
	// not end the wait of a subagent, which works beside it.
	subagentWaits := waitingSubagent(r) != ""
	switch e.kind {
	case harness.ToolUse:
		if harness.AsksUser(e.tool) {
			return e.wait(r, e.using())
		}
		if subagentWaits {
			return report
		}
		e.set(r, fsstore.Running, e.using(), nil)
		r.Tool = e.tool
	case harness.ToolDone:
		return e.stepToolDone(r)
	case harness.Compact:
		if subagentWaits {
			return report
		}
		e.set(r, fsstore.Running, "compacting", nil)
	case harness.CompactDone:
		switch {
		case subagentWaits:
			return report
		case e.trigger == "manual": // there is no turn that would go on
			e.set(r, fsstore.Idle, "compacted", nil)
		default:
			e.set(r, fsstore.Running, "compacting", nil)
		}
	case harness.Stop:
		r.BackgroundTasks = int64(e.tasks)
		if e.tasks == 0 {
			r.Subagents = 0
		}
		if subagentWaits {
			return report
		}
		if r.Status != fsstore.Error { // the idle end of a failed turn
			e.set(r, fsstore.Idle, oneLine(e.lastMessage, detailChars), nil)
		}
	}
	return state
}

// detailChars is how many characters of the agent's last words are kept.
const detailChars = 120

func (e *event) using() string {
	if e.tool == "" {
		return "using a tool"
	}
	return "using " + e.tool
}

func (e *event) permission() string {
	if e.tool == "" {
		return "permission needed"
	}
	return "permission needed: " + e.tool
}

// set is the one place that changes a status. Whoever knows of a tool that the
// new one is about names it after that.
func (e *event) set(r *fsstore.Record, s fsstore.Status, detail string, wait *fsstore.Wait) {
	if r.Status == fsstore.Ended && s != fsstore.Ended {
		r.Started = e.ts // another run of the session
	}
	r.Status, r.WaitingFor, r.Tool = s, wait, ""
	r.Detail = cut(detail, fsstore.MaxDetail)
}

// wait sets the state to waiting, for an answer to whoever the event is from.
func (e *event) wait(r *fsstore.Record, detail string) effect {
	e.set(r, fsstore.Waiting, detail, &fsstore.Wait{AgentID: e.agentID, Tool: e.tool})
	r.Tool = e.tool
	return state
}

// revives reports whether the event brings an ended session back.
func (e *event) revives() bool {
	return e.agentID == "" && (e.kind == harness.PromptSubmit || e.kind == harness.SessionStart && !e.continues())
}

// continues reports whether a start is none: the session goes on.
func (e *event) continues() bool { return e.source == "compact" || e.source == "reload" }

// stepSubagent is step for an event of a subagent. It changes the state of the
// session only by asking the user, and by ending its own wait.
func (e *event) stepSubagent(r *fsstore.Record) effect {
	own := e.agentID != "" && waitingSubagent(r) == e.agentID
	goesOn := func(detail string) effect {
		e.set(r, fsstore.Running, detail, nil)
		return state
	}
	switch e.kind {
	case harness.SubagentStart:
		e.countSubagent(r, 1)
	case harness.SubagentStop:
		e.countSubagent(r, -1)
		if own {
			return goesOn("processing prompt")
		}
	case harness.PermissionRequest:
		return e.wait(r, e.permission())
	case harness.Elicitation:
		return e.wait(r, "waiting for user input")
	case harness.Notification:
		switch {
		case e.meaning == harness.Waits:
			return e.stepNotification(r)
		case e.meaning == harness.Answered && own:
			return goesOn("processing prompt")
		}
	case harness.ToolUse:
		if harness.AsksUser(e.tool) {
			return e.wait(r, e.using())
		}
		if own {
			return goesOn(e.using())
		}
	case harness.ToolDone:
		if own && waitsFor(r, e.tool) {
			return goesOn(e.using())
		}
	}
	return report
}

// countSubagent counts. The internal helpers of a harness have no type, and
// stop without having started.
func (e *event) countSubagent(r *fsstore.Record, n int64) {
	if e.agentType != "" {
		r.Subagents = max(r.Subagents+n, 0)
	}
}

// waitingSubagent returns the id of the subagent that waits for the user, ""
// if none does.
func waitingSubagent(r *fsstore.Record) string {
	if r.Status != fsstore.Waiting || r.WaitingFor == nil {
		return ""
	}
	return r.WaitingFor.AgentID
}

// waitsFor reports whether the wait of r ends when the tool is done. A wait
// that names no tool ends with any.
func waitsFor(r *fsstore.Record, tool string) bool {
	return r.WaitingFor == nil || r.WaitingFor.Tool == "" || r.WaitingFor.Tool == tool
}

func (e *event) stepToolDone(r *fsstore.Record) effect {
	switch r.Status {
	case fsstore.Running:
		// It sets nothing, so an event that began before it and comes after it
		// still does: the stop of a turn whose last tool is late, the question
		// of a tool that ran beside this one.
		return report
	case fsstore.Waiting:
		if waitingSubagent(r) != "" || !waitsFor(r, e.tool) {
			return report
		}
	case fsstore.Started:
	default: // late: the turn is over
		return nothing
	}
	e.set(r, fsstore.Running, e.using(), nil)
	r.Tool = e.tool
	return state
}

func (e *event) stepNotification(r *fsstore.Record) effect {
	subagentWaits := waitingSubagent(r) != ""
	switch e.meaning {
	case harness.Waits:
		detail := oneLine(e.message, fsstore.MaxDetail)
		if detail == "" {
			detail = "waiting for user input"
		}
		if r.Status == fsstore.Waiting && r.WaitingFor != nil { // who asks is known already
			tool := r.Tool
			e.set(r, fsstore.Waiting, detail, r.WaitingFor)
			r.Tool = tool
			return state
		}
		return e.wait(r, detail)
	case harness.Idles:
		if subagentWaits || r.Status != fsstore.Running && r.Status != fsstore.Started && r.Status != fsstore.Waiting {
			return nothing
		}
		e.set(r, fsstore.Idle, oneLine(e.message, fsstore.MaxDetail), nil)
		return state
	case harness.Answered:
		if subagentWaits || r.Status != fsstore.Waiting {
			return nothing
		}
		e.set(r, fsstore.Running, oneLine(e.message, fsstore.MaxDetail), nil)
		return state
	}
	return nothing
}

// stepLate is step for an event that is older than the one which set the
// state: hooks of one event run in parallel and end in any order. Only counts
// change, since they do not depend on the order, and only within the turn.
func (e *event) stepLate(r *fsstore.Record) {
	if r.Status != fsstore.Running && r.Status != fsstore.Waiting {
		return
	}
	switch e.kind {
	case harness.SubagentStart:
		e.countSubagent(r, 1)
	case harness.SubagentStop:
		e.countSubagent(r, -1)
	}
}
