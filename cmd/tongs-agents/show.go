package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/shell"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show QUERY",
		Short: "Everything that is known of one session",
		Long: `show prints in full what is known of one session that status lists: what was
reported last, its process and terminal, and the command that resumes it. QUERY
is a canonical id, session id, repo, pid or title, or a part of one if that is
enough to tell. A session that status does not list is found by explain.`,
		Example: `  tongs-agents show my-repo
  tongs-agents show 4242 --json`,
		Args:              oneQuery,
		ValidArgsFunction: completeQuery,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := readListing(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			row, err := find(l.Rows, args[0])
			if listing.IsNoMatch(err) {
				err = hintExplain(err, l, args[0])
			}
			if err != nil {
				return err
			}
			if asJSON {
				_, err := cmd.OutOrStdout().Write(append(row.AppendJSON(nil), '\n'))
				return fail(err)
			}
			return fail(showRow(cmd.OutOrStdout(), row))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// hintExplain adds to a query's having found nothing that explain finds
// something, if it does.
func hintExplain(noMatch error, l listing.Listing, query string) error {
	resumables, err := readResumables(io.Discard) // whose store was just warned of
	if err != nil {
		return noMatch
	}
	if _, _, err := findAny(l, resumables.Rows, query); listing.IsNoMatch(err) {
		return noMatch
	}
	command := []string{"tongs-agents", "explain", query}
	if strings.HasPrefix(query, "-") {
		command = slices.Insert(command, 2, "--")
	}
	return failure{err: noMatch, hint: "explain finds what no list shows: " + shell.Command(command)}
}

// showRow prints a row, a key a line. Keys without a value are left out.
func showRow(w io.Writer, r *fsstore.Annotated) error {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", key, text.Clean(value))
		}
	}
	answer, why := liveness.NewProcesses(proc.Root).Check(&r.Record)
	line("agent", r.Harness)
	line("session", r.Session)
	line("title", r.Title)
	line("status", string(r.Status))
	line("detail", r.Detail)
	line("tool", r.Tool)
	if w := r.WaitingFor; w != nil {
		line("waiting for", strings.TrimSpace(text.Clean(w.Tool)+" "+subagent(w.AgentID)))
	}
	line("attention", yes(r.NeedsAttention))
	line("duplicate", yes(r.Duplicate))
	line("subagents", count(r.Subagents))
	line("background", count(r.BackgroundTasks))
	if r.TS != 0 {
		line("reported", when(r.TS)+", "+listing.Age(r)+" ago")
	}
	line("started", when(r.Started))
	line("cwd", r.Cwd)
	line("model", r.Model)
	line("mode", r.Mode)
	line("process", strings.TrimSpace(r.PID+" "+answer.String()+": "+why))
	line("tty", r.TTY)
	line("terminal", r.Terminal)
	for _, v := range r.TerminalEnv {
		line("", v.Name+"="+v.Value)
	}
	line("focus", r.Focus.Kind)
	line("transcript", r.TranscriptPath)
	line("resume", shell.Command(r.Resume))
	line("end reason", r.EndReason)
	line("launch", r.LaunchID)
	line("profile", r.ProfileID)
	line("source", r.Source)
	line("last event", r.LastEvent)
	for _, e := range r.Recent {
		line("", when(e.TS)+" "+text.Clean(e.Event)+" "+string(e.Status))
	}
	line("instance", r.Instance)
	line("writes", count(r.Arrival))
	line("id", r.CanonicalID())
	_, err := io.WriteString(w, b.String())
	return err
}

func subagent(id string) string {
	if id == "" {
		return ""
	}
	return "(subagent " + text.Clean(id) + ")"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
