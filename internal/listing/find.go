package listing

import (
	"errors"
	"fmt"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
)

// ErrEmptyQuery is the error of Find for a query that asks for nothing.
var ErrEmptyQuery = errors.New("the query is empty")

// NoMatchError is the error of Find for a query that names no session.
type NoMatchError struct{ Query string }

func (e *NoMatchError) Error() string { return fmt.Sprintf("no session matches %q", e.Query) }

// IsNoMatch reports whether Find has found nothing.
func IsNoMatch(err error) bool { return errors.As(err, new(*NoMatchError)) }

// AmbiguousError is the error of Find for a query that names several sessions.
type AmbiguousError struct {
	Query string
	Rows  []*fsstore.Annotated
}

// Error lists the sessions, a line each.
func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d sessions match %q:", len(e.Rows), e.Query)
	const shown = 10
	for i, r := range e.Rows {
		if i == shown {
			fmt.Fprintf(&b, "\nand %d more", len(e.Rows)-shown)
			break
		}
		repo, pid := text.Clean(r.Repo), r.PID
		if repo == "" {
			repo = "no directory"
		}
		if pid == "" {
			pid = "unknown"
		}
		fmt.Fprintf(&b, "\n%s %s in %s, %s, pid %s, %s", r.Harness, text.Clean(r.Session), repo, r.Status, pid, r.CanonicalID())
	}
	return b.String()
}

// Find returns the one row that a query names: by canonical id, session id,
// repo, pid or title. A row that it names exactly goes before those that only
// contain it, in whatever case. The error is ErrEmptyQuery, a NoMatchError or
// an AmbiguousError.
func Find(rows []*fsstore.Annotated, query string) (*fsstore.Annotated, error) {
	if query == "" {
		return nil, ErrEmptyQuery
	}
	found := matching(rows, query, func(name, query string) bool { return name == query })
	if len(found) == 0 {
		found = matching(rows, query, containsFold)
	}
	switch len(found) {
	case 0:
		return nil, &NoMatchError{query}
	case 1:
		return found[0], nil
	}
	return nil, &AmbiguousError{query, found}
}

// Names returns what a query can name a row by. Some may be empty.
func Names(r *fsstore.Annotated) []string {
	return []string{r.CanonicalID(), r.Session, r.Repo, r.PID, r.Title}
}

func matching(rows []*fsstore.Annotated, query string, match func(name, query string) bool) []*fsstore.Annotated {
	var found []*fsstore.Annotated
	for _, r := range rows {
		for _, name := range Names(r) {
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
