package hook

import (
	"strings"

	"tongs-agents/internal/harness"
)

// Usage is for whoever runs the hook at a terminal.
const Usage = `usage: tongs-agents-hook [EVENT] [--agent ID] < PAYLOAD

Records one hook event of a coding agent. Agents run it; it reads one JSON
object from standard input, prints nothing and exits 0.

EVENT   what happened, where the payload does not say:
        session-start prompt-submit tool-use tool-done stop stop-failure
        permission-request elicitation notification interrupt subagent-start
        subagent-stop compact compact-done session-end;
        or what a program inside the agent says: fleet-event of one session,
        snapshot of all sessions of its process
ID      whose hook it is, claude if not said, which a snapshot must:
        claude codex gemini opencode pi qwen copilot cursor droid goose kiro
        crush other

Example, in Claude Code's settings.json:
  "hooks": {"Stop": [{"hooks": [{"type": "command",
    "command": "/home/me/.local/bin/tongs-agents-hook", "args": []}]}]}
`

// command is what the arguments say.
type command struct {
	event string // an alias, fleetEvent or snapshotEvent; empty: the payload says it
	agent *harness.Harness
	named bool // --agent was given
}

const (
	fleetEvent    = "fleet-event"
	snapshotEvent = "snapshot"
)

// parseArgs reads the arguments. Options it does not know are passed over: a
// settings file may be newer than the program.
func parseArgs(args []string) (command, error) {
	c := command{agent: harness.ByID("claude")}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		id, isAgent := strings.CutPrefix(arg, "--agent=")
		if arg == "--agent" && i+1 < len(args) {
			i++
			id, isAgent = args[i], true
		}
		switch {
		case isAgent:
			c.named = true
			if c.agent = harness.ByID(id); c.agent == nil {
				return c, dropped("unknown agent " + id)
			}
		case strings.HasPrefix(arg, "-"):
		case c.event == "":
			c.event = arg
		}
	}
	switch {
	case c.event == "" || c.event == fleetEvent:
	case c.event == snapshotEvent:
		if !c.named { // claude has no plugin, and the payload does not say whose it is
			return c, dropped("snapshot without --agent")
		}
	case harness.EventByAlias(c.event) == harness.NoEvent:
		return c, dropped("unknown event " + c.event)
	}
	return c, nil
}

// dropped is the error for an event that by the rules changes nothing. The
// text says why.
type dropped string

func (d dropped) Error() string { return string(d) }
