package hook

import (
	"strconv"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

// event is a hook event in our own words.
type event struct {
	*payload
	kind    harness.Event
	name    string          // of the event in a record: our alias
	meaning harness.Meaning // of a notification
	harness *harness.Harness

	key      fsstore.Key
	via      string        // the source of a record: hook, notify or plugin
	owner    *proc.Process // nil: not found
	told     []string      // the arguments of an owner that is not found, as it says itself
	around   *surroundings // nil: not looked at yet
	settled  bool          // the record has its process and surroundings already
	parent   int           // pid of the hook's parent: where its ancestors begin
	ts       int64         // seconds since the epoch
	boottime int64         // nanoseconds since boot, when the hook began
	boot     string        // boot id
}

// mean says what the payload means: what our alias says, or the payload's own
// name of the event. The error is a dropped one if it means nothing.
func (e *event) mean(alias string) error {
	native := e.harness.Hooks.Event(e.native)
	e.kind = native.Event
	if alias != "" {
		e.kind = harness.EventByAlias(alias)
	}
	if e.kind == harness.NoEvent {
		return dropped("event of " + e.harness.ID + " that changes no record: " + e.native)
	}
	switch {
	case e.kind == harness.Stop && e.stopStatus == "aborted":
		e.kind = harness.Interrupt
	case e.kind == harness.Stop && e.stopStatus == "error":
		e.kind = harness.StopFailure
	case e.kind == harness.Notification:
		kind := e.notification
		if kind == "" {
			kind = native.Kind
		}
		if e.meaning = e.harness.Hooks.Notification(kind); e.meaning == harness.Nothing {
			return dropped("notification that says nothing of the state: " + kind)
		}
	}
	e.name = e.kind.String()
	return nil
}

func (e *event) record() fsstore.Key { return e.key }
func (e *event) ends() bool          { return e.kind == harness.SessionEnd }

// creates reports whether the event may bring a record into being.
func (e *event) creates() bool {
	switch e.kind {
	case harness.SessionStart, harness.PromptSubmit:
		return e.agentID == ""
	case harness.ToolUse:
		return e.harness.Hooks.NoStart && e.agentID == "" && e.owner != nil
	}
	return false
}

// apply returns the record after the event, or nil if nothing changes.
func (e *event) apply(store *fsstore.Store, old *fsstore.Record) *fsstore.Record {
	if old == nil {
		r := &fsstore.Record{
			Key: e.key, Kind: fsstore.KindSession, Started: e.ts,
			Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
		}
		e.step(r)
		return e.finish(store, r, state)
	}
	r := *old
	if old.NewerThan(e.boot, e.boottime) {
		e.stepLate(&r)
		e.settle(store, &r)
		e.describe(&r, true)
		return &r
	}
	effect := e.step(&r)
	if effect == nothing {
		return nil
	}
	return e.finish(store, &r, effect)
}

// finish fills in what every event but a late one says.
func (e *event) finish(store *fsstore.Store, r *fsstore.Record, effect effect) *fsstore.Record {
	e.settle(store, r)
	e.describe(r, false)
	if effect == state {
		r.Boottime = e.boottime
	}
	r.TS = e.ts
	r.Source = e.via
	r.LastEvent = e.harness.ID + "." + e.name
	r.RemovedAt = 0
	r.AddRecent(fsstore.Recent{Event: e.name, Status: r.Status, TS: e.ts})
	return r
}

// settle names the process and its surroundings, once in the life of a record.
func (e *event) settle(store *fsstore.Store, r *fsstore.Record) {
	if e.settledIn(r) {
		return
	}
	if e.around == nil {
		e.around = e.surroundings(store)
	}
	s := e.around
	if r.BootID != s.host.BootID {
		r.Boottime = 0 // of another boot, it orders nothing
	}
	r.BootID, r.PIDNamespace, r.MachineID = s.host.BootID, s.host.PIDNamespace, s.host.MachineID
	r.TerminalEnv, r.Terminal = s.env, s.terminal
	r.Resume = e.harness.ResumeCommand(e.key.Session)
	r.Focus = fsstore.Focus{Kind: fsstore.FocusUnavailable}
	r.PID, r.ProcessStart = "", ""
	if e.key.Instance == fsstore.Unresolved {
		r.Identity = fsstore.Unresolved
		return
	}
	r.Identity = fsstore.Identified
	if e.owner != nil {
		r.PID, r.ProcessStart = strconv.Itoa(e.owner.PID), e.owner.Start
	}
	r.Mode, r.TTY = s.mode, s.tty
	switch {
	case s.mode == fsstore.Desktop:
		r.Focus.Kind = fsstore.FocusDesktop
	case s.terminal != "" || s.tty != "":
		r.Focus = fsstore.Focus{Kind: fsstore.FocusTerminal, Terminal: s.terminal, Env: s.env}
	}
	if r.Cwd == "" && e.cwd == "" {
		e.cwd = s.cwd
	}
}

// settledIn reports whether a record has its process and surroundings. That of
// a scan has not: it does not know the variables.
func (e *event) settledIn(r *fsstore.Record) bool {
	return e.settled || r.Instance == e.key.Instance && r.Identity != "" && r.Source != fsstore.SourceProcess &&
		r.BootID == e.boot && r.BootID != ""
}

// describe takes over what the payload says of the session. A late event only
// says what is not known yet, and one of a subagent speaks of the subagent.
func (e *event) describe(r *fsstore.Record, late bool) {
	if e.agentID != "" || e.kind == harness.SubagentStart || e.kind == harness.SubagentStop {
		return
	}
	take := func(to *string, from string, max int) {
		if from != "" && (!late || *to == "") {
			*to = cut(from, max)
		}
	}
	take(&r.Cwd, e.cwd, fsstore.MaxCwd)
	r.Repo = cut(lastElement(r.Cwd), fsstore.MaxRepo)
	take(&r.Title, oneLine(e.title, fsstore.MaxTitle), fsstore.MaxTitle)
	take(&r.Model, e.model, fsstore.MaxModel)
	take(&r.TranscriptPath, e.transcript, fsstore.MaxPath)
}

// lastElement returns the last element of a path, "/" of the root.
func lastElement(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" && path != "" {
		return "/"
	}
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}
