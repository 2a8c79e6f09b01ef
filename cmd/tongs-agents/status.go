package main

import (
	"fmt"
	"io"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

func newStatus() *cobra.Command {
	var f filter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "What every session does, those that need you first",
		Long: `status lists the sessions that the store holds, those that need you first: the
ones that wait for an answer, then the ones idle for more than two minutes. It
shows what was reported; cleanup brings that up to date, and a hint says when
that was not done for an hour.`,
		Example: `  tongs-agents status
  tongs-agents status --agent claude,codex --state waiting
  tongs-agents status --json | jq '.summary.needs_attention'`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
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
	return cmd
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
