package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// find returns the one row that a query names. An empty query is wrong usage.
func find(rows []*fsstore.Annotated, query string) (*fsstore.Annotated, error) {
	row, err := listing.Find(rows, query)
	if errors.Is(err, listing.ErrEmptyQuery) {
		return nil, err
	}
	return row, fail(err)
}

// completeQuery offers the sessions of the store to the shell.
func completeQuery(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return completeRows(args, func() ([]*fsstore.Annotated, error) {
		l, err := readListing(io.Discard)
		return l.Rows, err
	})
}

// completeRows offers one of the sessions that read returns.
func completeRows(args []string, read func() ([]*fsstore.Annotated, error)) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	rows, err := read()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	for _, r := range rows {
		words = append(words, cobra.CompletionWithDesc(text.Clean(r.Session), r.Harness+" in "+text.Clean(r.Repo)))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
