package focus

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
)

// wantInFront waits until a session is in front, or is not.
func wantInFront(t *testing.T, what string, row *fsstore.Annotated, want bool) {
	t.Helper()
	wait(t, fmt.Sprintf("%s: in front is %t", what, want), func() bool { return InFront(t.Context(), row) == want })
}

// What a terminal says when it gets the focus, and loses it.
const (
	focusIn  = "\x1b[I"
	focusOut = "\x1b[O"
)

// typed types on a terminal.
func typed(t *testing.T, screen *os.File, keys string) {
	t.Helper()
	if _, err := screen.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// Where no desktop is known, the pane of a session is in front while it is the
// active one of a terminal that says that it has the focus.
func TestInFrontTmux(t *testing.T) {
	s := newTmux(t)
	pid, pane := s.agent("new-window", "-t", "main")
	other, _ := s.agent("new-window", "-t", "main")
	s.tmux("select-window", "-t", pane)
	row := session(t, pid, s.vars(pane))
	wantInFront(t, "detached", row, false)

	tty, screen := openKeyboard(t)
	s.attachOn(tty, "main")
	wantInFront(t, "whether it has the focus is not known", row, false)
	s.tmux("set-option", "-g", "focus-events", "on")
	typed(t, screen, focusIn)
	wantInFront(t, "focused", row, true)
	wantInFront(t, "another pane", session(t, other), false)
	wantInFront(t, "another pane that claims to be this one", session(t, other, s.vars(pane)), false)
	wantInFront(t, "no process", session(t, pid, s.vars(pane), func(r *fsstore.Record) { r.PID, r.ProcessStart = "", "" }), false)
	typed(t, screen, focusOut)
	wantInFront(t, "another window has the focus", row, false)
	typed(t, screen, focusIn)
	wantInFront(t, "focused again", row, true)
	s.tmux("select-window", "-t", "main:0")
	wantInFront(t, "another tmux window", row, false)

	// A pane is in front in one of several sessions, at one of several clients.
	s.tmux("new-session", "-d", "-s", "second", "exec sleep 1000")
	s.tmux("link-window", "-s", pane, "-t", "second:9")
	tty, screen = openKeyboard(t)
	s.attachOn(tty, "second")
	typed(t, screen, focusIn)
	s.tmux("select-window", "-t", "second:9")
	wantInFront(t, "in the second session", row, true)
	typed(t, screen, focusOut)
	wantInFront(t, "not focused in the second session", row, false)
}

// A client takes itself for focused where nobody tells it better: within another
// multiplexer, that knows which of its panes is shown.
func TestInFrontNested(t *testing.T) {
	outer, inner := newTmux(t), newTmux(t)
	inner.tmux("set-option", "-g", "focus-events", "on")
	outerPane := outer.tmux("new-window", "-t", "main", "-P", "-F", "#{pane_id}", "TMUX= exec tmux -S "+inner.socket+" attach -t main")
	wait(t, "the inner client", func() bool {
		return strings.Contains(inner.tmux("list-clients", "-F", "#{client_flags}"), ",focused")
	})
	pid, pane := inner.agent("new-window", "-t", "main")
	inner.tmux("select-window", "-t", pane)
	row := session(t, pid)
	wantInFront(t, "in a detached session", row, false)
	outer.attach("main")
	wantInFront(t, "in the active pane", row, true)
	outer.tmux("select-window", "-t", "main:0")
	wantInFront(t, "in another pane", row, false)
	outer.tmux("select-window", "-t", outerPane)
	wantInFront(t, "in the active pane again", row, true)
}

func TestTmuxFocus(t *testing.T) {
	for _, test := range []struct {
		events, flags string
		want          sight
	}{
		{"1", "attached,focused,UTF-8", seen},
		{"1", "attached,UTF-8", unseen},
		{"1", "attached,unfocused", unseen},
		{"0", "attached,focused,UTF-8", unclear},
		{"1", "", unclear}, // before 3.2
		{"", "", unclear},
	} {
		if got := tmuxFocus(test.events, test.flags); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

func TestInFrontX11(t *testing.T) {
	d := newDisplay(t)
	dir := shortDir(t)
	raise := func(row *fsstore.Annotated) {
		t.Helper()
		if r := Focus(t.Context(), row); !r.Activation.Succeeded {
			t.Fatalf("not raised: %+v", r)
		}
	}

	// A terminal with one tab.
	file := filepath.Join(dir, "agent")
	d.xterm(agent(file) + "; :")
	row := session(t, agentIn(t, file))
	wantInFront(t, "behind another window", row, false)
	raise(row)
	wantInFront(t, "in the active window", row, true)
	d.cover()
	wantInFront(t, "behind a third window", row, false)

	// What is on a terminal of its own within it may be shown or not.
	need(t, "script")
	file = filepath.Join(dir, "relayed")
	d.xterm("script -qec '" + agent(file) + "' /dev/null; :")
	row = session(t, agentIn(t, file))
	raise(row)
	wantInFront(t, "relayed in the active window", row, false)

	// A multiplexer. Its client needs to say nothing where the window is alone.
	s := newTmux(t)
	d.xterm("exec tmux -S " + s.socket + " attach -t main")
	wait(t, "a client", func() bool { return s.tmux("list-clients") != "" })
	pid, pane := s.agent("new-window", "-t", "main")
	row = session(t, pid)
	raise(row)
	wantInFront(t, "in the active pane of the active window", row, true)
	s.tmux("select-window", "-t", "main:0")
	wantInFront(t, "in another pane of the active window", row, false)
	s.tmux("select-window", "-t", pane)
	d.cover()
	wantInFront(t, "in the active pane of a window behind", row, false)

	// A multiplexer within the multiplexer.
	inner := newTmux(t)
	outerPane := s.tmux("new-window", "-d", "-t", "main", "-P", "-F", "#{pane_id}", "exec tmux -S "+inner.socket+" attach -t main")
	wait(t, "the inner client", func() bool { return inner.tmux("list-clients") != "" })
	pid, _ = inner.agent("new-window", "-t", "main")
	row = session(t, pid)
	raise(row)
	wantInFront(t, "nested", row, true)
	s.tmux("select-window", "-t", "main:0")
	wantInFront(t, "nested in another pane", row, false)
	s.tmux("select-window", "-t", outerPane)
	wantInFront(t, "nested again", row, true)

	// An application that has a terminal in it, and may show something else.
	app := relay(t, openTerminal(t), filepath.Join(dir, "editor"), agent(filepath.Join(dir, "editor-agent")), "")
	d.own(app, linux.Hostname())
	d.waitWindows(app, 1)
	row = session(t, agentIn(t, filepath.Join(dir, "editor-agent")))
	raise(row)
	wantInFront(t, "in an application", row, false)
}

// relay runs a command on a pseudoterminal that the program made at a path shows,
// as terminals do. before is a piece of shell that this process is before.
func relay(t *testing.T, tty *os.File, program, command, before string) (pid int) {
	t.Helper()
	need(t, "script")
	script, err := exec.LookPath("script")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	write(t, program, string(binary), 0o700)
	return orphan(t, tty, nil, "sh", "-c", before+`exec "$@"`, "sh", program, "-qec", command, "/dev/null")
}

// secondTab opens one more pseudoterminal.
const secondTab = "exec 3<>/dev/ptmx; "

// Each compositor says which window is the active one.
func TestInFrontCompositors(t *testing.T) {
	for _, test := range []struct {
		name string
		env  func(dir string, pid int) []string
	}{
		{"sway", func(dir string, pid int) []string { return []string{"SWAYSOCK=" + newFakeSway(t, dir+"/s", pid)} }},
		{"Hyprland", func(dir string, pid int) []string { return hyprlandVars(t, dir, pid, true) }},
		{"niri", func(dir string, pid int) []string {
			newFakeNiri(t, dir+"/n", pid)
			return []string{"NIRI_SOCKET=" + dir + "/n"}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := shortDir(t)
			for name, want := range map[string]bool{"alone": true, "tabs": false} {
				dir := filepath.Join(dir, name)
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				before := ""
				if name == "tabs" {
					before = secondTab
				}
				terminal := relay(t, openTerminal(t), dir+"/foot", agent(dir+"/agent"), before)
				row := session(t, agentIn(t, dir+"/agent"))
				wantInFront(t, "no desktop is known", row, false)
				for _, v := range test.env(dir, terminal) {
					name, value, _ := strings.Cut(v, "=")
					t.Setenv(name, value)
				}
				wantInFront(t, name+", not active", row, false)
				if r := Focus(t.Context(), row); !r.Activation.Succeeded {
					t.Fatalf("not raised: %+v", r)
				}
				wantInFront(t, name+", active", row, want)
			}
		})
	}
}

// What a terminal says of the focus counts where its window has several tabs,
// and neither that nor what is known of the window counts against the other's no.
func TestInFrontTab(t *testing.T) {
	s := newTmux(t)
	s.tmux("set-option", "-g", "focus-events", "on")
	pid, pane := s.agent("new-window", "-t", "main")
	s.tmux("select-window", "-t", pane)
	row := session(t, pid)
	for _, before := range []string{"", secondTab} {
		dir := shortDir(t)
		tty, screen := openKeyboard(t)
		terminal := relay(t, tty, filepath.Join(dir, "foot"), "exec tmux -S "+s.socket+" attach -d -t main", before)
		wait(t, "a client of the terminal", func() bool {
			pid, _ := strconv.Atoi(s.tmux("list-clients", "-F", "#{client_pid}"))
			return ancestry(pid).has(terminal)
		})
		focused := func(keys string, want bool) {
			t.Helper()
			typed(t, screen, keys)
			wait(t, "the focus of the client", func() bool {
				return strings.Contains(s.tmux("list-clients", "-F", "#{client_flags}"), ",focused") == want
			})
		}
		focused(focusIn, true)
		wantInFront(t, "focused", row, true)
		desk := sway{newFakeSway(t, filepath.Join(dir, "sway"), terminal)}
		t.Setenv("SWAYSOCK", desk.socket)
		wantInFront(t, "focused, in a window that is not active", row, false)
		if err := desk.activate(t.Context(), "9"); err != nil {
			t.Fatal(err)
		}
		wantInFront(t, "focused, in the active window", row, true)
		focused(focusOut, false)
		wantInFront(t, "not focused, in the active window", row, false)
		t.Setenv("SWAYSOCK", "")
	}
}
