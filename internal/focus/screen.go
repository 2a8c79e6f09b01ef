package focus

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"tongs-agents/internal/shell"
)

// screen is GNU screen. It tells nobody which process is in which window: the
// number is the one that the window had when it was made.
type screen struct{}

func (screen) name() string        { return "screen" }
func (screen) is(comm string) bool { return comm == "screen" || comm == "SCREEN" }
func (screen) multiplexer() bool   { return true }

var (
	screenSession = regexp.MustCompile(`^[0-9]+\.[^/\x00-\x20]+$`)
	number        = regexp.MustCompile(`^[0-9]{1,9}$`)
)

func (screen) choose(ctx context.Context, p *place) (shown, error) {
	server, window := screenServer{}, p.env.get("WINDOW")
	if listening := listens(p.host); len(listening) == 1 { // it is named for the session
		server.dir, server.session = filepath.Split(listening[0])
	}
	if !screenSession.MatchString(server.session) || !number.MatchString(window) {
		return shown{}, fmt.Errorf("the window of screen is not known: session %q, window %q", server.session, window)
	}
	clients := screenClients(p.host)
	if len(clients) == 0 {
		// What is selected without a display, it has forgotten when one comes.
		attach := shell.Command([]string{"screen", "-r", server.session, "-p", window})
		return shown{what: "screen window " + window, hint: "the session is detached: " + attach}, declined("window %s of screen can be selected only as it is attached", window)
	}
	if _, err := server.run(ctx, "-X", "select", window); err != nil {
		return shown{}, err
	}
	now, err := server.run(ctx, "-Q", "number") // "1 (title)"
	if err != nil {
		return shown{}, err
	}
	if n, _, _ := strings.Cut(now, " "); n != window {
		return shown{}, fmt.Errorf("screen session %s shows window %s, not %s", server.session, n, window)
	}
	return shown{what: fmt.Sprintf("screen window %s of session %s", window, server.session), clients: clients}, nil
}

type screenServer struct{ dir, session string }

func (s screenServer) run(ctx context.Context, args ...string) (string, error) {
	return run(ctx, []string{"SCREENDIR=" + s.dir}, "screen", append([]string{"-S", s.session}, args...)...)
}

// screenClients returns the processes that show a session: the server has
// their terminals open.
func screenClients(server int) []int {
	var clients []int
	for _, target := range links(server) {
		tty, ok := strings.CutPrefix(target, "/dev/")
		if !ok || !strings.HasPrefix(tty, "pts/") || tty == "pts/ptmx" {
			continue
		}
		for _, c := range onTTY(tty) {
			if (screen{}).is(c.Comm) && c.PID != server {
				clients = append(clients, c.PID)
			}
		}
	}
	return clients
}
