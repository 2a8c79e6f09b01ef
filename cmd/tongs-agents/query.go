package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
)

// find returns the one row that a query names: by canonical id, session id,
// repo, pid or title. A row that it names exactly goes before those that only
// begin with it or contain it.
func find(rows []*fsstore.Annotated, query string) (*fsstore.Annotated, error) {
	if query == "" {
		return nil, fmt.Errorf("the query is empty")
	}
	exact := matching(rows, query, func(name, query string) bool { return name == query })
	found := exact
	if len(found) == 0 {
		found = matching(rows, query, containsFold)
	}
	switch len(found) {
	case 0:
		return nil, fail(noMatch{query})
	case 1:
		return found[0], nil
	}
	return nil, fail(ambiguous(query, found))
}

// noMatch says that a query names no session.
type noMatch struct{ query string }

func (n noMatch) Error() string { return fmt.Sprintf("no session matches %q", n.query) }

// isNoMatch reports whether find has found nothing.
func isNoMatch(err error) bool { return errors.As(err, new(noMatch)) }

func matching(rows []*fsstore.Annotated, query string, match func(name, query string) bool) []*fsstore.Annotated {
	var found []*fsstore.Annotated
	for i := range rows {
		r := rows[i]
		for _, name := range [...]string{r.CanonicalID(), r.Session, r.Repo, r.PID, r.Title} {
			if name != "" && match(name, query) {
				found = append(found, r)
				break
			}
		}
	}
	return found
}

func containsFold(name, query string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(query))
}

func ambiguous(query string, found []*fsstore.Annotated) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d sessions match %q:", len(found), query)
	const shown = 10
	for i, r := range found {
		if i == shown {
			fmt.Fprintf(&b, "\nand %d more", len(found)-shown)
			break
		}
		fmt.Fprintf(&b, "\n%s %s in %s, %s, pid %s, %s", r.Harness, text.Clean(r.Session), or(text.Clean(r.Repo), "no directory"), r.Status, or(r.PID, "unknown"), r.CanonicalID())
	}
	return fmt.Errorf("%s", b.String())
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
