package focus

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
)

// display is an X server with a window manager.
type display struct {
	*testing.T
	x11
}

func newDisplay(t *testing.T) *display {
	t.Helper()
	for _, program := range []string{"Xvfb", "openbox", "xterm"} {
		need(t, program)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// It would start anew when its last client is gone, and lose one that comes.
	start(t, []*os.File{w}, "Xvfb", "-displayfd", "3", "-noreset", "-nolisten", "tcp", "-screen", "0", "640x480x24")
	w.Close()
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb has no display: %v", err)
	}
	d := &display{t, x11{":" + strings.TrimSpace(number)}}
	t.Setenv("DISPLAY", d.display)
	if list, err := d.windows(t.Context()); err == nil {
		t.Errorf("without a window manager there are windows %v", list)
	}
	start(t, nil, "openbox", "--config-file", "/dev/null")
	wait(t, "a window manager", func() bool {
		_, err := d.windows(t.Context())
		return err == nil
	})
	return d
}

// start runs a program for the time of a test.
func start(t *testing.T, files []*os.File, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.ExtraFiles = files
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// list returns the windows.
func (d *display) list() []window {
	list, err := d.windows(d.Context())
	if err != nil {
		d.Error(err)
	}
	return list
}

// waitWindow waits until a process has that many windows.
func (d *display) waitWindows(pid, n int) {
	d.Helper()
	wait(d.T, fmt.Sprintf("%d windows of process %d", n, pid), func() bool {
		have := 0
		for _, w := range d.list() {
			if w.pid == pid {
				have++
			}
		}
		return have == n
	})
}

// xterm runs a command in a window of its own, which is then the active one.
func (d *display) xterm(command string) (pid int) {
	d.Helper()
	cmd := start(d.T, nil, "xterm", "-e", "sh", "-c", command)
	d.waitWindows(cmd.Process.Pid, 1)
	d.cover()
	return cmd.Process.Pid
}

// cover opens a window above the others. Whether a new one gets the focus is
// up to the window manager.
func (d *display) cover() {
	d.Helper()
	pid := start(d.T, nil, "xterm", "-e", "sleep", "1000").Process.Pid
	d.waitWindows(pid, 1)
	wait(d.T, "the focus of a new window", func() bool {
		for _, w := range d.list() {
			if w.pid == pid && !w.active {
				if err := d.activate(d.Context(), w.id); err != nil {
					d.Error(err)
				}
			}
		}
		return d.active() == pid
	})
}

// active is the process of the active window.
func (d *display) active() int {
	for _, w := range d.list() {
		if w.active {
			return w.pid
		}
	}
	return 0
}

func TestX11(t *testing.T) {
	d := newDisplay(t)
	dir := shortDir(t)

	// A terminal with one tab.
	file := filepath.Join(dir, "agent")
	xterm := d.xterm(agent(file) + "; :")
	pid := agentIn(t, file)
	r := check(t, session(t, pid), Complete, "xterm", "raised the window of xterm")
	if d.active() != xterm || !r.TargetFound || r.Selection.Attempted || r.Selection.Succeeded || !r.Activation.Attempted || !r.Activation.Succeeded {
		t.Errorf("process %d is active, not %d: %+v", d.active(), xterm, r)
	}

	// The desktop is that of the agent, whatever ours is.
	for _, display := range []string{"", ":59999", "localhost:10.0", "evil.example.com:0", d.display + ".0"} {
		t.Setenv("DISPLAY", display)
		check(t, session(t, pid, env("DISPLAY="+display)), Complete, "xterm", "raised the window of xterm")
	}
	t.Setenv("DISPLAY", d.display)

	// A multiplexer within a terminal.
	s := newTmux(t)
	xterm = d.xterm("exec tmux -S " + s.socket + " attach -t main")
	wait(t, "a client", func() bool { return s.tmux("list-clients") != "" })
	pid, pane := s.agent("new-window", "-t", "main")
	check(t, session(t, pid, s.vars(pane)), Complete, "tmux", "selected tmux pane "+pane+" of session main, raised the window of xterm")
	if d.active() != xterm || s.current("main") != pane {
		t.Errorf("process %d is active, not %d; pane %s, not %s", d.active(), xterm, s.current("main"), pane)
	}

	// A multiplexer within a multiplexer, and a client that has no window.
	inner := newTmux(t)
	d.cover()
	outerPane := s.tmux("new-window", "-d", "-t", "main", "-P", "-F", "#{pane_id}", "exec tmux -S "+inner.socket+" attach -t main")
	wait(t, "the inner client", func() bool { return inner.tmux("list-clients") != "" })
	inner.attach("main")
	pid, pane = inner.agent("new-window", "-t", "main")
	check(t, session(t, pid), Complete, "tmux", "selected tmux pane "+pane+" of session main, tmux pane "+outerPane+" of session main, raised the window of xterm")
	if d.active() != xterm {
		t.Errorf("process %d is active, not %d", d.active(), xterm)
	}

	// A terminal that was started from another one.
	file = filepath.Join(dir, "nested")
	outer := d.xterm("xterm -e " + agent(file) + " & wait")
	pid = agentIn(t, file)
	l := ancestry(pid)
	if !l.has(outer) {
		t.Fatalf("%d is not among %v", outer, l)
	}
	d.cover()
	check(t, session(t, pid), Complete, "xterm", "raised the window of xterm")
	if got := d.active(); got == outer || !l.has(got) {
		t.Errorf("process %d is active, which is the outer one of %v", got, l)
	}

	// An application of the desktop.
	file = filepath.Join(dir, "desktop")
	app := orphan(t, nil, nil, "sh", "-c", agent(file)+" & wait")
	pid = agentIn(t, file)
	desktop := func(r *fsstore.Record) { r.Mode, r.Focus.Kind, r.TTY = fsstore.Desktop, fsstore.FocusDesktop, "" }
	check(t, session(t, pid, desktop), Unavailable, "", "none of its windows is on this desktop")
	d.own(app, linux.Hostname())
	d.waitWindows(app, 1)
	d.cover()
	check(t, session(t, pid, desktop), Partial, "sh", "raised the window of sh; sh cannot be told which tab to show, if it has several")
	if d.active() != app {
		t.Errorf("process %d is active, not %d", d.active(), app)
	}
}

// Of several windows of a process, the one that the session was started in.
func TestX11Windows(t *testing.T) {
	d := newDisplay(t)
	file := filepath.Join(shortDir(t), "agent")
	app := orphan(t, nil, nil, "sh", "-c", agent(file)+" & wait")
	pid := agentIn(t, file)
	d.own(app, "elsewhere")
	d.own(app, linux.Hostname(), "_NET_WM_WINDOW_TYPE_DOCK")
	first, second := d.own(app, linux.Hostname()), d.own(app, "")
	d.waitWindows(app, 2)
	r := check(t, session(t, pid), Unavailable, "sh", "sh has 2 windows on X11: which one shows the session is not known")
	if r.TargetFound {
		t.Errorf("got %+v", r)
	}
	for _, id := range []string{first, second, first} {
		check(t, session(t, pid, env("WINDOWID="+id)), Partial, "sh", "raised the window of sh")
		if got := d.activeID(); got != id {
			t.Errorf("window %s is active, not %s", got, id)
		}
	}
	bare := d.own(0, "")
	wait(t, "a window without a process", func() bool {
		return slices.ContainsFunc(d.list(), func(w window) bool { return w.id == bare })
	})
	d.cover()
	stranger := orphan(t, nil, []string{"WINDOWID=" + bare}, "sleep", "1000")
	check(t, session(t, stranger), Partial, "sleep", "raised the window of sleep")
	if got := d.activeID(); got != bare {
		t.Errorf("window %s is active, not %s", got, bare)
	}
}

func (d *display) activeID() string {
	for _, w := range d.list() {
		if w.active {
			return w.id
		}
	}
	return ""
}

// own opens a window that says whose it is, and of which kind.
func (d *display) own(pid int, machine string, kinds ...string) (id string) {
	d.Helper()
	conn, err := xgb.NewConnDisplay(d.display)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(conn.Close)
	screen := xproto.Setup(conn).DefaultScreen(conn)
	w, err := xproto.NewWindowId(conn)
	if err != nil {
		d.Fatal(err)
	}
	c := &xConn{conn, screen.Root, map[string]xproto.Atom{}}
	set := func(name string, kind xproto.Atom, format byte, data []byte) {
		atom, err := c.atom(name)
		if err == nil {
			err = xproto.ChangePropertyChecked(conn, xproto.PropModeReplace, w, atom, kind, format, uint32(len(data)*8/int(format)), data).Check()
		}
		if err != nil {
			d.Fatal(err)
		}
	}
	err = xproto.CreateWindowChecked(conn, screen.RootDepth, w, screen.Root, 0, 0, 99, 99, 0, xproto.WindowClassInputOutput, screen.RootVisual, 0, nil).Check()
	if err != nil {
		d.Fatal(err)
	}
	if pid != 0 {
		data := make([]byte, 4)
		xgb.Put32(data, uint32(pid))
		set("_NET_WM_PID", xproto.AtomCardinal, 32, data)
	}
	if machine != "" {
		set("WM_CLIENT_MACHINE", xproto.AtomString, 8, []byte(machine))
	}
	for _, kind := range kinds {
		atom, err := c.atom(kind)
		if err != nil {
			d.Fatal(err)
		}
		data := make([]byte, 4)
		xgb.Put32(data, uint32(atom))
		set("_NET_WM_WINDOW_TYPE", xproto.AtomAtom, 32, data)
	}
	if err := xproto.MapWindowChecked(conn, w).Check(); err != nil {
		d.Fatal(err)
	}
	return strconv.FormatUint(uint64(w), 10)
}

func TestX11Screen(t *testing.T) {
	need(t, "screen")
	d := newDisplay(t)
	dir := shortDir(t)
	t.Setenv("SCREENDIR", dir)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "agent")
	xterm := d.xterm("exec screen -c /dev/null sh -c " + "'" + agent(file) + "; :'")
	pid := agentIn(t, file)
	check(t, session(t, pid), Complete, "screen", "selected screen window 0 of session ")
	if d.active() != xterm {
		t.Errorf("process %d is active, not %d", d.active(), xterm)
	}
}
