package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/listing"
	"tongs-agents/proc"
)

func newStats() *cobra.Command {
	var f filter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "How many sessions of each agent run now, and what they do",
		Long: `stats counts the sessions that ps lists, for each agent: those that run, wait for
an answer, are idle (nothing was asked of them yet), are done with what was asked,
or have failed.`,
		Example: `  tongs-agents stats
  tongs-agents stats --here
  tongs-agents stats --json | jq .total.waiting`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := f.rows(cmd)
			if err != nil {
				return err
			}
			stats := listing.Count(listing.Living(rows, liveness.NewProcesses(proc.Root)))
			if asJSON {
				return fail(printJSON(cmd.OutOrStdout(), stats))
			}
			return fail(printStats(cmd.OutOrStdout(), stats))
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printStats(w io.Writer, stats listing.Stats) error {
	if stats.Total.Total == 0 {
		_, err := fmt.Fprintln(w, "no sessions are running")
		return err
	}
	t := &table{head: []string{"AGENT", "RUNNING", "WAITING", "IDLE", "DONE", "ERROR", "TOTAL"}, glyph: localGlyphs()}
	line := func(name string, c listing.Counts) {
		cells := []cell{{text: name}}
		for _, n := range [...]int{c.Running, c.Waiting, c.Idle, c.Done, c.Error, c.Total} {
			cells = append(cells, cell{text: strconv.Itoa(n)})
		}
		t.add(cells...)
	}
	for _, a := range stats.Agents {
		line(a.Harness, a.Counts)
	}
	line("total", stats.Total)
	return t.print(w)
}
