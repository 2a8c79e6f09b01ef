package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
)

func newRemove() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "remove QUERY...",
		Short: "Hide a session until it reports again",
		Long: `remove hides sessions from every list until they report again, and takes them
from those that can be resumed. It ends no process. QUERY is a canonical id,
session id, repo, pid or title, or a part of one if that is enough to tell; if
one of several is wrong, nothing is removed.`,
		Example: `  tongs-agents remove my-repo
  tongs-agents remove 872de908 --json`,
		Args: queries,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return completeRows(nil, func() ([]*fsstore.Annotated, error) {
				c, err := readRemovables(io.Discard)
				return c.rows(""), err
			})
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := readRemovables(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			rows, err := c.find(args)
			if err != nil {
				return err
			}
			removed, removeErr := c.remove(rows)
			if err := printRemoved(cmd.OutOrStdout(), removed, asJSON); err != nil {
				return fail(err)
			}
			return fail(removeErr)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// removed is what was removed of one session.
type removed struct {
	CanonicalID string `json:"canonical_id"`
	Harness     string `json:"harness_id"`
	Session     string `json:"session_id"`
	Record      bool   `json:"record"`    // is hidden
	Resumable   bool   `json:"resumable"` // is no longer
}

func printRemoved(w io.Writer, sessions []removed, asJSON bool) error {
	if asJSON {
		return printJSON(w, map[string][]removed{"removed": sessions})
	}
	var b strings.Builder
	for _, s := range sessions {
		fmt.Fprintf(&b, "removed %s %s", s.Harness, text.Clean(s.Session))
		if s.Record {
			b.WriteString(", until it reports again")
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// removables are the sessions that lists show.
type removables struct {
	listed    []*fsstore.Annotated
	resumable []*fsstore.Annotated
}

func readRemovables(stderr io.Writer) (removables, error) {
	l, err := readListing(stderr)
	if err != nil {
		return removables{}, err
	}
	resumables, err := readResumables(io.Discard) // whose store was just warned of
	return removables{l.Rows, resumables.Rows}, err
}

// rows returns the sessions that a query may name. One that can be resumed is
// that of its record in the store, unless the query is its canonical id.
func (c removables) rows(query string) []*fsstore.Annotated {
	listed := make(map[string]bool, len(c.listed))
	for _, r := range c.listed {
		listed[r.SessionDigest()] = true
	}
	rows := slices.Clone(c.listed)
	for _, r := range c.resumable {
		if !listed[r.SessionDigest()] || r.CanonicalID() == query && !slices.ContainsFunc(c.listed, sameRecord(r)) {
			rows = append(rows, r)
		}
	}
	return rows
}

func sameRecord(r *fsstore.Annotated) func(*fsstore.Annotated) bool {
	return func(other *fsstore.Annotated) bool { return other.Key == r.Key }
}

// find returns the sessions that the queries name, each once.
func (c removables) find(queries []string) ([]*fsstore.Annotated, error) {
	var found []*fsstore.Annotated
	for _, query := range queries {
		row, err := find(c.rows(query), query)
		if err != nil {
			return nil, err
		}
		if row.Legacy {
			return nil, fail(fmt.Errorf("session %q has a legacy record, which is only read: its file can be deleted", row.Session))
		}
		if !slices.ContainsFunc(found, sameRecord(row)) {
			found = append(found, row)
		}
	}
	return found, nil
}

// remove removes sessions from the lists.
func (c removables) remove(rows []*fsstore.Annotated) ([]removed, error) {
	done := []removed{}
	dir, err := fsstore.StateDir()
	if err != nil {
		return done, err
	}
	store, err := fsstore.Open(dir, fsstore.Write)
	if err != nil {
		return done, storeError(err)
	}
	defer store.Close()
	archive, err := store.Archive()
	if err != nil {
		return done, storeError(err)
	}
	defer archive.Close()
	for _, row := range rows {
		// The record first: once it is hidden, nobody archives it.
		r := removed{CanonicalID: row.CanonicalID(), Harness: row.Harness, Session: row.Session}
		r.Record, err = c.hide(store, row)
		digest := row.SessionDigest()
		if err == nil && !archive.Written(digest).IsZero() {
			r.Resumable = true
			err = archive.Remove(digest)
		}
		if err != nil {
			return done, fmt.Errorf("session %q: %w", row.Session, storeError(err))
		}
		done = append(done, r)
	}
	return done, nil
}

// How hard a record is tried that its hooks are writing.
const (
	removeTries = 5
	removeWait  = 2 * time.Second
)

// hide marks the record of a row, and those that would be listed in its place.
// It reports whether there was any.
func (c removables) hide(store *fsstore.Store, row *fsstore.Annotated) (hidden bool, err error) {
	for range removeTries {
		var contents fsstore.Contents
		if contents, err = store.Contents(); err != nil {
			return hidden, err
		}
		for _, r := range contents.Records {
			if !c.goesWith(&r, row) {
				continue
			}
			_, err = store.Amend(r, removeWait, func(r *fsstore.Record) { r.RemovedAt = time.Now().Unix() })
			switch {
			case err == nil:
				hidden = true
			case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsstore.ErrUnavailable):
				err = nil // gone meanwhile
			}
			if err != nil {
				break
			}
		}
		if !errors.Is(err, fsstore.ErrStale) {
			return hidden, err
		}
	}
	return hidden, errors.New("it reports all the time")
}

// goesWith reports whether a record is that of the row, or one of its session
// that no list shows beside it.
func (c removables) goesWith(r *fsstore.Stored, row *fsstore.Annotated) bool {
	if r.SessionDigest() != row.SessionDigest() || r.Legacy || r.RemovedAt != 0 {
		return false
	}
	shown := slices.ContainsFunc(c.listed, func(l *fsstore.Annotated) bool { return l.Key == r.Key })
	return r.Key == row.Key || !shown
}
