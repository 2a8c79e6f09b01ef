package focus

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// tmuxTest is a tmux server of a test.
type tmuxTest struct {
	*testing.T
	dir, socket string
	panes       int
}

// newTmux starts a server with a session main of one pane.
func newTmux(t *testing.T) *tmuxTest {
	t.Helper()
	need(t, "tmux")
	dir := shortDir(t)
	s := &tmuxTest{T: t, dir: dir, socket: filepath.Join(dir, "s")}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-s", "main", "exec sleep 1000")
	pid, _ := strconv.Atoi(s.tmux("display-message", "-p", "#{pid}"))
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return s
}

func (s *tmuxTest) tmux(args ...string) string {
	s.Helper()
	return output(s.T, "tmux", append([]string{"-S", s.socket}, args...)...)
}

// agent runs an agent in a new pane that a command of tmux makes, and returns
// its process and the pane.
func (s *tmuxTest) agent(command ...string) (pid int, pane string) {
	s.Helper()
	s.panes++
	file := filepath.Join(s.dir, "agent"+strconv.Itoa(s.panes))
	pane = s.tmux(append(command, "-d", "-P", "-F", "#{pane_id}", agent(file)+"; :")...)
	return agentIn(s.T, file), pane
}

// attach shows a session on a terminal of its own.
func (s *tmuxTest) attach(session string) (tty string) {
	s.Helper()
	terminal := openTerminal(s.T)
	s.attachOn(terminal, session)
	return terminal.Name()
}

func (s *tmuxTest) attachOn(terminal *os.File, session string) {
	s.Helper()
	orphan(s.T, terminal, nil, "tmux", "-S", s.socket, "attach", "-t", session)
	wait(s.T, "a client of "+session, func() bool {
		return strings.Contains(s.tmux("list-clients", "-F", "#{client_tty} #{session_name}"), terminal.Name()+" "+session)
	})
}

// current is the pane that a session shows.
func (s *tmuxTest) current(session string) string {
	s.Helper()
	return s.tmux("display-message", "-p", "-t", session+":", "#{pane_id}")
}

// shown is the session that a client shows.
func (s *tmuxTest) shown(tty string) string {
	s.Helper()
	for line := range strings.Lines(s.tmux("list-clients", "-F", "#{client_tty} #{session_name}")) {
		if session, ok := strings.CutPrefix(line, tty+" "); ok {
			return strings.TrimSpace(session)
		}
	}
	return ""
}

// vars are those of a pane.
func (s *tmuxTest) vars(pane string) func(*fsstore.Record) {
	return func(r *fsstore.Record) {
		r.Terminal = "tmux"
		env("TMUX="+s.socket+",1,0", "TMUX_PANE="+pane)(r)
	}
}

func TestTmuxDetached(t *testing.T) {
	s := newTmux(t)
	pid, pane := s.agent("new-window", "-t", "main")
	other, otherPane := s.agent("split-window", "-t", "main")
	r := check(t, session(t, pid, s.vars(pane)), Partial, "tmux",
		"selected tmux pane "+pane+" of session main; the session is detached: tmux -S "+s.socket+" attach -t main")
	if got := s.current("main"); got != pane {
		t.Errorf("pane %s is current, want %s", got, pane)
	}
	if !r.TargetFound || !r.Selection.Attempted || !r.Selection.Succeeded || r.Activation.Attempted || r.Activation.Succeeded {
		t.Errorf("got %+v", r)
	}
	// A pane beside the current one, and a zoomed one over it.
	s.tmux("resize-pane", "-Z", "-t", "main:0.0")
	check(t, session(t, other, s.vars(otherPane)), Partial, "tmux", "selected tmux pane "+otherPane)
	if got := s.current("main"); got != otherPane {
		t.Errorf("pane %s is current, want %s", got, otherPane)
	}
}

func TestTmuxAttached(t *testing.T) {
	s := newTmux(t)
	tty := s.attach("main")
	pid, pane := s.agent("new-window", "-t", "main")
	check(t, session(t, pid, s.vars(pane)), Partial, "tmux", "selected tmux pane "+pane+" of session main; no terminal or window shows process ")
	if got := s.current("main"); got != pane {
		t.Errorf("pane %s is current, want %s", got, pane)
	}

	// A session that nobody looks at is shown by the client that is there.
	pid, pane = s.agent("new-session", "-s", "a b;'x")
	check(t, session(t, pid, s.vars(pane)), Partial, "tmux", "selected tmux pane "+pane+" of session a b;'x; no terminal")
	if got := s.shown(tty); got != "a b;'x" {
		t.Errorf("the client shows session %q", got)
	}

	// With two clients, the one that looks at the session keeps to it, and the
	// other is let alone.
	second := s.attach("main")
	pid, pane = s.agent("new-window", "-t", "main")
	check(t, session(t, pid, s.vars(pane)), Partial, "tmux", "selected tmux pane "+pane+" of session main")
	if got := s.current("main"); got != pane {
		t.Errorf("pane %s is current, want %s", got, pane)
	}
	if a, b := s.shown(tty), s.shown(second); a != "a b;'x" || b != "main" {
		t.Errorf("the clients show %q and %q", a, b)
	}
}

// A window can be in several sessions: the one that somebody looks at counts.
func TestTmuxLinked(t *testing.T) {
	s := newTmux(t)
	s.tmux("new-session", "-d", "-s", "seen", "exec sleep 1000")
	tty := s.attach("seen")
	pid, pane := s.agent("new-window", "-t", "main:7")
	s.tmux("link-window", "-s", "main:7", "-t", "seen:9")
	s.tmux("select-window", "-t", "seen:0")
	check(t, session(t, pid, s.vars(pane)), Partial, "tmux", "selected tmux pane "+pane+" of session seen")
	if got := s.current("seen"); got != pane || s.shown(tty) != "seen" {
		t.Errorf("pane %s of %s is current, want %s", got, s.shown(tty), pane)
	}
	s.attach("main") // which shows another window
	check(t, session(t, pid, s.vars(pane)), Partial, "tmux", "selected tmux pane "+pane+" of session seen")
}

// What the record says of the terminal is not needed, and does no harm.
func TestTmuxVariables(t *testing.T) {
	s, wrong := newTmux(t), newTmux(t)
	pid, pane := s.agent("new-window", "-t", "main")
	wrongPane := wrong.current("main")
	wrong.agent("new-window", "-t", "main")
	for name, change := range map[string]func(*fsstore.Record){
		"none":            func(r *fsstore.Record) {},
		"another server":  wrong.vars(wrongPane),
		"another pane":    s.vars("%0"),
		"no pane":         s.vars("%0; kill-server"),
		"options":         env("TMUX=-L,1,0", "TMUX_PANE=-t"),
		"another's kitty": env("KITTY_WINDOW_ID=1", "KITTY_LISTEN_ON=unix:/nowhere"),
		"unavailable":     func(r *fsstore.Record) { r.Focus.Kind = fsstore.FocusUnavailable },
	} {
		s.tmux("select-window", "-t", "main:0")
		t.Log(name)
		check(t, session(t, pid, change), Partial, "tmux", "selected tmux pane "+pane+" of session main")
		if got := s.current("main"); got != pane {
			t.Errorf("%s: pane %s is current, want %s", name, got, pane)
		}
	}
	if got := wrong.current("main"); got != wrongPane {
		t.Errorf("pane %s of the other server was selected", got)
	}
}

// A process whose parent has ended is found by its terminal; one that left the
// terminal is not where its variables say.
func TestTmuxOrphans(t *testing.T) {
	s := newTmux(t)
	file := filepath.Join(s.dir, "child")
	pane := s.tmux("new-window", "-t", "main", "-d", "-P", "-F", "#{pane_id}", "("+agent(file)+" &); sleep 1000")
	pid := agentIn(t, file)
	wait(t, "the end of its parent", func() bool {
		p, err := proc.Root.Stat(pid)
		return err == nil && !ancestry(p.PPID).has(panePID(s, pane))
	})
	check(t, session(t, pid), Partial, "tmux", "selected tmux pane "+pane)
	if got := s.current("main"); got != pane {
		t.Errorf("pane %s is current, want %s", got, pane)
	}

	s.tmux("select-window", "-t", "main:0")
	vars := []string{"TMUX=" + s.socket + ",1,0", "TMUX_PANE=" + pane}
	r := check(t, session(t, orphan(t, nil, vars, "sleep", "1000"), env(vars...)), Failed, "tmux", "no pane of the tmux server at "+s.socket)
	if r.TargetFound || s.current("main") == pane {
		t.Errorf("got %+v; current is %s", r, s.current("main"))
	}
}

func panePID(s *tmuxTest, pane string) int {
	pid, _ := strconv.Atoi(s.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"))
	return pid
}

// A process on a terminal of its own within a pane, as sudo and script make one.
func TestTmuxRelay(t *testing.T) {
	need(t, "script")
	s := newTmux(t)
	file := filepath.Join(s.dir, "agent")
	pane := s.tmux("new-window", "-t", "main", "-d", "-P", "-F", "#{pane_id}", "exec script -qec '"+agent(file)+"' /dev/null")
	check(t, session(t, agentIn(t, file)), Partial, "tmux", "selected tmux pane "+pane)
	if got := s.current("main"); got != pane {
		t.Errorf("pane %s is current, want %s", got, pane)
	}
}

// A multiplexer in a tab of a terminal that cannot be told to show it.
func TestTmuxInTab(t *testing.T) {
	s := newTmux(t)
	g := newProgram(t, "ghostty", "")
	write(t, filepath.Join(g.dir, "ghostty"), "#!/bin/sh\ntmux -S "+s.socket+" attach -t main\n:\n", 0o700)
	terminal := orphan(t, openTerminal(t), nil, filepath.Join(g.dir, "ghostty"))
	wait(t, "a client", func() bool { return s.tmux("list-clients") != "" })
	t.Setenv("SWAYSOCK", newFakeSway(t, filepath.Join(g.dir, "sway"), terminal))
	pid, pane := s.agent("new-window", "-t", "main")
	r := check(t, session(t, pid), Partial, "tmux",
		"selected tmux pane "+pane+" of session main, raised the window of ghostty; ghostty cannot be told which tab to show, if it has several")
	if !r.Selection.Succeeded || !r.Activation.Succeeded {
		t.Errorf("got %+v", r)
	}
}

// The terminal of a session that a server hosts is its client's.
func TestTmuxHosted(t *testing.T) {
	s := newTmux(t)
	client, pane := s.agent("new-window", "-t", "main")
	server, serverPane := s.agent("new-window", "-t", "main")
	tty := session(t, client).TTY
	hosted := func(r *fsstore.Record) { r.Mode, r.TTY = fsstore.Daemon, tty }
	check(t, session(t, server, hosted, s.vars(serverPane)), Partial, "tmux", "selected tmux pane "+pane)
	if got := s.current("main"); got != pane {
		t.Errorf("pane %s is current, want %s", got, pane)
	}
}

func TestTmuxDead(t *testing.T) {
	s := newTmux(t)
	pid := orphan(t, nil, nil, "sleep", "1000")
	_, pane := s.agent("new-window", "-t", "main")
	server, _ := strconv.Atoi(s.tmux("display-message", "-p", "#{pid}"))
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wait(t, "the end of the server", func() bool { return syscall.Kill(server, 0) != nil })
	check(t, session(t, pid, s.vars(pane)), Failed, "tmux", "tmux: no server running on "+s.socket)
	if err := os.Remove(s.socket); err != nil {
		t.Fatal(err)
	}
	check(t, session(t, pid, s.vars(pane)), Failed, "tmux", "socket "+s.socket+": no such file or directory")
}

// A multiplexer in a multiplexer: both are told, and without a window it is
// partial.
func TestTmuxNested(t *testing.T) {
	outer, inner := newTmux(t), newTmux(t)
	outerPane := outer.tmux("new-window", "-d", "-t", "main", "-P", "-F", "#{pane_id}", "TMUX= exec tmux -S "+inner.socket+" attach -t main")
	wait(t, "the inner client", func() bool { return inner.tmux("list-clients") != "" })
	pid, pane := inner.agent("new-window", "-t", "main")
	check(t, session(t, pid, inner.vars(pane)), Partial, "tmux",
		"selected tmux pane "+pane+" of session main, tmux pane "+outerPane+" of session main; the session is detached: tmux -S "+outer.socket)
	if a, b := inner.current("main"), outer.current("main"); a != pane || b != outerPane {
		t.Errorf("panes %s and %s are current, want %s and %s", a, b, pane, outerPane)
	}
}

func TestTmuxSocket(t *testing.T) {
	for _, variable := range []string{"", "x", "/a,1", ",1,0", "-L,1,0", "s,1,0"} {
		p := &place{env: environs{{"TMUX=" + variable}}}
		if socket, err := tmuxSocket(p); err == nil {
			t.Errorf("TMUX=%q: %s", variable, socket)
		}
	}
	path := filepath.Join(shortDir(t), "a,b")
	serve(t, path, nil)
	p := &place{env: environs{{"TMUX=" + path + ",12,0"}}}
	if socket, err := tmuxSocket(p); socket != path || err != nil {
		t.Errorf("got %q, %v; want %s", socket, err, path)
	}
}
