package desktop

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"tongs-agents/fsstore"
)

// inFront reports whether the user certainly looks at a session: its tmux pane
// is the active one of a client whose terminal has the focus. Not knowing is
// no.
func inFront(ctx context.Context, row *fsstore.Annotated) bool {
	socket, _, _ := strings.Cut(row.LookupEnv("TMUX"), ",")
	pane := row.LookupEnv("TMUX_PANE")
	if socket == "" || pane == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	// Without focus-events tmux takes every client for focused.
	const format = "#{focus-events} #{client_flags} #{pane_id}"
	clients, err := exec.CommandContext(ctx, "tmux", "-S", socket, "list-clients", "-F", format).Output()
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(clients)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "1" && words[2] == pane && strings.Contains(","+words[1]+",", ",focused,") {
			return true
		}
	}
	return false
}
