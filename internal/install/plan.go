package install

import (
	"bytes"
	"errors"

	"tongs-agents/internal/install/assets"
)

// plan is a change of one file: how its text becomes another.
type plan struct {
	// next returns the text as it should be. The error says why the file is left
	// alone.
	next func(content) ([]byte, error)

	// ours reports whether a text has something of ours.
	ours func(text []byte) bool

	// original returns a text without what is ours, where it is not remembered.
	original func(text []byte) original
}

func (w *work) planFor(a *agent, f file) plan {
	if f.asset != "" {
		return plan{
			next: func(c content) ([]byte, error) {
				if c.exists && !blank(c.text) && !assets.Ours(c.text) {
					return nil, errors.New("is not ours: it does not say that tongs-agents install wrote it")
				}
				return assets.Render(f.asset, w.hook), nil
			},
			ours:     assets.Ours,
			original: func([]byte) original { return original{absent: true} },
		}
	}
	return plan{
		next: func(c content) ([]byte, error) { return a.enter(c.text, w.hook) },
		ours: func(text []byte) bool {
			rest, err := a.leave(text)
			return err == nil && !bytes.Equal(rest, text)
		},
		original: func(text []byte) original { return a.withoutUs(f, text) },
	}
}

// planForServer is the plan for the file that has the agent's MCP servers.
func (w *work) planForServer(a *agent) plan {
	return plan{
		next: func(c content) ([]byte, error) { return a.mcp.enter(c.text, w.program) },
		ours: func(text []byte) bool {
			command, err := a.mcp.at(text)
			return err == nil && runsServer(command)
		},
		original: func(text []byte) original { return a.withoutUs(a.mcp.file, text) },
	}
}

// withoutUs returns settings without what is ours in them, as they are if that
// cannot be told.
func (a *agent) withoutUs(f file, text []byte) original {
	rest, err := a.leaveAll(f, text)
	if err != nil {
		rest = text
	}
	return original{rest, f.ours && a.empty(rest)}
}

// leaveAll returns the settings in a file without all that is ours, what was
// entered last first.
func (a *agent) leaveAll(f file, text []byte) (rest []byte, err error) {
	rest = text
	if a.hasServer(f) {
		rest, err = a.mcp.leave(rest)
	}
	if err == nil && a.hasHooks(f) {
		rest, err = a.leave(rest)
	}
	return rest, err
}
