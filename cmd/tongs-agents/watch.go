package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/desktop"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

func newWatch() *cobra.Command {
	var w watcher
	var f filter
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Print what changes, as it happens",
		Long: `watch prints a line for every session that comes to another state, is new or is
gone, as it happens, until it is interrupted: time, agent, repo, the states, what
it does. A session that has been idle for so long that it needs you comes to the
state attention. What is at the start is no change. A session whose process dies
is gone once cleanup has found out.

--state is the state that a session comes to; --attention leaves only the changes
by which one comes to need you.

--exec runs a command for every line, by sh -c, one at a time, with the line in
its environment: TONGS_AGENTS_FROM, _TO, _AGENT, _SESSION, _REPO, _CWD, _STATUS,
_DETAIL, _TITLE, _PID, _ID (canonical) and _ATTENTION (1 if the session has come
to need you, else empty). These are plain text on one line, but whatever the agent
said: quote them. While the command runs, later changes of one session become one,
from the first state to the last.

--notify shows a notification on the desktop when a session comes to need you, and
takes it back when it no longer does. It shows none for one that you look at: in
the active window, as far as docs/terminals.md says that this is known, or in the
tmux pane that has the focus (with the option focus-events).`,
		Example: `  tongs-agents watch --here
  tongs-agents watch --notify --agent claude
  tongs-agents watch --attention --exec 'spd-say "$TONGS_AGENTS_REPO waits"'
  tongs-agents watch --json | jq --unbuffered -r 'select(.to == "error").session.detail'`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("exec") && strings.TrimSpace(w.command) == "" {
				return fmt.Errorf("--exec: no command")
			}
			var err error
			if w.wanted, err = f.wanted(); err != nil {
				return err
			}
			debug.SetGCPercent(100) // unlike other commands it stays
			return w.run(untilInterrupted(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	f.register(cmd)
	flags.BoolVar(&w.attention, "attention", false, "only when a session comes to need you")
	flags.StringVar(&w.command, "exec", "", "run this command for every line")
	flags.BoolVar(&w.notify, "notify", false, "show a notification when a session comes to need you")
	flags.BoolVar(&w.asJSON, "json", false, "print JSON, an object a line")
	return cmd
}

// watcher prints transitions.
type watcher struct {
	wanted                    listing.Filter
	attention, notify, asJSON bool
	command                   string
}

// run follows the user's store until it is interrupted or cannot print. A store
// that is unusable at the start is a failure, later it may become usable again.
func (w *watcher) run(ctx context.Context, stdout, stderr io.Writer) error {
	dir, err := fsstore.StateDir()
	if err != nil {
		return fail(err)
	}
	var runner *runner
	if w.command != "" {
		runner = startRunner(w.command, stdout, stderr)
	}
	var notifier *desktop.Notifier
	if w.notify {
		notifier = newNotifier(func(err error) { warn(stderr, err) })
		defer notifier.Close()
	}
	feed := listing.Follow(dir, listing.FeedOptions{})
	defer feed.Close()
	var transitions listing.Transitions
	for first := true; ; first = false {
		l, err := feed.Next(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if err = storeError(err); first {
				return fail(err)
			}
			warn(stderr, err)
			continue
		}
		if first {
			warnUnreadable(stderr, l.Unreadable)
		}
		for _, c := range transitions.Next(l.Rows) {
			if notifier != nil && w.selects(c.Row) {
				notifier.Follow(c)
			}
			if !w.wants(c) {
				continue
			}
			if _, err := stdout.Write(w.line(c, time.Now())); err != nil {
				return fail(err)
			}
			if runner != nil {
				runner.add(c)
			}
		}
	}
}

// untilInterrupted is a context that ends with SIGINT or SIGTERM. Its cause is the
// failure of a command that ends so: the exit status is that of a shell.
func untilInterrupted() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s := <-signals
		cancel(failure{status: 128 + int(s.(syscall.Signal))})
	}()
	return ctx
}

// selects reports whether the flags let a session through, whatever it does.
func (w *watcher) selects(r *fsstore.Annotated) bool {
	f := w.wanted
	f.States = nil
	return len(f.Apply([]*fsstore.Annotated{r})) > 0
}

// wants reports whether a transition is to be printed.
func (w *watcher) wants(c listing.Transition) bool {
	if w.attention && !c.Needs || c.To == listing.Gone && len(w.wanted.States) > 0 {
		return false
	}
	return len(w.wanted.Apply([]*fsstore.Annotated{c.Row})) > 0
}

// line is what is printed of a transition.
func (w *watcher) line(c listing.Transition, now time.Time) []byte {
	r := c.Row
	if w.asJSON {
		head, _ := json.Marshal(struct { // never fails
			Time      string `json:"time"`
			From      string `json:"from"`
			To        string `json:"to"`
			Attention bool   `json:"attention"`
		}{now.UTC().Format(time.RFC3339), c.From, c.To, c.Needs})
		b := append(head[:len(head)-1], `,"session":`...)
		b = append(r.AppendJSON(b), '}')
		return append(jsonstream.AppendValue(nil, b), '\n')
	}
	arrow := "->"
	if text.UTF8() {
		arrow = "→"
	}
	name := or(text.Clean(r.Repo), text.Clean(r.Session))
	line := fmt.Sprintf("%s  %s  %s  %s %s %s", now.Format(time.TimeOnly), r.Harness, name, c.From, arrow, c.To)
	if detail := listing.Detail(r); detail != "" && c.To != listing.Gone {
		line += "  " + detail
	}
	return append([]byte(line), '\n')
}
