package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tongs-agents/fsstore/maintain"
)

var cleanupTool = mcp.Tool{
	Name: "fleet_cleanup",
	Description: "Brings the list of sessions up to date: removes what has ended, adds agents that no hook reported, " +
		"corrects states that an agent's own files contradict. It stops no agent. Says how many sessions were removed.",
	Annotations: cleans(),
}

// cleans are the annotations of fleet_cleanup: what it removes is over.
func cleans() *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
}

// cleaned is what a cleanup did.
type cleaned struct {
	Removed int           `json:"removed" jsonschema:"how many sessions"`
	Skipped maintain.Skip `json:"skipped,omitempty" jsonschema:"busy: another cleanup is under way; unavailable: not all could be done, see tongs-agents doctor"`
}

func (st store) cleanup(context.Context, struct{}) (cleaned, error) {
	r := maintain.Run(st.dir, maintain.Options{Forced: true})
	return cleaned{len(r.Removed), r.Skipped}, nil
}
