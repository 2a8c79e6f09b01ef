package main

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/fsstore/maintain"
	"tongs-agents/fsstore/maintain/evidence"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

func newExplain() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain QUERY",
		Short: "Why a session is listed as it is, or why it is not",
		Long: `explain says of one session where its state comes from, what the agent's own file
and the process say, whether lists show it, and what the next cleanup would do.
QUERY is a canonical id, session id, repo, pid or title, or a part of one if that
is enough to tell. What no list shows is found too.`,
		Example: `  tongs-agents explain my-repo
  tongs-agents explain 4242 --json | jq .cleanup`,
		Args:              oneQuery,
		ValidArgsFunction: completeQuery,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := explain(cmd.ErrOrStderr(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return fail(e.printJSON(cmd.OutOrStdout()))
			}
			return fail(e.print(cmd.OutOrStdout()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// explanation is what is known of one session, and of what follows from it.
type explanation struct {
	row      *fsstore.Annotated
	hidden   *fsstore.Hidden // nil: it is not
	archived bool            // it has left the store

	process       proc.Answer
	processReason string

	files    bool                  // the agent has files that are asked
	observed *evidence.Observation // what they say

	resumeObstacle string // empty: it can be resumed

	mended, removed string // what the next cleanup does, and why
	archives        bool   // it can be resumed after that
	cleanupErr      error
}

// explain finds a session and what is known of it.
func explain(stderr io.Writer, query string) (*explanation, error) {
	l, err := readListing(stderr)
	if err != nil {
		return nil, err
	}
	resumables, err := readResumables(io.Discard) // whose store was just warned of
	if err != nil {
		return nil, err
	}
	e := new(explanation)
	e.row, e.archived, err = findAny(l, resumables.Rows, query)
	if err != nil {
		return nil, err
	}
	for i := range l.Hidden {
		if l.Hidden[i].Key == e.row.Key {
			e.hidden = &l.Hidden[i]
		}
	}
	processes := liveness.NewProcesses(proc.Root)
	e.process, e.processReason = processes.Check(&e.row.Record)
	e.observe()
	e.resumeObstacle = e.whyNotResumable(resumables.Rows, processes.Here().BootID)
	return e, e.foresee()
}

// findAny finds a session: first among those that are listed, then those that
// are not, then those that have left the store.
func findAny(l listing.Listing, resumable []*fsstore.Annotated, query string) (row *fsstore.Annotated, archived bool, err error) {
	row, err = find(l.Rows, query)
	if listing.IsNoMatch(err) {
		row, err = find(annotateHidden(l.Hidden), query)
	}
	if listing.IsNoMatch(err) {
		row, err = find(resumable, query)
		archived = true
	}
	return row, archived, err
}

func annotateHidden(hidden []fsstore.Hidden) []*fsstore.Annotated {
	now := time.Now()
	rows := make([]*fsstore.Annotated, len(hidden))
	for i, h := range hidden {
		row := fsstore.Annotate(h.Record, now)
		rows[i] = &row
	}
	return rows
}

// observe asks the agent's own files, as a cleanup does.
func (e *explanation) observe() {
	source := evidence.ByHarness(e.row.Harness, proc.Root)
	e.files = source != nil
	if source == nil || e.process != proc.Alive {
		return
	}
	if o, ok := source.Observe(&e.row.Record); ok {
		e.observed = &o
	}
}

func (e *explanation) whyNotResumable(resumable []*fsstore.Annotated, bootID string) string {
	for _, r := range resumable {
		if r.Key == e.row.Key {
			return ""
		}
	}
	if obstacle := e.row.ResumeObstacle(bootID); obstacle != "" {
		return obstacle
	}
	if e.row.Status != fsstore.Ended && e.process != proc.Dead {
		return "it has not ended"
	}
	return "another record of its session decides"
}

// foresee asks what the next cleanup would do with the record.
func (e *explanation) foresee() error {
	if e.archived {
		return nil
	}
	dir, err := fsstore.StateDir()
	if err != nil {
		return fail(err)
	}
	result := maintain.Run(dir, maintain.Options{Forced: true, DryRun: true, NoScan: true})
	e.cleanupErr = storeError(result.Err)
	e.mended = e.reasons(result.Mended)
	e.removed = e.reasons(result.Removed)
	e.archives = e.reasons(result.Archived) != ""
	return nil
}

// reasons returns why a cleanup changes the record, "" if it does not.
func (e *explanation) reasons(changes []maintain.Change) string {
	var reasons []string
	for _, c := range changes {
		if c.CanonicalID == e.row.CanonicalID() {
			reasons = append(reasons, text.Clean(c.Why))
		}
	}
	return strings.Join(reasons, "; ")
}

func (e *explanation) print(w io.Writer) error {
	var b strings.Builder
	for _, sentence := range e.sentences() {
		b.WriteString(sentence + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
