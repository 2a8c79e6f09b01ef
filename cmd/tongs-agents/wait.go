package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
	"tongs-agents/internal/wait"
)

// Exit statuses of wait: that of timeout(1), and one for a session that will
// never come to the state.
const (
	exitGone    = 3
	exitTimeout = 124
)

func newWait() *cobra.Command {
	var until []string
	var timeout time.Duration
	var request wait.Request
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "wait QUERY...",
		Short: "Wait until a session comes to a state",
		Long: `wait returns when each of the sessions has come to one of the states of --until,
not necessarily at the same time; with --any, when one has. By default that is
when the agent has stopped for whatever reason: waiting, error or idle. The state
attention is that of a session that needs you: it waits, or has been idle for
more than two minutes.

A state that a session is in already counts. Who has just sent a prompt says
--next: then a session that is idle still has to be reported anew.

QUERY is a canonical id, session id, repo, pid or title, or a part of one if that
is enough to tell. It is looked up once, at the start; the session is followed
into other processes.

The exit status is 0 if the states were reached, 3 if that cannot be any more,
since a session has ended, has died, was removed or was left for another one (an
end is the state ended, too), and 124 if the time is over.`,
		Example: `  tongs-agents wait my-repo && notify-send "my-repo wants you"
  tongs-agents wait my-repo --until ended --timeout 8h
  tongs-agents wait --any api web docs --until attention --json`,
		Args: queries,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return completeQuery(cmd, nil, toComplete)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--until", until, stateNames()); err != nil {
				return err
			}
			if timeout < 0 {
				return fmt.Errorf("--timeout: not a time to wait: %s", timeout)
			}
			ctx := context.Background()
			if cmd.Flags().Changed("timeout") {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			request.Queries = args
			for _, s := range until {
				request.Until = append(request.Until, wait.State(s))
			}
			debug.SetGCPercent(100) // unlike other commands it stays
			result, err := waitFor(ctx, request)
			if err != nil {
				return err
			}
			if err := printWait(cmd.OutOrStdout(), result, asJSON); err != nil {
				return fail(err)
			}
			return missed(result, timeout)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&until, "until", nil, "the states, separated by commas: "+strings.Join(stateNames(), " ")+"; default: waiting error idle")
	flags.DurationVar(&timeout, "timeout", 0, "give up after this time, such as 20m; 0 only looks")
	flags.BoolVar(&request.Any, "any", false, "return when one of several sessions has come to a state")
	flags.BoolVar(&request.Next, "next", false, "a state that a session is in already does not count")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	complete(cmd, "until", stateNames())
	return cmd
}

func stateNames() []string {
	var names []string
	for _, s := range wait.States() {
		names = append(names, string(s))
	}
	return names
}

// waitFor waits for sessions of the user's store.
func waitFor(ctx context.Context, request wait.Request) (wait.Result, error) {
	dir, err := fsstore.StateDir()
	if err != nil {
		return wait.Result{}, fail(err)
	}
	result, err := wait.Run(ctx, dir, request)
	if errors.Is(err, listing.ErrEmptyQuery) {
		return result, err
	}
	return result, fail(storeError(err))
}

// printWait prints the sessions that have come to a state, or as JSON all.
func printWait(w io.Writer, result wait.Result, asJSON bool) error {
	if asJSON {
		return printJSON(w, waitJSON(result))
	}
	var b strings.Builder
	for _, s := range result.Sessions {
		if s.Outcome == wait.Reached {
			fmt.Fprintf(&b, "%s: %s\n", nameOf(s.Row), s.State)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nameOf names a session on one line.
func nameOf(r *fsstore.Annotated) string { return r.Harness + " " + text.Clean(r.Session) }

// waited is one session of the JSON of wait.
type waited struct {
	Query       string         `json:"query"`
	CanonicalID string         `json:"canonical_id"`
	Harness     string         `json:"harness_id"`
	Session     string         `json:"session_id"`
	Repo        string         `json:"repo"`
	Status      fsstore.Status `json:"status"`
	Detail      string         `json:"detail"`
	Outcome     wait.Outcome   `json:"outcome"`
	State       wait.State     `json:"state,omitempty"`
	Reason      string         `json:"reason,omitempty"`
}

func waitJSON(result wait.Result) any {
	sessions := []waited{}
	for _, s := range result.Sessions {
		r := s.Row
		sessions = append(sessions, waited{
			s.Query, r.CanonicalID(), r.Harness, r.Session, r.Repo, r.Status, r.Detail, s.Outcome, s.State, s.Why,
		})
	}
	return struct {
		Outcome  wait.Outcome `json:"outcome"`
		Sessions []waited     `json:"sessions"`
	}{result.Outcome, sessions}
}

// missed is the failure of a wait that was in vain.
func missed(result wait.Result, timeout time.Duration) error {
	if result.Outcome == wait.Reached {
		return nil
	}
	var lines []string
	for _, s := range result.Sessions {
		switch s.Outcome {
		case wait.Gone:
			lines = append(lines, fmt.Sprintf("%s is gone: %s", nameOf(s.Row), s.Why))
		case wait.TimedOut:
			if result.Outcome == wait.TimedOut {
				lines = append(lines, fmt.Sprintf("%s is %s after %s", nameOf(s.Row), s.Row.Status, timeout))
			}
		}
	}
	status := exitGone
	if result.Outcome == wait.TimedOut {
		status = exitTimeout
	}
	return failure{err: errors.New(strings.Join(lines, "\n")), status: status}
}
