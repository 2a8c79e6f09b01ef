package mcpserver

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tongs-agents/internal/focus"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

var focusTool = mcp.Tool{
	Name: "fleet_focus",
	Description: "Brings the terminal of the session that a query names to the front of the user's screen. " +
		"Only if the user asks for it: it takes the keyboard away from what they do.",
	Annotations: shows(),
}

// shows are the annotations of fleet_focus: nothing is changed but what the
// user looks at.
func shows() *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
}

func (st store) focus(ctx context.Context, in query) (focus.Result, error) {
	rows, err := st.rows()
	if err != nil {
		return focus.Result{}, err
	}
	r, err := focus.Query(ctx, rows, in.Query)
	if errors.Is(err, listing.ErrEmptyQuery) {
		return r, err
	}
	// That the query names several, or none, is a result, too.
	if listing.IsNoMatch(err) {
		r.Reason = notFound(err, rows).Error()
	}
	for _, s := range []*string{&r.Selection.Detail, &r.Activation.Detail} {
		*s = text.Clean(*s)
	}
	return r, nil
}
