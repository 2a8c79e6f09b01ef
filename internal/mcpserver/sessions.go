package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

var (
	fleetStatusTool = mcp.Tool{
		Name: "fleet_status",
		Description: "Lists sessions of coding agents with all that is recorded of each, those that need their user first. " +
			"Long: agents_status is the short list.",
		Annotations: reads(),
	}
	needingAttentionTool = mcp.Tool{
		Name: "fleet_sessions_needing_attention",
		Description: "Lists the sessions that wait for an answer of their user, or have been idle for more than two minutes, " +
			"with all that is recorded of each. An empty list means that nobody has to do anything.",
		Annotations: reads(),
	}
	sessionTool = mcp.Tool{
		Name: "fleet_session",
		Description: "All that is recorded of the one session that a query names. If it names several, only they are " +
			"returned, as matches: ask again with the id of one.",
		Annotations: reads(),
	}
)

// Types with schemas of their own.
type (
	agentID string
	mode    string
)

// selection says which sessions are wanted.
type selection struct {
	Agents []agentID        `json:"agents,omitempty" jsonschema:"only these agents"`
	States []fsstore.Status `json:"states,omitempty" jsonschema:"only these states"`
	Modes  []mode           `json:"modes,omitempty" jsonschema:"only these modes"`
	Dir    string           `json:"dir,omitempty" jsonschema:"only this directory and below; relative to that of this server"`
}

func (s *selection) filter() (listing.Filter, error) {
	f := listing.Filter{Agents: texts(s.Agents), States: texts(s.States), Modes: texts(s.Modes)}
	if s.Dir == "" {
		return f, nil
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return f, fmt.Errorf("dir: %w", err)
	}
	f.Dirs = []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil { // an agent's has no links
		f.Dirs = append(f.Dirs, real)
	}
	return f, nil
}

func texts[S ~string](list []S) (plain []string) {
	for _, s := range list {
		plain = append(plain, string(s))
	}
	return plain
}

// sessions is a list, as the commands print one.
type sessions struct {
	Sessions []row           `json:"sessions"`
	Summary  listing.Summary `json:"summary"`
}

// row is a session with all that may be told of it.
type row fsstore.Annotated

func (r *row) MarshalJSON() ([]byte, error) {
	return (*fsstore.Annotated)(r).AppendJSONWithoutEnv(nil), nil
}

func newSessions(rows []*fsstore.Annotated) sessions {
	s := sessions{Sessions: make([]row, len(rows)), Summary: listing.Summarize(rows)}
	for i, r := range rows {
		s.Sessions[i] = newRow(r)
	}
	return s
}

// newRow returns a row whose texts are clean. What has to work stays as it is.
func newRow(r *fsstore.Annotated) row {
	clean := *r
	for _, s := range []*string{&clean.Title, &clean.Detail, &clean.Tool} {
		*s = text.Clean(*s)
	}
	if w := r.WaitingFor; w != nil {
		clean.WaitingFor = &fsstore.Wait{AgentID: w.AgentID, Tool: text.Clean(w.Tool)}
	}
	return row(clean)
}

// rows returns the rows of the store.
func (st store) rows() ([]*fsstore.Annotated, error) {
	l, err := listing.Read(st.dir, time.Now())
	return l.Rows, err
}

// selected returns the rows that are wanted.
func (st store) selected(s selection) ([]*fsstore.Annotated, error) {
	f, err := s.filter()
	if err != nil {
		return nil, err
	}
	rows, err := st.rows()
	return f.Apply(rows), err
}

func (st store) fleetStatus(_ context.Context, in selection) (sessions, error) {
	rows, err := st.selected(in)
	return newSessions(rows), err
}

func (st store) needingAttention(_ context.Context, in selection) (sessions, error) {
	rows, err := st.selected(in)
	var needing []*fsstore.Annotated
	for _, r := range rows {
		if r.NeedsAttention {
			needing = append(needing, r)
		}
	}
	return newSessions(needing), err
}

// query names a session.
type query struct {
	Query string `json:"query" jsonschema:"id, repo, pid or title of a session, or a part of one"`
}

func (st store) session(_ context.Context, in query) (found, error) {
	rows, err := st.rows()
	if err != nil {
		return found{}, err
	}
	r, err := listing.Find(rows, in.Query)
	var several *listing.AmbiguousError
	switch {
	case errors.As(err, &several):
		return found{Matches: newBriefs(rows, several.Rows)}, nil
	case err != nil:
		return found{}, notFound(err, rows)
	}
	one := newRow(r)
	return found{row: &one}, nil
}

// found is the session that a query names, or those that it may name.
type found struct {
	*row
	Matches []brief `json:"matches,omitempty"`
}

func (f found) MarshalJSON() ([]byte, error) {
	if f.row != nil {
		return f.row.MarshalJSON()
	}
	type matches struct {
		Matches []brief `json:"matches"`
	}
	return encode(matches{f.Matches})
}

// notFound adds to the error of a query what it could have named.
func notFound(err error, rows []*fsstore.Annotated) error {
	if !listing.IsNoMatch(err) {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("%w: there are no sessions", err)
	}
	var b strings.Builder
	const shown = 20
	for i, s := range newBriefs(rows, rows) {
		if i == shown {
			fmt.Fprintf(&b, "\nand %d more, which agents_status lists", len(rows)-shown)
			break
		}
		fmt.Fprintf(&b, "\n%s: %s in %s, %s", s.ID, s.Harness, s.Repo, s.Status)
	}
	return fmt.Errorf("%w. The sessions are:%s", err, b.String())
}
