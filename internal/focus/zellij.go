package focus

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tongs-agents/internal/shell"
	"tongs-agents/proc"
)

// zellij can select a pane by its id since release 0.44.
type zellij struct{}

func (zellij) name() string        { return "zellij" }
func (zellij) is(comm string) bool { return comm == "zellij" }
func (zellij) multiplexer() bool   { return true }

// zellijName is a session name that is no option and no path.
var zellijName = regexp.MustCompile(`^[^/\x00-\x20-][^/\x00-\x1f]*$`)

func (zellij) choose(ctx context.Context, p *place) (shown, error) {
	session, pane := p.env.get("ZELLIJ_SESSION_NAME"), p.env.get("ZELLIJ_PANE_ID")
	if !zellijName.MatchString(session) || !number.MatchString(pane) {
		return shown{}, fmt.Errorf("the pane of zellij is not known: ZELLIJ_SESSION_NAME is %q, ZELLIJ_PANE_ID %q", session, pane)
	}
	result := shown{what: fmt.Sprintf("zellij pane %s of session %s", pane, session), clients: zellijClients(session)}
	if len(result.clients) == 0 {
		result.hint = "the session is detached, or who shows it cannot be told: " + shell.Command([]string{"zellij", "attach", session})
	}
	id := "terminal_" + pane
	if _, err := run(ctx, nil, "zellij", "--session", session, "action", "focus-pane-id", id); err != nil {
		if strings.Contains(err.Error(), "focus-pane-id") { // by a parser that does not know it
			return result, declined("zellij before 0.44 cannot be told which pane to show")
		}
		return shown{}, err
	}
	out, err := run(ctx, nil, "zellij", "--session", session, "action", "list-panes", "--json")
	if err != nil {
		return shown{}, err
	}
	var panes []struct {
		ID      int  `json:"id"`
		Plugin  bool `json:"is_plugin"`
		Focused bool `json:"is_focused"`
	}
	if err := json.Unmarshal([]byte(out), &panes); err != nil {
		return shown{}, fmt.Errorf("zellij: %w", err)
	}
	for _, pane := range panes {
		if !pane.Plugin && pane.Focused && "terminal_"+strconv.Itoa(pane.ID) == id {
			return result, nil
		}
	}
	return shown{}, fmt.Errorf("zellij shows another pane than %s all the same", pane)
}

// zellijClients returns the processes that show a session: those that were
// told its name, else the one there is, if it was told none.
func zellijClients(session string) []int {
	var named, unnamed []int
	for _, p := range processes(func(p proc.Stat) bool { return (zellij{}).is(p.Comm) && p.TTY != 0 }) {
		args, err := proc.Root.Cmdline(p.PID)
		switch {
		case err != nil:
		case slices.Contains(args[min(1, len(args)):], session):
			named = append(named, p.PID)
		case len(args) == 1:
			unnamed = append(unnamed, p.PID)
		}
	}
	if len(named) == 0 && len(unnamed) == 1 {
		return unnamed
	}
	return named
}
