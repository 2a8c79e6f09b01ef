package focus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// wezterm knows its panes by their terminals. Its command selects a pane with
// its tab; the window is for the desktop to raise.
type wezterm struct{}

func (wezterm) name() string { return "wezterm" }

func (wezterm) is(comm string) bool {
	return comm == "wezterm-gui" || comm == "wezterm-mux-ser" // server, cut to 15 bytes
}

func (wezterm) multiplexer() bool { return false }

type weztermPane struct {
	ID     int    `json:"pane_id"`
	TTY    string `json:"tty_name"`
	Active bool   `json:"is_active"` // in its tab
}

func (wezterm) choose(ctx context.Context, p *place) (shown, error) {
	socket := p.env.get("WEZTERM_UNIX_SOCKET")
	if socket == "" {
		return shown{}, declined("the socket of wezterm is not known")
	}
	if err := ownSocket(socket); err != nil {
		return shown{}, err
	}
	server := weztermServer{socket}
	panes, err := server.panes(ctx)
	if err != nil {
		return shown{}, err
	}
	i := slices.IndexFunc(panes, func(pane weztermPane) bool { return p.tty != "" && pane.TTY == "/dev/"+p.tty })
	if i < 0 {
		return shown{}, fmt.Errorf("no pane of the wezterm at %s has terminal %s", socket, p.tty)
	}
	id := panes[i].ID
	if _, err := server.run(ctx, "activate-pane", "--pane-id", strconv.Itoa(id)); err != nil {
		return shown{}, err
	}
	panes, err = server.panes(ctx)
	if err != nil {
		return shown{}, err
	}
	if !slices.ContainsFunc(panes, func(pane weztermPane) bool { return pane.ID == id && pane.Active }) {
		return shown{}, fmt.Errorf("wezterm shows another pane than %d all the same", id)
	}
	return shown{what: fmt.Sprintf("wezterm pane %d", id)}, nil
}

type weztermServer struct{ socket string }

func (s weztermServer) run(ctx context.Context, args ...string) (string, error) {
	return run(ctx, []string{"WEZTERM_UNIX_SOCKET=" + s.socket}, "wezterm", append([]string{"cli", "--no-auto-start"}, args...)...)
}

func (s weztermServer) panes(ctx context.Context) ([]weztermPane, error) {
	out, err := s.run(ctx, "list", "--format", "json")
	if err != nil {
		return nil, err
	}
	var panes []weztermPane
	if err := json.Unmarshal([]byte(out), &panes); err != nil {
		return nil, fmt.Errorf("wezterm: %w", err)
	}
	return panes, nil
}
