package focus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/fsstore"
)

// program is a stand-in for a terminal and for its command. As a terminal it
// runs an agent; as a command it writes down how it was called, and prints and
// exits as files beside it say.
type program struct {
	*testing.T
	name, dir string
}

const programScript = `#!/bin/sh
dir=${0%/*}
if [ "$1" = run ]; then
	sh "$HOME/agent.sh" "$2" &
	wait
	exit
fi
for arg; do printf '%s|' "$arg"; done >>"$dir/calls"
printf '%s\n' "$CALL_ENV" >>"$dir/calls"
. "$dir/answers"
`

// newProgram puts a program on PATH. answers is a piece of shell.
func newProgram(t *testing.T, name, answers string) *program {
	t.Helper()
	p := &program{t, name, shortDir(t)}
	write(t, filepath.Join(p.dir, name), programScript, 0o700)
	p.answer(answers)
	t.Setenv("PATH", p.dir+":"+os.Getenv("PATH"))
	return p
}

func (p *program) answer(script string) {
	p.Helper()
	os.Remove(filepath.Join(p.dir, "calls"))
	write(p.T, filepath.Join(p.dir, "answers"), script, 0o600)
}

// agent runs an agent in the terminal, which gives it variables.
func (p *program) agent(tty *os.File, vars ...string) (pid, terminal int) {
	p.Helper()
	file := filepath.Join(p.TempDir(), "agent")
	terminal = orphan(p.T, tty, vars, filepath.Join(p.dir, p.name), "run", file)
	return agentIn(p.T, file), terminal
}

// called compares the calls since the last answers.
func (p *program) called(want ...string) {
	p.Helper()
	got, _ := os.ReadFile(filepath.Join(p.dir, "calls"))
	if strings.TrimSpace(string(got)) != strings.Join(want, "\n") {
		p.Errorf("%s was called\n%swant\n%s", p.name, got, strings.Join(want, "\n"))
	}
}

func TestKitty(t *testing.T) {
	dir := shortDir(t)
	socket := filepath.Join(dir, "kitty")
	serve(t, socket, nil)
	k := newProgram(t, "kitty", "")
	pid, terminal := k.agent(nil, "KITTY_WINDOW_ID=7", "KITTY_LISTEN_ON=unix:"+socket)
	row := session(t, pid)
	ls := func(active, focused string) string {
		return `printf '[{"id":1,"platform_window_id":41,"is_focused":false,"tabs":[{"id":1,"is_active":true,"windows":[{"id":1,"pid":3,"is_active":true}]}]},` +
			`{"id":2,"platform_window_id":42,"is_focused":` + focused + `,"tabs":[{"id":2,"is_active":` + active + `,"windows":[{"id":8,"pid":2,"is_active":false},{"id":7,"pid":` + row.PID + `,"is_active":` + active + `}]}]}]'`
	}
	answers := func(focused string) string {
		return `case "$*" in
*" ls") if grep -q focus-window "$dir/calls"; then ` + ls("true", focused) + `; else ` + ls("false", "false") + `; fi;;
esac`
	}
	calls := []string{"@|--to|unix:" + socket + "|ls|", "@|--to|unix:" + socket + "|focus-window|--match|id:7|", "@|--to|unix:" + socket + "|ls|"}
	k.answer(answers("true"))
	check(t, row, Complete, "kitty", "selected kitty window 7, raised the window of kitty")
	k.called(calls...)

	k.answer(answers("false"))
	check(t, row, Partial, "kitty", "selected kitty window 7; the window of kitty cannot be raised: no desktop is known")
	k.called(calls...)
	t.Setenv("SWAYSOCK", newFakeSway(t, filepath.Join(dir, "sway"), terminal))
	k.answer(answers("false"))
	check(t, row, Complete, "kitty", "selected kitty window 7, raised the window of kitty")
	t.Setenv("SWAYSOCK", "")

	k.answer(`case "$*" in *" ls") ` + ls("false", "false") + `;; esac`)
	check(t, row, Failed, "kitty", "kitty shows another window than 7 all the same")
	k.answer("echo '[]'")
	check(t, row, Failed, "kitty", "no window of the kitty at "+socket+" holds process "+row.PID)
	k.called(calls[0])
	k.answer("echo 'Error: Remote control is disabled' >&2; exit 1")
	check(t, row, Unavailable, "kitty", "kitty: Error: Remote control is disabled; the window of kitty cannot be raised")

	// A newer release has its command in kitten.
	newer := newProgram(t, "kitten", "echo '[]'")
	k.answer("exit 1")
	check(t, row, Failed, "kitty", "no window of the kitty")
	newer.called(calls[0])
	k.called()

	// Variables from elsewhere are not used where the terminal gave none.
	newer.answer("exit 1")
	for _, listen := range []string{"", "tcp:localhost:1", "unix:--to=x", "unix:" + socket + "-gone", "unix:@tongs-agents-nobody"} {
		pid, _ := k.agent(nil, "KITTY_LISTEN_ON="+listen)
		r := Focus(t.Context(), session(t, pid))
		if r.OK() || r.Backend != "kitty" || r.Reason == "" {
			t.Errorf("%q: got %+v", listen, r)
		}
	}
	pid, _ = k.agent(nil)
	check(t, session(t, pid), Unavailable, "kitty", "kitty takes no commands: kitty.conf needs allow_remote_control and listen_on")
	newer.called()
}

func TestWezTerm(t *testing.T) {
	socket := filepath.Join(shortDir(t), "gui-sock-1")
	serve(t, socket, nil)
	terminal := newProgram(t, "wezterm-gui", "")
	w := newProgram(t, "wezterm", "")
	tty := openTerminal(t)
	pid, _ := terminal.agent(tty, "WEZTERM_PANE=5", "WEZTERM_UNIX_SOCKET="+socket)
	row := session(t, pid, env("WEZTERM_PANE=1"))
	list := func(active string) string {
		return `printf '[{"pane_id":1,"tty_name":"/dev/pts/99999","is_active":true},{"pane_id":5,"tty_name":"` + tty.Name() + `","is_active":` + active + `}]'`
	}
	w.answer(`case "$*" in *list*) if grep -q activate "$dir/calls"; then ` + list("true") + `; else ` + list("false") + `; fi;; esac`)
	check(t, row, Partial, "wezterm", "selected wezterm pane 5; the window of wezterm cannot be raised: no desktop is known")
	w.called("cli|--no-auto-start|list|--format|json|", "cli|--no-auto-start|activate-pane|--pane-id|5|", "cli|--no-auto-start|list|--format|json|")

	w.answer(`[ "$WEZTERM_UNIX_SOCKET" = ` + socket + ` ] || exit 3; case "$*" in *list*) ` + list("false") + `;; esac`)
	check(t, row, Failed, "wezterm", "wezterm shows another pane than 5 all the same")
	w.answer("echo '[]'")
	check(t, row, Failed, "wezterm", "no pane of the wezterm at "+socket+" has terminal "+row.TTY)
	w.answer("echo garbage")
	check(t, row, Failed, "wezterm", "wezterm: invalid character")
	pid, _ = terminal.agent(nil)
	check(t, session(t, pid), Unavailable, "wezterm", "the socket of wezterm is not known")
	pid, _ = terminal.agent(nil, "WEZTERM_UNIX_SOCKET="+socket+"-gone")
	check(t, session(t, pid), Failed, "wezterm", "no such file")
}

func TestZellij(t *testing.T) {
	z := newProgram(t, "zellij", "")
	pid, _ := z.agent(nil, "ZELLIJ_SESSION_NAME=my work", "ZELLIJ_PANE_ID=3")
	row := session(t, pid, env("ZELLIJ_SESSION_NAME=other", "ZELLIJ_PANE_ID=1"))
	focus, list := "--session|my work|action|focus-pane-id|terminal_3|", "--session|my work|action|list-panes|--json|"
	panes := func(focused string) string {
		return `case "$*" in *list-panes*) printf '[{"id":3,"is_plugin":true,"is_focused":false},{"id":3,"is_plugin":false,"is_focused":` + focused + `}]';; esac`
	}
	z.answer(panes("true"))
	check(t, row, Partial, "zellij", "selected zellij pane 3 of session my work; the session is detached, or who shows it cannot be told: zellij attach 'my work'")
	z.called(focus, list)
	z.answer(panes("false"))
	check(t, row, Failed, "zellij", "zellij shows another pane than 3 all the same")
	z.answer(`echo "error: The subcommand 'focus-pane-id' wasn't recognized" >&2; exit 2`)
	check(t, row, Unavailable, "zellij", "zellij before 0.44 cannot be told which pane to show")
	z.called(focus)
	z.answer(`echo "Session 'my work' not found." >&2; exit 1`)
	check(t, row, Failed, "zellij", "zellij: Session 'my work' not found.")

	z.answer("")
	for _, vars := range [][]string{
		{"ZELLIJ_PANE_ID=3"},
		{"ZELLIJ_SESSION_NAME=s"},
		{"ZELLIJ_SESSION_NAME=--help", "ZELLIJ_PANE_ID=3"},
		{"ZELLIJ_SESSION_NAME=../s", "ZELLIJ_PANE_ID=3"},
		{"ZELLIJ_SESSION_NAME=s", "ZELLIJ_PANE_ID=3 --x"},
	} {
		pid, _ := z.agent(nil, vars...)
		check(t, session(t, pid), Failed, "zellij", "the pane of zellij is not known")
	}
	z.called()

	// Who shows it was told its name, or is the only one there is.
	file := filepath.Join(t.TempDir(), "client")
	orphan(t, openTerminal(t), nil, filepath.Join(z.dir, "zellij"), "run", file, "attach", "my work")
	agentIn(t, file)
	z.answer(panes("true"))
	check(t, row, Partial, "zellij", "selected zellij pane 3 of session my work; no terminal or window shows process ")
}

// A session on another machine's terminal has no window here.
func TestRemote(t *testing.T) {
	ssh := newProgram(t, "sshd", "")
	pid, _ := ssh.agent(nil, "DISPLAY=localhost:10.0")
	check(t, session(t, pid), Unavailable, "", "it is shown on another machine, by sshd")

	s := newTmux(t)
	tty := openTerminal(t)
	client := filepath.Join(t.TempDir(), "client")
	write(t, filepath.Join(ssh.dir, "attach"), "#!/bin/sh\ntmux -S "+s.socket+" attach -t main\n:\n", 0o700)
	write(t, filepath.Join(ssh.dir, "sshd"), "#!/bin/sh\n"+ssh.dir+"/attach\n:\n", 0o700)
	orphan(t, tty, nil, filepath.Join(ssh.dir, "sshd"), client)
	wait(t, "a client", func() bool { return s.tmux("list-clients") != "" })
	pid, pane := s.agent("new-window", "-t", "main")
	check(t, session(t, pid), Partial, "tmux", "selected tmux pane "+pane+" of session main; it is shown on another machine, by sshd")
}

// A terminal known by its name alone, where no desktop tells of windows.
func TestUnknownDesktop(t *testing.T) {
	g := newProgram(t, "ghostty", "")
	pid, _ := g.agent(nil, "WAYLAND_DISPLAY=wayland-0")
	check(t, session(t, pid, func(r *fsstore.Record) { r.Terminal = "ghostty" }), Unavailable, "ghostty",
		"ghostty cannot be told which tab to show, if it has several; the window of ghostty cannot be raised: this Wayland compositor lets nobody raise a window")
}
