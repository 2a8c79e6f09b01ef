package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/maintain"
	"tongs-agents/internal/text"
)

func newCleanup() *cobra.Command {
	var asJSON, dryRun bool
	cmd := &cobra.Command{
		Use:   "cleanup",
		Short: "Bring the list up to date: remove what has ended, add what no hook reported",
		Long: `cleanup maintains the store once. It adds the agents that run and that no hook
reported, corrects states that an agent's own files contradict, and removes
sessions that have ended or whose process is gone. Those that can be resumed are
then listed by resumable. A session whose process cannot be judged, of another
machine or container, is kept until it was not reported for 7 days.

The exit status is 1 if another cleanup is under way or something failed.`,
		Example: `  tongs-agents cleanup
  tongs-agents cleanup --dry-run
  tongs-agents cleanup --json | jq '.removed | length'`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := fsstore.StateDir()
			if err != nil {
				return fail(err)
			}
			result := maintain.Run(dir, maintain.Options{Forced: true, DryRun: dryRun})
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), result)
			} else {
				err = printResult(cmd.OutOrStdout(), result, dryRun)
			}
			switch {
			case err != nil:
				return fail(err)
			case result.Err != nil:
				return fail(storeError(result.Err))
			case result.Skipped != "":
				return fail(errors.New("another cleanup is under way"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done and why, and change nothing")
	return cmd
}

// printResult prints a change a line.
func printResult(w io.Writer, result maintain.Result, dryRun bool) error {
	var b strings.Builder
	would := ""
	if dryRun {
		would = "would be "
	}
	archived := map[string]bool{}
	for _, c := range result.Archived {
		archived[c.CanonicalID] = true
	}
	print := func(verb string, changes []maintain.Change) {
		for _, c := range changes {
			fmt.Fprintf(&b, "%s%s %s %s: %s", would, verb, c.Harness, text.Clean(c.Session), text.Clean(c.Why))
			if verb == "removed" && archived[c.CanonicalID] {
				b.WriteString("; can be resumed")
			}
			b.WriteByte('\n')
		}
	}
	print("added", result.Added)
	print("mended", result.Mended)
	print("removed", result.Removed)
	if b.Len() == 0 && result.Skipped == "" {
		b.WriteString("nothing to do\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
