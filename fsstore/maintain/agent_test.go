package maintain

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"tongs-agents/proc"
)

// agent is a process that passes for a coding agent by its name. It calls the
// hook as one.
type agent struct {
	t          testing.TB
	cmd        *exec.Cmd
	in         io.WriteCloser
	out        *bufio.Reader
	pid, start string
	dead       bool
}

// programs is where the hook is built; it goes when the tests are over.
var programs string

// hook builds the hook once.
var hook = sync.OnceValues(func() (string, error) {
	built := filepath.Join(programs, "tongs-agents-hook")
	out, err := exec.Command("go", "build", "-o", built, "tongs-agents/cmd/tongs-agents-hook").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return built, nil
})

// startAgent starts one. It ends with the test.
func startAgent(t testing.TB, dir, name string) *agent {
	t.Helper()
	return startAgentOn(t, dir, name, false)
}

// startAgentOn starts one, on a terminal of its own if that is wanted.
func startAgentOn(t testing.TB, dir, name string, terminal bool) *agent {
	t.Helper()
	cmd := self("agent")
	cmd.Args = []string{name}
	cmd.Env = append(cmd.Env, "TONGS_AGENTS_STATE_DIR="+dir, "CLAUDE_CONFIG_DIR="+dir+"/none")
	if terminal {
		screen, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer tty.Close()
		t.Cleanup(func() { screen.Close() })
		cmd.ExtraFiles = []*os.File{tty}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, cmd: cmd, in: in, out: bufio.NewReader(out), pid: strconv.Itoa(cmd.Process.Pid)}
	t.Cleanup(func() { a.kill(); a.reap() })
	a.answer()
	st, err := proc.Root.Stat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	a.start = st.Start
	return a
}

// playAgent runs the hook for each line of its standard input.
func playAgent([]string) error {
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		hook, payload, _ := strings.Cut(in.Text(), " ")
		cmd := exec.Command(hook)
		cmd.Stdin = strings.NewReader(payload)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			return fmt.Errorf("hook: %v, %q", err, out)
		}
		fmt.Println("done")
	}
	return nil
}

func (a *agent) answer() {
	a.t.Helper()
	if line, err := a.out.ReadString('\n'); line == "" {
		a.t.Fatalf("agent %s: %v", a.pid, err)
	}
}

// event runs the hook for an event.
func (a *agent) event(name, session, more string) {
	a.t.Helper()
	hook, err := hook()
	if err != nil {
		a.t.Fatal(err)
	}
	fmt.Fprintf(a.in, "%s {\"hook_event_name\":%q,\"session_id\":%q,\"cwd\":\"/src/repo\"%s}\n", hook, name, session, more)
	a.answer()
}

// kill ends the process, which then is a zombie until reap.
func (a *agent) kill() {
	if !a.dead {
		a.dead = true
		a.cmd.Process.Signal(syscall.SIGKILL)
		// Its end of the pipe is closed with it.
		io.Copy(io.Discard, a.out)
		for {
			if st, err := proc.Root.Stat(a.cmd.Process.Pid); err != nil || st.Dead() {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func (a *agent) reap() { a.cmd.Wait() }
