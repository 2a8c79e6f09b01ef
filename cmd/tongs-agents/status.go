package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/bar"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

func newStatus() *cobra.Command {
	var f filter
	var asJSON bool
	var format string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "What every session does, those that need you first",
		Long: `status lists the sessions that the store holds, those that need you first: the
ones that wait for an answer, then the ones idle for more than two minutes. It
shows what was reported; cleanup brings that up to date, and a hint says when
that was not done for an hour.

With --format it prints a line for a status bar instead, and nothing if there is
nothing to show: 2● 1○ 1✗ 1⚠ are two active sessions, a quiet one, one that has
failed and one that needs you. The formats tmux, waybar, i3blocks and starship
are for the bar of that name; {{…}} in it makes it a template of your own, see
docs/status-bars.md.`,
		Example: `  tongs-agents status
  tongs-agents status --agent claude,codex --state waiting
  tongs-agents status --json | jq '.summary.needs_attention'
  tongs-agents status --format tmux
  tongs-agents status --format '{{range .Attention}}{{.Repo}}: {{.Detail}}{{"\n"}}{{end}}'`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("format") {
				if asJSON {
					return errors.New("--format and --json exclude each other")
				}
				return printBar(cmd, format, &f)
			}
			l, err := readListing(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			rows, err := f.apply(l.Rows)
			if err != nil {
				return err
			}
			if err := printStatus(cmd.OutOrStdout(), rows, asJSON); err != nil {
				return fail(err)
			}
			if l.Exists {
				hintCleanup(cmd.ErrOrStderr(), l.Stamp.Time, time.Now())
			}
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&format, "format", "", "print a line for a status bar: "+strings.Join(bar.Names(), " ")+", or a template")
	complete(cmd, "format", bar.Names())
	return cmd
}

// printBar prints the rows that the flags let through for a status bar. It
// gives no warnings and no hints: a bar asks every few seconds, and nobody
// reads them.
func printBar(cmd *cobra.Command, name string, f *filter) error {
	format, err := bar.Parse(name)
	if err != nil {
		return err
	}
	l, err := readListing(io.Discard)
	if err != nil {
		return barFailure(cmd, format, err)
	}
	rows, err := f.apply(l.Rows)
	if err != nil {
		return err
	}
	text, err := format.Text(bar.NewData(rows))
	if err != nil {
		return fail(err)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return fail(err)
}

// barFailure shows in a bar that there is no listing: an empty bar would say
// that nobody waits. A bar that hides what a failed command has printed is not
// told that it failed.
func barFailure(cmd *cobra.Command, format *bar.Format, failed error) error {
	if _, err := io.WriteString(cmd.OutOrStdout(), format.Failed(failed)); err != nil {
		return fail(err)
	}
	if !format.HidesFailures {
		return failed
	}
	complain(cmd.ErrOrStderr(), failed)
	return nil
}

func printStatus(w io.Writer, rows []*fsstore.Annotated, asJSON bool) error {
	if asJSON {
		return printRows(w, rows, nil)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no sessions")
		return err
	}
	return statusTable(rows).print(w)
}

// hintCleanup says so if the store was not maintained for long.
func hintCleanup(stderr io.Writer, last, now time.Time) {
	switch age := now.Sub(last); {
	case last.IsZero():
		hint(stderr, "the list was never brought up to date: run tongs-agents cleanup")
	case age > time.Hour:
		hint(stderr, "the list was last brought up to date %s ago: run tongs-agents cleanup", text.Span(age))
	case age < -time.Minute:
		hint(stderr, "the list was last brought up to date %s ahead of the clock: run tongs-agents cleanup", text.Span(-age))
	}
}

func statusTable(rows []*fsstore.Annotated) *table {
	t := &table{head: []string{"AGENT", "REPO", "STATUS", "DETAIL", "AGE"}, wide: 3, glyph: localGlyphs()}
	for i := range rows {
		r := rows[i]
		t.add(
			cell{text: r.Harness},
			cell{text: text.Clean(r.Repo)},
			cell{text: string(r.Status), style: statusStyle(r)},
			cell{text: listing.Detail(r)},
			cell{text: or(listing.Age(r), t.glyph.none)},
		)
	}
	return t
}

func statusStyle(r *fsstore.Annotated) ansi.Style {
	switch {
	case r.Status == fsstore.Error:
		return ansi.Style{}.ForegroundColor(ansi.Red)
	case r.NeedsAttention:
		return ansi.Style{}.Bold().ForegroundColor(ansi.Yellow)
	case r.Status == fsstore.Running:
		return ansi.Style{}.ForegroundColor(ansi.Green)
	case r.Status == fsstore.Ended:
		return ansi.Style{}.Faint()
	}
	return ansi.Style{}
}
