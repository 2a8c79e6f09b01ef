package focus

import "strings"

// State is what became of an attempt.
type State string

const (
	Complete    State = "complete"    // the session is in front
	Partial     State = "partial"     // one of selection and activation was done, or not all of the selection
	Failed      State = "failed"      // it was tried, or its process is gone
	Unavailable State = "unavailable" // there is no way
	Ambiguous   State = "ambiguous"   // the query names several sessions
	NotFound    State = "not-found"   // the query names none
)

// Result is what became of an attempt, and why it is not complete.
type Result struct {
	State       State  `json:"state"`
	Reason      string `json:"reason"`       // empty if complete
	Backend     string `json:"backend"`      // what shows the session: tmux, kitty, xterm
	PID         string `json:"pid"`          // as in the record
	TargetFound bool   `json:"target_found"` // the place or the window is known
	Selection   Step   `json:"selection"`    // of the place within the terminal
	Activation  Step   `json:"activation"`   // of the window

	only bool   // there is nothing to select
	gap  string // what else would have to be selected, and why it was not
}

// Step is a half of the attempt. A selection is not attempted in a terminal
// that shows nothing else.
type Step struct {
	Attempted bool   `json:"attempted"`
	Succeeded bool   `json:"succeeded"`
	Detail    string `json:"detail"` // what was selected or activated, or why it was not
}

// OK reports whether something was brought forward.
func (r Result) OK() bool { return r.State == Complete || r.State == Partial }

// String says in one line what was done and what was not. It has text from
// outside.
func (r Result) String() string {
	var parts []string
	if r.Selection.Succeeded {
		parts = append(parts, "selected "+r.Selection.Detail)
	}
	if r.Activation.Succeeded {
		parts = append(parts, "raised "+r.Activation.Detail)
	}
	done := strings.Join(parts, ", ")
	switch {
	case done == "":
		return r.Reason
	case r.Reason == "":
		return done
	}
	return done + "; " + r.Reason
}

// ended is a result without an attempt.
func (r Result) ended(state State, reason string) Result {
	r.State, r.Reason = state, reason
	return r
}

// concluded is a result whose state and reason follow from its steps.
func (r Result) concluded() Result {
	selected := r.Selection.Succeeded || r.only
	switch {
	case selected && r.gap == "" && r.Activation.Succeeded:
		r.State = Complete
	case r.Selection.Succeeded || r.Activation.Succeeded:
		r.State = Partial
	case r.Selection.Attempted || r.Activation.Attempted:
		r.State = Failed
	default:
		r.State = Unavailable
	}
	var missing []string
	if !selected && r.Selection.Detail != "" {
		missing = append(missing, r.Selection.Detail)
	}
	if r.gap != "" {
		missing = append(missing, r.gap)
	}
	if !r.Activation.Succeeded && r.Activation.Detail != "" {
		missing = append(missing, r.Activation.Detail)
	}
	r.Reason = strings.Join(missing, "; ")
	return r
}

// within adds what became of the terminal around a multiplexer.
func (r *Result) within(outer Result) {
	r.Activation = outer.Activation
	r.gap = outer.gap
	switch {
	case outer.Selection.Succeeded:
		r.Selection.Detail += ", " + outer.Selection.Detail
	case !outer.only && r.gap == "":
		r.gap = outer.Selection.Detail
	}
}
