package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tongs-agents/internal/listing"
	"tongs-agents/internal/wait"
)

// Clients give a call some 60 s, unless they are told that it makes progress.
const (
	waitTimeout = 50 * time.Second // unless the call says another one
	waitLongest = time.Hour
)

// waitProgress is how often they are told. A test has no time for that.
var waitProgress = 5 * time.Second

var waitTool = mcp.Tool{
	Name: "agents_wait",
	Description: "Waits until sessions of other agents come to one of the given states, and says which have reached what. " +
		"A state that a session is in already counts. Ends early if a session is gone. If the time is over, call it again.",
	Annotations: reads(),
}

// waiting is what to wait for.
type waiting struct {
	Sessions []string     `json:"sessions" jsonschema:"a query for each: id, repo, pid or title of a session, or a part of one"`
	States   []wait.State `json:"states,omitempty" jsonschema:"any of these; default: waiting error idle, in which an agent does not go on by itself. attention: waits for its user, or has been idle for over two minutes"`
	Mode     waitMode     `json:"mode,omitempty" jsonschema:"all: each session has to reach a state (default); any: one is enough"`
	Timeout  *float64     `json:"timeout_seconds,omitempty" jsonschema:"default 50, at most 3600; 0 only looks"`
}

// waitMode is how many of the sessions are waited for.
type waitMode string

const (
	waitAll waitMode = "all"
	waitAny waitMode = "any"
)

// waited is what a wait came to.
type waited struct {
	Outcome  wait.Outcome    `json:"outcome" jsonschema:"reached; gone: it cannot be reached any more; timeout"`
	Sessions []waitedSession `json:"sessions" jsonschema:"one for each query"`
}

// waitedSession is what a wait came to for one session.
type waitedSession struct {
	Query string `json:"query"`
	brief
	Outcome wait.Outcome `json:"outcome" jsonschema:"timeout also if others decided"`
	State   wait.State   `json:"state,omitempty" jsonschema:"that was reached"`
	Reason  string       `json:"reason,omitempty" jsonschema:"why it is gone"`
}

func (w *waiting) timeout() (time.Duration, error) {
	if w.Timeout == nil {
		return waitTimeout, nil
	}
	if s := *w.Timeout; s < 0 || s > waitLongest.Seconds() {
		return 0, fmt.Errorf("timeout_seconds: %g is not between 0 and %g", s, waitLongest.Seconds())
	}
	return time.Duration(*w.Timeout * float64(time.Second)), nil
}

func (st store) wait(ctx context.Context, in waiting, progress func(time.Duration)) (waited, error) {
	timeout, err := in.timeout()
	if err != nil {
		return waited{}, err
	}
	if len(in.Sessions) == 0 {
		return waited{}, errors.New("sessions: at least one query is wanted")
	}
	if progress != nil {
		defer every(waitProgress, progress)()
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := wait.Run(ctx, st.dir, wait.Request{Queries: in.Sessions, Until: in.States, Any: in.Mode == waitAny})
	if err != nil {
		return waited{}, st.explain(err)
	}
	return st.newWaited(result)
}

// newWaited tells of each session as the other tools do.
func (st store) newWaited(result wait.Result) (waited, error) {
	rows, err := st.rows()
	if err != nil {
		return waited{}, err
	}
	name := namer(rows)
	w := waited{result.Outcome, make([]waitedSession, len(result.Sessions))}
	for i, s := range result.Sessions {
		w.Sessions[i] = waitedSession{s.Query, newBrief(s.Row, name), s.Outcome, s.State, s.Why}
	}
	return w, nil
}

// explain adds to the error of a query what it could have named.
func (st store) explain(err error) error {
	if !listing.IsNoMatch(err) {
		return err
	}
	rows, readErr := st.rows()
	if readErr != nil {
		return err
	}
	return notFound(err, rows)
}

// every calls do again and again, with the time since, until stop has returned.
func every(d time.Duration, do func(time.Duration)) (stop func()) {
	start := time.Now()
	ticker := time.NewTicker(d)
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				do(time.Since(start))
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(stopped)
		<-ended
	}
}
