package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tongs-agents/internal/focus"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

func newFocus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "focus QUERY",
		Short: "Bring the terminal of a session to the front",
		Long: `focus selects the tab or pane that shows a session, through multiplexers within
each other, and raises its window. QUERY is a canonical id, session id, repo, pid
or title of one that status lists, or a part of one if that is enough to tell.

It prints what it selected and raised. The exit status is 0 also if only one of
both could be done, which it says, and 1 if neither. What each terminal and
desktop needs for it is in docs/terminals.md.`,
		Example: `  tongs-agents focus my-repo
  tongs-agents focus 872de908 --json | jq -r .state`,
		Args:              oneQuery,
		ValidArgsFunction: completeQuery,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := readListing(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			result, err := focus.Query(cmd.Context(), l.Rows, args[0])
			if errors.Is(err, listing.ErrEmptyQuery) {
				return err
			}
			if err := printFocus(cmd.OutOrStdout(), result, asJSON); err != nil {
				return fail(err)
			}
			switch {
			case listing.IsNoMatch(err):
				return hintExplain(fail(err), l, args[0])
			case err != nil:
				return fail(err)
			case !result.OK():
				return fail(errors.New(result.Reason))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printFocus prints what was done. As text, nothing done is nothing printed.
func printFocus(w io.Writer, result focus.Result, asJSON bool) error {
	switch {
	case asJSON:
		return printJSON(w, result)
	case !result.OK():
		return nil
	}
	_, err := fmt.Fprintln(w, text.Clean(result.String()))
	return err
}
