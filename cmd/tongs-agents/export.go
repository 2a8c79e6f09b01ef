package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
)

func newExport() *cobra.Command {
	var f filter
	cmd := &cobra.Command{
		Use:   "export [QUERY]",
		Short: "Print records as they are stored, one JSON object a line",
		Long: `export prints every record of the store, or the one that QUERY names, as one JSON
object a line: what import reads. Legacy records, which have no writer, are left
out.`,
		Example: `  tongs-agents export > sessions.jsonl
  tongs-agents export --agent codex | jq .status`,
		Args:              oneQueryOrNone,
		ValidArgsFunction: completeQuery,
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := storedRows(cmd, args)
			if err != nil {
				return err
			}
			if rows, err = f.apply(rows); err != nil {
				return err
			}
			if len(args) == 1 && len(rows) == 0 {
				return fail(fmt.Errorf("no session matches %q", args[0]))
			}
			var b []byte
			for i := range rows {
				b = append(rows[i].Record.AppendJSON(b), '\n')
			}
			_, err = cmd.OutOrStdout().Write(b)
			return fail(err)
		},
	}
	f.register(cmd)
	return cmd
}

// storedRows returns all records of schema 1, or the one that is asked for.
func storedRows(cmd *cobra.Command, args []string) ([]*fsstore.Annotated, error) {
	if len(args) == 1 {
		l, err := readListing(cmd.ErrOrStderr())
		if err != nil {
			return nil, err
		}
		row, err := find(slices.DeleteFunc(l.Rows, isLegacy), args[0])
		if err != nil {
			return nil, err
		}
		return []*fsstore.Annotated{row}, nil
	}
	dir, err := fsstore.StateDir()
	if err != nil {
		return nil, fail(err)
	}
	store, err := fsstore.Open(dir, fsstore.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail(storeError(err))
	}
	defer store.Close()
	records, unreadable, err := store.All()
	if err != nil {
		return nil, fail(storeError(err))
	}
	warnUnreadable(cmd.ErrOrStderr(), unreadable)
	slices.SortFunc(records, func(a, b *fsstore.Record) int {
		return cmp.Or(cmp.Compare(a.Harness, b.Harness), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Instance, b.Instance))
	})
	var rows []*fsstore.Annotated
	for _, r := range records {
		if row := (&fsstore.Annotated{Record: *r}); !isLegacy(row) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func isLegacy(r *fsstore.Annotated) bool { return r.Legacy }
