package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

func newPs() *cobra.Command {
	var f filter
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ps",
		Aliases: []string{"list-sessions"},
		Short:   "The sessions that run now, newest first",
		Long: `ps lists the sessions whose process lives, in every directory. It looks at each
recorded process; one that it cannot judge (of another machine or container) is
listed too.`,
		Example: `  tongs-agents ps
  tongs-agents ps --here
  tongs-agents ps --json | jq '.sessions[] | {session_id, uptime_ms}'`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := f.rows(cmd)
			if err != nil {
				return err
			}
			rows = listing.Living(rows, liveness.NewProcesses(proc.Root))
			now := time.Now().Unix()
			if asJSON {
				return fail(printRows(cmd.OutOrStdout(), rows, uptimeKey(now)))
			}
			if len(rows) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "no sessions are running")
				return fail(err)
			}
			return fail(psTable(rows, now).print(cmd.OutOrStdout()))
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func psTable(rows []*fsstore.Annotated, now int64) *table {
	t := &table{head: []string{"SESSION", "PID", "UPTIME", "WORKSPACE", "TITLE"}, wide: 4, glyph: localGlyphs()}
	for i := range rows {
		r := rows[i]
		t.add(
			cell{text: text.Clean(r.Session)},
			cell{text: or(r.PID, t.glyph.none)},
			cell{text: text.Span(listing.Uptime(r, now))},
			cell{text: or(text.Clean(r.Cwd), t.glyph.none), path: true},
			cell{text: or(text.Clean(r.Title), t.glyph.none)},
		)
	}
	return t
}
