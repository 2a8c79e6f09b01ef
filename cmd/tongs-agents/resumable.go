package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/shell"
	"tongs-agents/internal/text"
)

func newResumable() *cobra.Command {
	f := filter{last: true}
	var asJSON bool
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "resumable",
		Short: "The sessions that were cut off, with the command that resumes each",
		Long: `resumable lists the sessions whose process went without an end by the user, the
last reported first: it was killed, its terminal was closed, the machine went
down. Each has the command to type, or to give to resume. Sessions that worked
or waited are listed; idle ones only with --idle, which says how long they may
have been idle before. Time with the machine off does not count. --state is
about what a session did last.`,
		Example: `  tongs-agents resumable
  tongs-agents resumable --here --idle 20m
  tongs-agents resumable --json | jq '.sessions[].resume'`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if idle < 0 {
				return fmt.Errorf("--idle: negative: %s", strings.Replace(idle.String(), "m0s", "m", 1))
			}
			l, err := readResumables(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			rows, err := f.apply(l.Within(idle))
			if err != nil {
				return err
			}
			if err := printResumables(cmd.OutOrStdout(), &l, rows, asJSON); err != nil {
				return fail(err)
			}
			all, err := f.apply(l.Rows)
			if more := len(all) - len(rows); err == nil && more > 0 && idle == 0 {
				hint(cmd.ErrOrStderr(), "%d more %s: see --idle", more, plural(more, "was idle and is not listed", "were idle and are not listed"))
			}
			return err
		},
	}
	f.register(cmd)
	cmd.Flags().DurationVar(&idle, "idle", 0, "list those too that had been idle for at most this long, as 20m or 8h")
	complete(cmd, "idle", []string{"20m", "1h", "8h"})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printResumables(w io.Writer, l *listing.Resumables, rows []*fsstore.Annotated, asJSON bool) error {
	if asJSON {
		return printRows(w, rows, func(b []byte, row *fsstore.Annotated) []byte {
			return strconv.AppendInt(append(b, `,"idle_from":`...), l.IdleFrom(row), 10)
		})
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no sessions to resume")
		return err
	}
	dirs, _ := workingDir() // a deleted one is nobody's
	return resumableTable(rows, dirs).print(w)
}

func resumableTable(rows []*fsstore.Annotated, dirs []string) *table {
	t := &table{head: []string{"AGENT", "TITLE", "WORKSPACE", "AGE", "STATUS", "DETAIL"}, wide: 5, glyph: localGlyphs()}
	for _, r := range rows {
		last := ""
		if r.Status != fsstore.Ended { // else it is about the end
			last = listing.Detail(r)
		}
		t.add(
			cell{text: r.Harness},
			cell{text: or(text.Clean(r.Title), t.glyph.none)},
			cell{text: text.Clean(r.Cwd), path: true},
			cell{text: or(listing.Age(r), t.glyph.none)},
			cell{text: string(r.LastStatus())},
			cell{text: last},
		)
		t.below = append(t.below, "    "+resumeCommand(&r.Record, dirs))
	}
	return t
}

// resumeCommand is what to type in a directory with the given names.
func resumeCommand(r *fsstore.Record, dirs []string) string {
	command := shell.Command(r.Resume)
	if slices.Contains(dirs, r.Cwd) {
		return command
	}
	dir := r.Cwd
	if !filepath.IsAbs(dir) {
		dir = "./" + dir // no option, and nothing in CDPATH
	}
	return "cd " + shell.Word(dir) + " && " + command
}
