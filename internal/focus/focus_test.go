package focus

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/proc"
)

// TestMain takes away what leads to the desktop and the terminal of whoever
// runs the tests.
func TestMain(m *testing.M) {
	if os.Getenv(konsoleEnv) != "" {
		os.Exit(fakeKonsole())
	}
	if name := os.Getenv(strangerEnv); name != "" {
		net.Listen("unix", name)
		fmt.Println("ready")
		select {}
	}
	for _, name := range []string{
		"DISPLAY", "WAYLAND_DISPLAY", "SWAYSOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET", "DBUS_SESSION_BUS_ADDRESS",
		"TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "XAUTHORITY",
	} {
		os.Unsetenv(name)
	}
	patience = 30 * time.Second
	home, err := os.MkdirTemp("", "focus-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := os.WriteFile(filepath.Join(home, "agent.sh"), []byte(agentScript), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("HOME", home)
	os.Setenv("TERM", "xterm")
	os.Setenv("TONGS_AGENTS_STATE_DIR", filepath.Join(home, "state"))
	status := m.Run()
	os.RemoveAll(home)
	os.Exit(status)
}

// need finds a program that a test cannot do without.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("install %s: %v", program, err)
	}
}

// wait waits for a condition, for as long as a busy machine may take.
func wait(t *testing.T, what string, fn func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !fn(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about in 30 s", what)
		}
	}
}

// impatient makes what does not answer be given up early.
func impatient(t *testing.T) {
	before := patience
	patience = time.Second
	t.Cleanup(func() { patience = before })
}

// shortDir is a directory whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "f")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// output runs a program and returns what it prints.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// orphan starts a program that descends from nothing of ours, so that no test
// finds the terminal that it runs in, on a terminal of its own unless that is
// nil.
func orphan(t *testing.T, tty *os.File, env []string, args ...string) (pid int) {
	t.Helper()
	need(t, "setsid")
	file := filepath.Join(t.TempDir(), "pid")
	command := []string{"-f"}
	if tty != nil {
		command = append(command, "-c")
	}
	command = append(command, "sh", "-c", `echo $$ >"$0".tmp; mv "$0".tmp "$0"; exec "$@"`, file)
	cmd := exec.Command("setsid", append(command, args...)...)
	cmd.Env = append(os.Environ(), env...)
	if tty != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid = pidIn(t, file)
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	wait(t, "the start of "+args[0], func() bool {
		line, err := proc.Root.Cmdline(pid)
		return err != nil || len(line) > 0 && !slices.Contains(line, file)
	})
	return pid
}

// pidIn waits until a program has written its pid into a file.
func pidIn(t *testing.T, file string) (pid int) {
	t.Helper()
	wait(t, "a pid in "+file, func() bool {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 0
	})
	return pid
}

// agent is the command of a stand-in for an agent, which writes its pid into a
// file.
func agent(file string) string { return "sh " + os.Getenv("HOME") + "/agent.sh " + file }

const agentScript = `echo $$ >"$1.tmp"
mv "$1.tmp" "$1"
exec sleep 1000
`

// agentIn waits until an agent runs that writes its pid into a file.
func agentIn(t *testing.T, file string) int {
	t.Helper()
	pid := pidIn(t, file)
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	wait(t, "the start of an agent", func() bool {
		line, err := proc.Root.Cmdline(pid)
		return err == nil && len(line) > 0 && line[0] == "sleep"
	})
	return pid
}

// openTerminal opens a pseudoterminal, and reads what is written to it.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	tty, _ := openKeyboard(t)
	return tty
}

// openKeyboard is openTerminal that returns where to type, too.
func openKeyboard(t *testing.T) (tty, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	go func() {
		for buf := make([]byte, 4096); ; {
			if _, err := screen.Read(buf); err != nil {
				return
			}
		}
	}()
	return tty, screen
}

// session is a row of a process, as a hook records it.
func session(t *testing.T, pid int, change ...func(*fsstore.Record)) *fsstore.Annotated {
	t.Helper()
	p, err := proc.Root.Stat(pid)
	if err != nil {
		t.Fatal(err)
	}
	host := proc.Root.Host()
	r := fsstore.Record{
		Key:  fsstore.Key{Harness: "other", Session: "s-" + strconv.Itoa(pid), Instance: strconv.Itoa(pid) + ":" + p.Start},
		Kind: fsstore.KindSession, Identity: fsstore.Identified, Status: fsstore.Waiting, Source: fsstore.SourceHook, Repo: "app",
		PID: strconv.Itoa(pid), ProcessStart: p.Start, BootID: host.BootID, PIDNamespace: host.PIDNamespace, MachineID: host.MachineID,
		TTY: proc.TTYName(p.TTY), Mode: fsstore.Interactive, Focus: fsstore.Focus{Kind: fsstore.FocusTerminal},
	}
	for _, f := range change {
		f(&r)
	}
	row := fsstore.Annotate(&r, time.Now())
	return &row
}

func env(vars ...string) func(*fsstore.Record) {
	return func(r *fsstore.Record) {
		for _, v := range vars {
			name, value, _ := strings.Cut(v, "=")
			r.TerminalEnv = append(r.TerminalEnv, fsstore.Var{Name: name, Value: value})
		}
	}
}

// check focuses a row and compares state, backend and the line for the user.
func check(t *testing.T, row *fsstore.Annotated, state State, backend, line string) Result {
	t.Helper()
	r := Focus(context.Background(), row)
	if r.State != state || r.Backend != backend || !strings.Contains(r.String(), line) || r.PID != row.PID {
		t.Errorf("got %+v\n%s\nwant %s by %s: %s", r, r, state, backend, line)
	}
	if (r.State == Complete) != (r.Reason == "") {
		t.Errorf("%s with reason %q", r.State, r.Reason)
	}
	return r
}

func TestProcess(t *testing.T) {
	pid := orphan(t, nil, nil, "sleep", "1000")
	reused := func(r *fsstore.Record) { r.ProcessStart, r.Instance = "1", r.PID+":1" }
	plugin := func(r *fsstore.Record) { r.Source, r.TS = fsstore.SourcePlugin, time.Now().Unix() }
	nobody := func(r *fsstore.Record) { r.PID, r.ProcessStart = "", "" }
	for _, test := range []struct {
		name string
		row  *fsstore.Annotated
		want State
		why  string
	}{
		{"reused pid", session(t, pid, reused), Failed, "other start ticks"},
		{"another program", session(t, pid, func(r *fsstore.Record) { r.Harness = "claude" }), Failed, "is not claude"},
		{"gone", session(t, pid, func(r *fsstore.Record) { r.PID, r.Instance = "4194305", "4194305:1" }), Failed, "is gone"},
		{"another machine", session(t, pid, func(r *fsstore.Record) { r.BootID, r.MachineID = "0", "0" }), Unavailable, "another machine"},
		{"another container", session(t, pid, func(r *fsstore.Record) { r.PIDNamespace = "1" }), Unavailable, "another pid namespace"},
		{"no process", session(t, pid, nobody), Unavailable, "no process recorded"},
		{"a plugin's word", session(t, pid, nobody, plugin), Unavailable, "no process recorded"},
		{"a plugin's word of a pid since reused", session(t, pid, reused, plugin), Failed, "is another one now"},
		{"no terminal", session(t, pid, func(r *fsstore.Record) { r.Focus.Kind = fsstore.FocusUnavailable }), Unavailable, "has no terminal"},
		{"desktop without a window", session(t, pid, func(r *fsstore.Record) {
			r.Focus.Kind, r.Mode = fsstore.FocusDesktop, fsstore.Desktop
		}), Unavailable, "no terminal or window shows process"},
		{"a server's", session(t, pid, func(r *fsstore.Record) {
			r.Focus.Kind, r.Mode = fsstore.FocusUnavailable, fsstore.Daemon
		}), Unavailable, "a server hosts"},
		{"a server's, whose client is gone", session(t, pid, func(r *fsstore.Record) {
			r.Mode, r.TTY = fsstore.Daemon, "pts/99999"
		}), Unavailable, "nothing runs on its terminal"},
	} {
		r := Focus(t.Context(), test.row)
		if r.State != test.want || !strings.Contains(r.Reason, test.why) || r.Selection.Attempted || r.Activation.Attempted || r.TargetFound || r.OK() {
			t.Errorf("%s: got %+v, want %s: %s", test.name, r, test.want, test.why)
		}
	}
}

func TestQuery(t *testing.T) {
	pid := orphan(t, nil, nil, "sleep", "1000")
	rows := []*fsstore.Annotated{session(t, pid), session(t, os.Getpid())}
	for _, test := range []struct {
		query string
		want  State
		why   string
	}{
		{"nothing", NotFound, `no session matches "nothing"`},
		{"", NotFound, "the query is empty"},
		{"app", Ambiguous, "2 sessions match"},
	} {
		r, err := Query(t.Context(), rows, test.query)
		if err == nil || r.State != test.want || r.Reason != err.Error() || !strings.Contains(r.Reason, test.why) || r.OK() {
			t.Errorf("%q: got %+v, %v; want %s: %s", test.query, r, err, test.want, test.why)
		}
	}
	if _, err := Query(t.Context(), rows, ""); err != listing.ErrEmptyQuery {
		t.Errorf("an empty query is %v", err)
	}
	if r, err := Query(t.Context(), rows, rows[0].Session); err != nil || r.PID != strconv.Itoa(pid) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A program that does not answer is not waited for long, and not left behind.
func TestRun(t *testing.T) {
	impatient(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "slow"), "#!/bin/sh\necho $$ >"+dir+"/pid\nsleep 1000 &\nwait\n", 0o700)
	write(t, filepath.Join(dir, "wrong"), "#!/bin/sh\nprintf 'no \\033[31msuch\\nthing' >&2\nexit 3\n", 0o700)
	write(t, filepath.Join(dir, "silent"), "#!/bin/sh\nexit 3\n", 0o700)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for program, want := range map[string]string{
		"slow": "slow does not answer", "wrong": "wrong: no such", "silent": "silent: exit status 3", "no-such-program": "no-such-program is not in PATH",
	} {
		if _, err := run(t.Context(), nil, program); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", program, err, want)
		}
	}
	group := pidIn(t, filepath.Join(dir, "pid"))
	wait(t, "the end of all that slow has started", func() bool { return syscall.Kill(-group, 0) != nil })
	if out, err := run(t.Context(), []string{"ADDED=a b"}, "sh", "-c", "echo $ADDED; echo x >&2"); out != "a b\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestListens(t *testing.T) {
	path := filepath.Join(shortDir(t), "a b")
	accepted := make(chan struct{})
	serve(t, path, func(c net.Conn) {
		close(accepted)
		c.Read(make([]byte, 1))
	})
	conn, err := dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	<-accepted
	got := slices.DeleteFunc(listens(os.Getpid()), func(p string) bool { return p != path })
	if len(got) != 1 {
		t.Errorf("listening at %q, want %s once", got, path)
	}
}

// strangerEnv has the socket on which the test binary listens as another user.
const strangerEnv = "FOCUS_TEST_STRANGER"

func TestOwnSocket(t *testing.T) {
	dir := shortDir(t)
	file := write(t, filepath.Join(dir, "file"), "", 0o600)
	socket := filepath.Join(dir, "socket")
	serve(t, socket, nil)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	if err := ownSocket(socket); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{
		"":                  "not the absolute path",
		"socket":            "not the absolute path",
		"-x":                "not the absolute path",
		socket + "\n":       "not the absolute path",
		file:                "is not a socket",
		link:                "is not a socket",
		socket + "-missing": "no such file",
	} {
		if err := ownSocket(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", path, err, want)
		}
	}
	if os.Geteuid() == 0 {
		stranger := "@tongs-agents-test-" + strconv.Itoa(os.Getpid())
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = []string{strangerEnv + "=" + stranger}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1}}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if _, err := dial(t.Context(), stranger); err == nil || !strings.Contains(err.Error(), "its server is another user's") {
			t.Errorf("a server of another user: %v", err)
		}
		if err := os.Chown(socket, 1, 1); err != nil {
			t.Fatal(err)
		}
		if err := ownSocket(socket); err == nil || !strings.Contains(err.Error(), "another user's") {
			t.Errorf("a socket of another user: %v", err)
		}
	}
}
