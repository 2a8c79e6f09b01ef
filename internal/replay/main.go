// Command replay plays recorded hook calls of real coding agents through the
// hook binary, each recording under a process that bears the agent's name, and
// lists what the store then holds: once in the middle of things, once at the
// end. The store is a throw-away directory.
//
//	replay [-bin DIR] RECORDING...
//
// A recording has one JSON object a line: stdin is the payload of a call, the
// first of the ancestors is the agent.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

func main() {
	if hook := os.Getenv(envHook); hook != "" {
		standIn(hook)
		return
	}
	bin := flag.String("bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	flag.Parse()
	if err := replay(*bin, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func replay(bin string, files []string) error {
	if len(files) == 0 {
		return errors.New("no recordings given")
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tongs-agents-replay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, v := range os.Environ() { // what the caller has set is for other stores
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "TONGS_AGENTS_") {
			os.Unsetenv(name)
		}
	}
	state := filepath.Join(dir, "state")
	os.Setenv("TONGS_AGENTS_STATE_DIR", state)
	if err := maintained(state); err != nil {
		return err
	}

	var agents []*agent
	for _, file := range files {
		a, err := start(file, filepath.Join(bin, "tongs-agents-hook"), dir)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		defer a.stop()
		agents = append(agents, a)
		if err := a.play(a.rec.middle); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := list(bin, "in the middle of the recordings", "status", "ps"); err != nil {
		return err
	}
	for _, a := range agents {
		if err := a.play(len(a.rec.calls)); err != nil {
			return err
		}
	}
	return list(bin, "at their end", "status")
}

// maintained makes the store one that needs no cleanup.
func maintained(state string) error {
	store, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		return err
	}
	defer store.Close()
	return store.SetStamp(proc.Root.Host().BootID)
}

// list prints what the commands print.
func list(bin, when string, commands ...string) error {
	for _, name := range commands {
		fmt.Printf("$ tongs-agents %s    # %s\n", name, when)
		cmd := exec.Command(filepath.Join(bin, "tongs-agents"), name)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("tongs-agents %s: %w", name, err)
		}
		fmt.Println()
	}
	return nil
}

// recording is what one agent called its hooks with.
type recording struct {
	harness string
	argv    []string
	calls   []json.RawMessage
	middle  int // the calls up to the last question, or tool, of the session
}

func read(file string) (recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return recording{}, err
	}
	defer f.Close()
	rec := recording{}
	rec.harness, _, _ = strings.Cut(filepath.Base(file), "-")
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var call struct {
			Event     string
			Stdin     json.RawMessage
			Ancestors []struct{ Comm, Cmdline string }
		}
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return rec, err
		}
		if call.Stdin == nil { // a note of whoever recorded
			continue
		}
		rec.calls = append(rec.calls, call.Stdin)
		for _, a := range call.Ancestors {
			if rec.argv == nil && a.Comm != "sh" {
				rec.argv = strings.Fields(a.Cmdline)
			}
		}
		switch call.Event {
		case "PermissionRequest", "Notification", "BeforeTool":
			rec.middle = len(rec.calls)
		}
	}
	if err := lines.Err(); err != nil {
		return rec, err
	}
	if rec.argv == nil {
		return rec, errors.New("no recorded call")
	}
	return rec, nil
}

// agent is a process that stands in for the recorded one.
type agent struct {
	rec    recording
	cmd    *exec.Cmd
	calls  io.WriteCloser
	ready  *bufio.Reader
	played int
}

const (
	envHook    = "REPLAY_HOOK"
	envHarness = "REPLAY_HARNESS"
)

// start starts this program under the recorded name and arguments.
func start(file, hook, dir string) (*agent, error) {
	rec, err := read(file)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program, err := copyProgram(self, dir, filepath.Base(rec.argv[0]))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Args = rec.argv
	cmd.Env = append(os.Environ(), envHook+"="+hook, envHarness+"="+rec.harness)
	cmd.Stderr = os.Stderr
	calls, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &agent{rec: rec, cmd: cmd, calls: calls, ready: bufio.NewReader(out)}, cmd.Start()
}

// copyProgram copies the program into a new directory under another name: the
// kernel takes comm from the name of the file.
func copyProgram(from, dir, name string) (string, error) {
	program, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	dir, err = os.MkdirTemp(dir, "")
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, name)
	return to, os.WriteFile(to, program, 0o700)
}

// play makes the calls up to the given one.
func (a *agent) play(upTo int) error {
	for ; a.played < upTo; a.played++ {
		if _, err := fmt.Fprintf(a.calls, "%s\n", a.rec.calls[a.played]); err != nil {
			return err
		}
		if _, err := a.ready.ReadString('\n'); err != nil {
			return fmt.Errorf("call %d: %w", a.played+1, err)
		}
	}
	return nil
}

func (a *agent) stop() {
	a.calls.Close()
	a.cmd.Wait()
}

// standIn is the agent: it runs the hook for every call that it reads.
func standIn(hook string) {
	calls := bufio.NewScanner(os.Stdin)
	calls.Buffer(nil, 16<<20)
	for calls.Scan() {
		cmd := exec.Command(hook, "--agent", os.Getenv(envHarness))
		cmd.Stdin = strings.NewReader(calls.Text())
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			fmt.Fprintf(os.Stderr, "replay: hook: %v, printed %q\n", err, out)
			os.Exit(1)
		}
		fmt.Println("done")
	}
}
