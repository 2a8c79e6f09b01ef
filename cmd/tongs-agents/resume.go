package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

func newResume() *cobra.Command {
	return &cobra.Command{
		Use:   "resume QUERY",
		Short: "Continue a session that was cut off, here",
		Long: `resume changes to the directory of a session and replaces itself by the command
that continues it. QUERY is a canonical id, session id, repo, pid or title of one
that resumable lists, however long it had been idle, or a part of one if that is
enough to tell.

The exit status is that of the command, 127 if it is not found, 126 if it cannot
be run. A command that only a relative directory in PATH has is not run.`,
		Example: `  tongs-agents resume my-repo
  tongs-agents resume 872de908`,
		Args: oneQuery,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return completeRows(args, func() ([]*fsstore.Annotated, error) {
				l, err := readResumables(io.Discard)
				return l.Rows, err
			})
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := readResumables(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			row, err := find(l.Rows, args[0])
			if listing.IsNoMatch(err) {
				err = fail(notResumable(args[0]))
			}
			if err != nil {
				return err
			}
			return resume(&row.Record)
		},
	}
}

// notResumable says why a query names no session that could be resumed.
func notResumable(query string) error {
	l, err := readListing(io.Discard)
	if err != nil {
		return err
	}
	row, err := find(l.Rows, query)
	if listing.IsNoMatch(err) {
		return fmt.Errorf("no session that could be resumed matches %q", query)
	}
	if err != nil {
		return err
	}
	processes := liveness.NewProcesses(proc.Root)
	answer, why := processes.Check(&row.Record)
	switch {
	case row.Status != fsstore.Ended && answer == proc.Alive:
		return fmt.Errorf("session %q lives in process %s", row.Session, row.PID)
	case row.Status != fsstore.Ended && answer == proc.Unknown:
		return fmt.Errorf("session %q may still live: %s", row.Session, why)
	}
	return fmt.Errorf("session %q cannot be resumed: %s", row.Session,
		or(row.ResumeObstacle(processes.Here().BootID), "another record of it is newer"))
}

// resume becomes the program that continues a session. It returns only if it
// cannot.
func resume(r *fsstore.Record) error {
	dir := text.Clean(r.Cwd)
	if !filepath.IsAbs(r.Cwd) {
		return fail(fmt.Errorf("directory %q has no absolute path", r.Cwd))
	}
	err := os.Chdir(r.Cwd)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(fmt.Errorf("directory %s is gone", dir))
	case err != nil:
		return fail(fmt.Errorf("directory %s: %w", dir, bare(err)))
	}
	p, err := findProgramElsewhere(r.Resume[0])
	if err != nil {
		return err
	}
	return p.exec(r.Resume, withPWD(os.Environ(), r.Cwd))
}

// withPWD returns an environment in which PWD is the directory.
func withPWD(env []string, dir string) []string {
	changed := []string{"PWD=" + dir}
	for _, v := range env {
		if !strings.HasPrefix(v, "PWD=") {
			changed = append(changed, v)
		}
	}
	return changed
}
