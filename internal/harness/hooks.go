package harness

// Hooks says how the program's hook payloads are read.
type Hooks struct {
	// Keys are the top-level keys of a payload that mean something to us.
	Keys []Key

	// Events are the native names of the events that change a record. All
	// others are none of our business.
	Events []NativeEvent

	// Notifications are the kinds of notification that change a record. A
	// harness whose notifications have no kind has none, and Kindless.
	Notifications []NotificationKind
	Kindless      bool

	// Modes are variables that the harness gives its hooks and that tell the
	// mode of the session. The first that fits counts.
	Modes []EnvMode

	// NoStart: there is no event for the start of a session, so that a tool
	// event must do.
	NoStart bool

	// NoSession: payloads name no session. The process does.
	NoSession bool
}

// Key is a payload key and the field that it fills.
type Key struct {
	Name  string
	Field Field
}

// Field is a part of a payload.
type Field uint8

const (
	NoField          Field = iota
	EventName              // text: the native name of the event
	SessionID              // text
	Cwd                    // text
	Roots                  // list of texts: the first is the cwd
	Tool                   // text
	Source                 // text: why the session started
	Reason                 // text: why it ended
	Trigger                // text: manual or automatic
	StopStatus             // text: how the turn ended
	NotificationType       // text
	Message                // text: what a notification says
	LastMessage            // text: the agent's last words of the turn
	AgentID                // text: the subagent that the event is from
	AgentType              // text
	Model                  // text
	Title                  // text: of the session
	Transcript             // text: a path
	Tasks                  // list of objects with a status: background work
	Proof                  // anything: its presence proves whose payload it is
)

// Event is what an event means to us, the same for every harness. Its name is
// the alias that a hook command line may have.
type Event uint8

const (
	NoEvent Event = iota
	SessionStart
	PromptSubmit
	ToolUse
	ToolDone
	Stop
	StopFailure
	PermissionRequest
	Elicitation
	Notification
	Interrupt
	SubagentStart
	SubagentStop
	Compact
	CompactDone
	SessionEnd
)

var eventNames = [...]string{
	NoEvent:           "",
	SessionStart:      "session-start",
	PromptSubmit:      "prompt-submit",
	ToolUse:           "tool-use",
	ToolDone:          "tool-done",
	Stop:              "stop",
	StopFailure:       "stop-failure",
	PermissionRequest: "permission-request",
	Elicitation:       "elicitation",
	Notification:      "notification",
	Interrupt:         "interrupt",
	SubagentStart:     "subagent-start",
	SubagentStop:      "subagent-stop",
	Compact:           "compact",
	CompactDone:       "compact-done",
	SessionEnd:        "session-end",
}

func (e Event) String() string { return eventNames[e] }

// EventByAlias returns the event of one of our aliases, or NoEvent.
func EventByAlias(alias string) Event {
	for e, name := range eventNames {
		if name == alias {
			return Event(e)
		}
	}
	return NoEvent
}

// NativeEvent is an event as the harness names it.
type NativeEvent struct {
	Name  string
	Event Event

	// Kind is the kind of notification that the event amounts to where the
	// payload has none.
	Kind string
}

// Event returns the event of a native name; its Event is NoEvent if the name
// is unknown.
func (h *Hooks) Event(name string) NativeEvent {
	for _, e := range h.Events {
		if e.Name == name {
			return e
		}
	}
	return NativeEvent{Name: name}
}

// Field returns the field that a payload key fills.
func (h *Hooks) Field(key []byte) Field {
	for i := range h.Keys {
		if h.Keys[i].Name == string(key) {
			return h.Keys[i].Field
		}
	}
	return NoField
}

// Proves reports whether the harness's payloads prove whose they are.
func (h *Hooks) Proves() bool {
	for i := range h.Keys {
		if h.Keys[i].Field == Proof {
			return true
		}
	}
	return false
}

// NotificationKind is a kind of notification and what it says of the session.
type NotificationKind struct {
	Kind    string
	Meaning Meaning
}

// Meaning is what a notification says of the session.
type Meaning uint8

const (
	Nothing  Meaning = iota
	Waits            // the user must answer
	Idles            // the turn is over
	Answered         // the user has answered
)

// Notification returns the meaning of a notification of the given kind.
func (h *Hooks) Notification(kind string) Meaning {
	if h.Kindless {
		return Waits
	}
	for _, n := range h.Notifications {
		if n.Kind == kind {
			return n.Meaning
		}
	}
	return Nothing
}

// EnvMode is a mode told by a variable whose value begins with Prefix.
type EnvMode struct{ Variable, Prefix, Mode string }

// AsksUser reports whether using the tool is asking the user.
func AsksUser(tool string) bool { return tool == "AskUserQuestion" || tool == "ExitPlanMode" }
