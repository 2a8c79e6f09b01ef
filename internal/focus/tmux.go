package focus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"tongs-agents/internal/shell"
)

// tmux knows its panes by the process that it started in each. The pane id of a
// record is not needed.
type tmux struct{}

func (tmux) name() string        { return "tmux" }
func (tmux) is(comm string) bool { return comm == "tmux: server" || comm == "tmux" }
func (tmux) multiplexer() bool   { return true }

// tmuxPane is a pane as a session has it: windows may be in several sessions.
type tmuxPane struct {
	id, session, window string
	pid                 int
	current             bool // its session shows it
	sessionName         string
}

type tmuxClient struct {
	pid           int
	session, name string
	pane          string // that it shows
	activity      int64  // seconds since the epoch
	focus         sight  // of its terminal, as that says
}

func (tmux) choose(ctx context.Context, p *place) (shown, error) {
	server, panes, clients, err := tmuxAt(ctx, p)
	if err != nil {
		return shown{}, err
	}
	pane := bestPane(panes, clients)
	return server.show(ctx, pane, clients)
}

// tmuxAt finds the server of a place, the pane that holds it, in each session
// that has that, and all clients.
func tmuxAt(ctx context.Context, p *place) (server tmuxServer, panes []tmuxPane, clients []tmuxClient, err error) {
	socket, err := tmuxSocket(p)
	if err != nil {
		return server, nil, nil, err
	}
	server = tmuxServer{socket}
	panes, err = server.panes(ctx)
	if err != nil {
		return server, nil, nil, err
	}
	panes = slices.DeleteFunc(panes, func(pane tmuxPane) bool { return !p.has(pane.pid) })
	if len(panes) == 0 {
		return server, nil, nil, fmt.Errorf("no pane of the tmux server at %s holds process %d", socket, p.lineage[0].PID)
	}
	clients, err = server.clients(ctx)
	return server, panes, clients, err
}

// tmuxSocket is the one on which the server waits for clients. TMUX has it, too:
// its path, which may have commas, the server's pid and the session's number.
func tmuxSocket(p *place) (string, error) {
	if listening := listens(p.host); len(listening) == 1 {
		return listening[0], ownSocket(listening[0])
	}
	parts := strings.Split(p.env.get("TMUX"), ",")
	if len(parts) < 3 {
		return "", errors.New("the socket of the tmux server is not known")
	}
	path := strings.Join(parts[:len(parts)-2], ",")
	return path, ownSocket(path)
}

// bestPane chooses among the sessions that have the pane: one that somebody
// looks at, and that shows it already.
func bestPane(panes []tmuxPane, clients []tmuxClient) tmuxPane {
	worth := func(p tmuxPane) int {
		n := 0
		if slices.ContainsFunc(clients, func(c tmuxClient) bool { return c.session == p.session }) {
			n += 2
		}
		if p.current {
			n++
		}
		return n
	}
	return slices.MaxFunc(panes, func(a, b tmuxPane) int { return cmp.Compare(worth(a), worth(b)) })
}

type tmuxServer struct{ socket string }

func (s tmuxServer) run(ctx context.Context, args ...string) (string, error) {
	return run(ctx, []string{"TMUX="}, "tmux", append([]string{"-S", s.socket}, args...)...)
}

func (s tmuxServer) panes(ctx context.Context) ([]tmuxPane, error) {
	out, err := s.run(ctx, "list-panes", "-a", "-F",
		"#{pane_id} #{session_id} #{window_id} #{pane_pid} #{window_active}#{pane_active} #{session_name}")
	var panes []tmuxPane
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
		if len(f) < 6 {
			continue
		}
		pid, _ := strconv.Atoi(f[3])
		panes = append(panes, tmuxPane{id: f[0], session: f[1], window: f[2], pid: pid, current: f[4] == "11", sessionName: f[5]})
	}
	return panes, err
}

// clients returns those that have a terminal, the last used first.
func (s tmuxServer) clients(ctx context.Context) ([]tmuxClient, error) {
	out, err := s.run(ctx, "list-clients", "-F",
		"#{client_pid} #{session_id} #{client_activity} #{client_control_mode} #{pane_id} #{focus-events} #{client_flags} #{client_name}")
	var clients []tmuxClient
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 8)
		if len(f) < 8 || f[3] == "1" {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		activity, _ := strconv.ParseInt(f[2], 10, 64)
		clients = append(clients, tmuxClient{pid, f[1], f[7], f[4], activity, tmuxFocus(f[5], f[6])})
	}
	slices.SortStableFunc(clients, func(a, b tmuxClient) int { return cmp.Compare(b.activity, a.activity) })
	return clients, err
}

// tmuxFocus is whether the terminal of a client has the focus. Without the
// option focus-events tmux takes each for one that has; before 3.2 it has no flags.
func tmuxFocus(events, flags string) sight {
	switch {
	case events != "1" || flags == "":
		return unclear
	case slices.Contains(strings.Split(flags, ","), "focused"):
		return seen
	}
	return unseen
}

// show makes the session show the pane, and a client the session.
func (s tmuxServer) show(ctx context.Context, pane tmuxPane, clients []tmuxClient) (shown, error) {
	args := []string{
		"select-window", "-t", pane.session + ":" + pane.window, ";",
		"select-pane", "-t", pane.id,
	}
	looks := func(c tmuxClient) bool { return c.session == pane.session }
	if len(clients) > 0 && !slices.ContainsFunc(clients, looks) {
		args = append(args, ";", "switch-client", "-c", clients[0].name, "-t", pane.session)
	}
	if _, err := s.run(ctx, args...); err != nil {
		return shown{}, err
	}

	panes, err := s.panes(ctx)
	if err != nil {
		return shown{}, err
	}
	if !slices.ContainsFunc(panes, func(p tmuxPane) bool {
		return p.id == pane.id && p.session == pane.session && p.current
	}) {
		return shown{}, fmt.Errorf("tmux session %s shows another pane than %s all the same", pane.sessionName, pane.id)
	}
	result := shown{what: fmt.Sprintf("tmux pane %s of session %s", pane.id, pane.sessionName)}
	if len(clients) == 0 {
		result.hint = "the session is detached: " + s.attach(pane.sessionName)
		return result, nil
	}
	now, err := s.clients(ctx)
	if err != nil {
		return shown{}, err
	}
	for _, c := range now {
		if looks(c) {
			result.clients = append(result.clients, c.pid)
		}
	}
	if len(result.clients) == 0 {
		return shown{}, fmt.Errorf("no client of tmux shows session %s", pane.sessionName)
	}
	return result, nil
}

// attach is the command that shows a session.
func (s tmuxServer) attach(session string) string {
	command := []string{"tmux"}
	if s.socket != fmt.Sprintf("/tmp/tmux-%d/default", os.Getuid()) {
		command = append(command, "-S", s.socket)
	}
	return shell.Command(append(command, "attach", "-t", session))
}
