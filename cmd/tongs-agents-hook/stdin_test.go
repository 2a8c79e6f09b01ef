package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

// piped is an agent whose hooks inherit the reading end of a pipe; the test has
// the other one.
func piped(t testing.TB) (*agent, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	a := claude(t, r)
	r.Close()
	return a, w
}

func inherit(c call) call {
	c.Inherit = true
	return c
}

// A terminal is a user who tries what the program does.
func TestTerminal(t *testing.T) {
	t.Parallel()
	pts, _ := openTerminal(t)
	a := claude(t, pts)
	for _, args := range []string{"", "stop", "--agent codex", "--help", "nonsense"} {
		state := t.TempDir()
		got := a.run(inherit(hookCall(state, args, "")))
		if got.Exit != 1 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, "usage: tongs-agents-hook ") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want usage and 1", args, got.Exit, got.Stdout, got.Stderr)
		}
	}
}

// Standard input that brings nothing is no reason to wait.
func TestNoInput(t *testing.T) {
	t.Parallel()
	devNull, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer devNull.Close()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	closed, w := piped(t)
	w.Close()
	tests := []struct {
		name   string
		a      *agent
		script string
		debug  string
	}{
		{"closed", claude(t, nil), `exec "$@" <&-`, "EOF"},
		{"all closed", claude(t, nil), `exec "$@" <&- >&- 2>&-`, ""},
		{"for writing only", claude(t, nil), `exec "$@" 0>/dev/null`, "bad file descriptor"},
		{"/dev/null", claude(t, devNull), `exec "$@"`, "EOF"},
		{"directory", claude(t, dir), `exec "$@"`, "is a directory"},
		{"empty pipe", closed, `exec "$@"`, "EOF"},
	}
	for _, tt := range tests {
		state := t.TempDir()
		c := inherit(hookCall(state, "session-start", "").inShell(tt.script))
		quiet(t, tt.a.run(c))
		if got := debug(tt.a, c); !strings.Contains(got, tt.debug) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.debug)
		}
		if r := record(t, state); r != nil {
			t.Errorf("%s: got %+v", tt.name, r)
		}
	}
}

// debug runs a hook and returns what it says of the event.
func debug(a *agent, c call) string {
	c.Env = append(slices.Clone(c.Env), "TONGS_AGENTS_DEBUG=1")
	return strings.TrimPrefix(strings.TrimSuffix(a.run(c).Stderr, "\n"), "tongs-agents-hook: ")
}

// The hook gives up on a writer that is silent, and on one that is slow.
func TestPatience(t *testing.T) {
	half := started[:len(started)/2]
	tests := []struct {
		name  string
		write func(*os.File)
		min   time.Duration
		want  string
	}{
		{"nothing is written", func(*os.File) {}, time.Second, "no byte for 1 s"},
		{"half is written", func(w *os.File) { w.WriteString(half) }, time.Second, "no byte for 1 s"},
		{"half is written, then closed", func(w *os.File) { w.WriteString(half); w.Close() }, 0, "unexpected EOF"},
		{"white space without end", func(w *os.File) {
			for range 40 {
				w.WriteString(" ")
				time.Sleep(200 * time.Millisecond)
			}
		}, 5 * time.Second, "no whole payload in 5 s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, w := piped(t)
			state := t.TempDir()
			a.begin(inherit(hookCall(state, "", "", "TONGS_AGENTS_DEBUG=1")))
			go tt.write(w)
			got := a.answer()
			if got.Exit != 0 || !strings.Contains(got.Stderr, tt.want) || got.took() < tt.min {
				t.Errorf("exit %d, %q after %v; want %q after %v", got.Exit, got.Stderr, got.took(), tt.want, tt.min)
			}
			if r := record(t, state); r != nil {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// The hook is done at the end of the JSON value, whether or not the pipe ends
// there. If it waited, it would find no more and record nothing.
func TestOpenPipe(t *testing.T) {
	t.Parallel()
	for _, text := range []string{started, " \n" + started, started + "\n", started + started} {
		a, w := piped(t)
		state := t.TempDir()
		w.WriteString(text)
		quiet(t, a.run(inherit(hookCall(state, "", ""))))
		want(t, state, "s1", fsstore.Started)
	}
}

func TestFewBytesAtATime(t *testing.T) {
	t.Parallel()
	a, w := piped(t)
	state := t.TempDir()
	text := payload("s1", "SessionStart", `,"source":"startup","session_title":"caf\u00e9 é \ud83d\ude00"`)
	a.begin(inherit(hookCall(state, "", "")))
	go func() {
		for len(text) > 0 {
			n := min(3, len(text))
			w.WriteString(text[:n])
			text = text[n:]
			time.Sleep(100 * time.Microsecond)
		}
	}()
	quiet(t, a.answer())
	if r := want(t, state, "s1", fsstore.Started); r.Title != "café é 😀" {
		t.Errorf("title: got %q", r.Title)
	}
}

// A regular file and a socket are as good as a pipe.
func TestOtherFiles(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "payload"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.WriteString(started)
	file.Seek(0, 0)

	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far")
	defer near.Close()
	defer far.Close()
	near.WriteString(started)

	for _, stdin := range []*os.File{file, far} {
		state := t.TempDir()
		quiet(t, claude(t, stdin).run(inherit(hookCall(state, "", ""))))
		want(t, state, "s1", fsstore.Started)
	}
}

// What is needed may stand before and after something large that is not, and
// costs the same memory.
func TestLargePayloads(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	file := filepath.Join(t.TempDir(), "payload")
	for _, size := range []int{1<<16 - 200, 1 << 16, 1<<20 + 1, 16 << 20} {
		for kind, unit := range map[string]string{"text": "0123456789abcdef", "escapes": `a line\n\t\"\u00e9\"\n`} {
			large := strings.Repeat(unit, size/len(unit))
			text := `{"session_id":"s1","hook_event_name":"PreToolUse","tool_response":{"image":"` + large +
				`"},"tool_name":"Read","cwd":"/after","last_assistant_message":"` + large + `"}`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			state := t.TempDir()
			a.hook(state, "", started)
			got := quiet(t, a.run(hookCall(state, "", "").inShell("cat "+file+` | "$@"`)))
			if r := want(t, state, "s1", fsstore.Running); r.Tool != "Read" || r.Cwd != "/after" {
				t.Errorf("%d bytes of %s: got tool %q, cwd %q", size, kind, r.Tool, r.Cwd)
			}
			if got.MaxRSS > 16<<10 { // of the shell's children too
				t.Errorf("%d bytes of %s: %d KiB resident", size, kind, got.MaxRSS)
			}
		}
	}
}

// Agents that never close the pipes of their hooks collect no hooks.
func TestManyOpenPipes(t *testing.T) {
	t.Parallel()
	const hooks = 50
	var group sync.WaitGroup
	state := t.TempDir()
	for i := range hooks {
		group.Add(1)
		go func() {
			defer group.Done()
			r, w, err := os.Pipe()
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			p := &os.ProcAttr{Env: []string{"TONGS_AGENTS_STATE_DIR=" + state}, Files: []*os.File{r, nil, nil}}
			if i%2 == 0 {
				fmt.Fprintf(w, `{"session_id":"s%d"`, i)
			}
			process, err := os.StartProcess(hookPath(), []string{"tongs-agents-hook", "session-start"}, p)
			r.Close()
			if err != nil {
				t.Error(err)
				return
			}
			if status, err := process.Wait(); err != nil || !status.Success() {
				t.Errorf("%v, %v", status, err)
			}
		}()
	}
	done := make(chan bool)
	go func() { group.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("hooks are still running")
	}
	if all := records(t, state); len(all) > 0 {
		t.Errorf("got %s", show(all))
	}
}

// Ctrl-C and a closed terminal go to the hooks too.
func TestSignals(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGPIPE, unix.SIGXFSZ, unix.SIGILL, unix.SIGABRT, unix.SIGTRAP, unix.SIGSYS} {
		t.Run(unix.SignalName(sig), func(t *testing.T) {
			t.Parallel()
			a, w := piped(t)
			state := t.TempDir()
			pid := a.begin(inherit(hookCall(state, "", "")))
			w.WriteString(started[:20])
			waitForRead(t, w)
			for range 3 {
				if err := unix.Kill(pid, sig); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
			w.WriteString(started[20:])
			quiet(t, a.answer())
			want(t, state, "s1", fsstore.Started)
		})
	}
}

// A signal that the runtime handles begins no new wait: dragging the edge of a
// terminal sends many.
func TestPatienceDespiteSignals(t *testing.T) {
	t.Parallel()
	a, _ := piped(t)
	begun := time.Now()
	pid := a.begin(inherit(hookCall(t.TempDir(), "", "")))
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				unix.Kill(pid, unix.SIGWINCH)
			}
		}
	}()
	quiet(t, a.answer())
	close(done)
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("gave up after %v, want about 1 s", took)
	}
}

// waitForRead waits until everything written to a pipe was read: then the hook
// is past its start.
func waitForRead(t *testing.T, w *os.File) {
	t.Helper()
	for range 5000 {
		n, err := unix.IoctlGetInt(int(w.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the hook does not read")
}
