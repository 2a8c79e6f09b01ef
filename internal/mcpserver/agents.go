package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

var agentsStatusTool = mcp.Tool{
	Name:        "agents_status",
	Description: "Lists the sessions of coding agents on this host in short: what each does, those that need their user first.",
	Annotations: reads(),
}

// brief is a session in as few words as a model needs.
type brief struct {
	ID             string         `json:"id" jsonschema:"names this session to the other tools"`
	Harness        string         `json:"harness" jsonschema:"the agent, such as claude"`
	Repo           string         `json:"repo" jsonschema:"name of its working directory"`
	Status         fsstore.Status `json:"status"`
	Detail         string         `json:"detail" jsonschema:"what it does, or what it waits for"`
	Age            int64          `json:"age" jsonschema:"seconds since the last report"`
	NeedsAttention bool           `json:"needs_attention" jsonschema:"waits for its user, or has long been idle"`
}

// briefs is a list of them.
type briefs struct {
	Sessions []brief         `json:"sessions"`
	Summary  listing.Summary `json:"summary"`
}

func (st store) agentsStatus(_ context.Context, in selection) (briefs, error) {
	all, err := st.rows()
	if err != nil {
		return briefs{}, err
	}
	f, err := in.filter()
	if err != nil {
		return briefs{}, err
	}
	rows := f.Apply(all)
	return briefs{newBriefs(all, rows), listing.Summarize(rows)}, nil
}

// newBriefs returns some of all rows in short.
func newBriefs(all, rows []*fsstore.Annotated) []brief {
	name := namer(all)
	list := make([]brief, len(rows))
	for i, r := range rows {
		list[i] = newBrief(r, name)
	}
	return list
}

func newBrief(r *fsstore.Annotated, name func(*fsstore.Annotated) string) brief {
	return brief{
		ID: name(r), Harness: r.Harness, Repo: text.Clean(r.Repo), Status: r.Status,
		Detail: listing.Detail(r), Age: r.Age, NeedsAttention: r.NeedsAttention,
	}
}

// namer returns what names a row among all: the session's own id, or its
// canonical id where another row answers to that, too.
func namer(all []*fsstore.Annotated) func(*fsstore.Annotated) string {
	names := make(map[string]int) // how many rows answer to it
	for _, r := range all {
		seen := make(map[string]bool)
		for _, name := range listing.Names(r) {
			if !seen[name] {
				seen[name] = true
				names[name]++
			}
		}
	}
	return func(r *fsstore.Annotated) string {
		if names[r.Session] > 1 {
			return r.CanonicalID()
		}
		return r.Session
	}
}
