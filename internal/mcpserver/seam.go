package mcpserver

import (
	"context"

	"tongs-agents/fsstore"
)

// Focus brings the session that a query names among rows to the front. The
// error is that of listing.Find, and there is a result for it, too.
type Focus func(ctx context.Context, rows []*fsstore.Annotated, query string) (FocusResult, error)

// FocusResult is what became of an attempt, and why it is not complete.
type FocusResult struct {
	State       string    `json:"state"`
	Reason      string    `json:"reason"`
	Backend     string    `json:"backend"`
	PID         string    `json:"pid"`
	TargetFound bool      `json:"target_found"`
	Selection   FocusStep `json:"selection"`
	Activation  FocusStep `json:"activation"`
}

// FocusStep is a half of the attempt.
type FocusStep struct {
	Attempted bool   `json:"attempted"`
	Succeeded bool   `json:"succeeded"`
	Detail    string `json:"detail"`
}

// Wait waits for sessions of the store in a state directory, until the deadline
// of ctx. The error is that of listing.Find for one of the queries, of the
// store, or of a ctx that was cancelled.
type Wait func(ctx context.Context, dir string, request WaitRequest) (WaitResult, error)

// WaitState is a status, or "attention".
type WaitState string

// WaitOutcome is reached, gone or timeout.
type WaitOutcome string

// WaitRequest is what to wait for.
type WaitRequest struct {
	Queries []string
	Until   []WaitState // none: waiting, error and idle
	Any     bool        // one session is enough
}

// WaitResult is what a wait came to.
type WaitResult struct {
	Outcome  WaitOutcome
	Sessions []WaitSession // in the order of the queries
}

// WaitSession is what became of one of the sessions.
type WaitSession struct {
	Query   string
	Row     *fsstore.Annotated // as it was listed last
	Outcome WaitOutcome
	State   WaitState // that was reached
	Why     string    // it is gone
}
