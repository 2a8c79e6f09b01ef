//go:build !(386 || arm)

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/mdtable"
)

// An actor is this program as another process, in a disguise. What it is to do
// comes first on its standard input.
const envActor = "HOSTILE_ACTOR"

// actor is what one is to do, in this order. It then lives until its standard
// input ends.
type actor struct {
	Comm    []byte // nil: that of its file
	Rewrite []byte // what its command line becomes; nil: it stays
	Gone    string // a directory to be in, which is then removed

	Program string // the actor that does the rest, in its place
	Argv    []string
	Child   *actor

	Calls []hookCall // of hooks
}

// hookCall is a call of a hook.
type hookCall struct {
	Argv  []string
	Input string
}

func (a *actor) act() error {
	runtime.LockOSThread() // comm is that of a thread: main runs on the first one
	if a.Gone != "" {
		if err := errors.Join(os.MkdirAll(a.Gone, 0o700), os.Chdir(a.Gone), os.RemoveAll(a.Gone)); err != nil {
			return err
		}
	}
	if a.Comm != nil {
		name := append(bytes.Clone(a.Comm), 0)
		if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
			return err
		}
	}
	if a.Rewrite != nil {
		rewrite(a.Rewrite)
	}
	os.Unsetenv(envActor)
	if a.Child != nil {
		cmd, ready, err := startActor(a.Program, a.Argv, a.Child, os.Environ())
		if err != nil || ready != nil {
			return errors.Join(err, ready)
		}
		defer cmd.Process.Kill()
	}
	for _, c := range a.Calls {
		cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
		cmd.Stdin = strings.NewReader(c.Input)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			return fmt.Errorf("%s: %w %s", c.Argv[0], err, out)
		}
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// rewrite overwrites the command line, as setproctitle does: Go's arguments are
// the kernel's.
func rewrite(line []byte) {
	for _, arg := range os.Args {
		memory := unsafe.Slice(unsafe.StringData(arg), len(arg))
		line = line[copy(memory, line):]
	}
}

// startActor starts an actor and waits until it has done what it is to do.
func startActor(program string, argv []string, a *actor, env []string) (cmd *exec.Cmd, failed error, err error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(program)
	if len(argv) > 0 {
		cmd.Args = argv
	}
	cmd.Env = append(env, envActor+"=1")
	in, err := cmd.StdinPipe() // until we end
	if err != nil {
		return nil, nil, err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	if _, err := in.Write(text); err != nil {
		return cmd, err, nil
	}
	ready := make([]byte, len("ready\n"))
	if n, err := io.ReadFull(out, ready); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return cmd, fmt.Errorf("%q %w %s", ready[:n], err, stderr.String()), nil
	}
	return cmd, nil, nil
}

// disguise is what a process does so that a reader of /proc takes it for
// another one, or does not read on.
type disguise struct {
	name string
	actor
	argv []string // nil: the file's name
	env  []string
}

var disguises = []disguise{
	{name: "none"},
	{name: "comm: parentheses", actor: actor{Comm: []byte("a) R (b")}},
	{name: "comm: the fields after it", actor: actor{Comm: []byte(") Z 1 1 1 1 1")}},
	{name: "comm: brackets alone", actor: actor{Comm: []byte("((((((((((((()")}},
	{name: "comm: newline", actor: actor{Comm: []byte("x\n1 (y) S 1\n")}},
	{name: "comm: NUL and nothing", actor: actor{Comm: []byte("")}},
	{name: "comm: blanks", actor: actor{Comm: []byte("   \t ")}},
	{name: "comm: escape", actor: actor{Comm: []byte("\x1b]0;PWNED\x07\x1b[2J")}},
	{name: "comm: not UTF-8", actor: actor{Comm: []byte("\xff\xfe\x80)\xc0")}},
	{name: "comm: fifteen bytes", actor: actor{Comm: []byte("claude claude c")}},
	{name: "comm: a thread's", actor: actor{Comm: []byte("MainThread")}},
	{name: "comm: almost an agent", actor: actor{Comm: []byte("codex\n")}},
	{name: "comm: an agent in brackets", actor: actor{Comm: []byte("(claude)")}},
	{name: "argv: 2 MB", argv: append([]string{"/usr/bin/x"}, slices.Repeat([]string{strings.Repeat("x\n", 60<<10)}, 16)...)},
	{name: "argv: 100,000 words", argv: append([]string{"/usr/bin/x"}, slices.Repeat([]string{"x"}, 100_000)...)},
	{name: "argv: none", argv: []string{""}},
	{name: "argv: escapes", argv: []string{"/usr/bin/\x1b]0;PWNED\x07", "\x1b[2J\n\xff", "$(touch PWNED)"}},
	{name: "argv: agents in other words", argv: []string{"/usr/bin/x", "claude", "/usr/bin/codex", "@openai/codex", "gemini --acp"}},
	{name: "argv: overwritten", actor: actor{Rewrite: []byte("/\xff\n) S 1 \x1b[31m\x00\x00claude\x00")}, argv: []string{"/usr/bin/" + strings.Repeat("x", 100), strings.Repeat("y", 100)}},
	{name: "argv: overwritten by NUL", actor: actor{Rewrite: make([]byte, 300)}, argv: []string{"/usr/bin/" + strings.Repeat("x", 100), strings.Repeat("y", 100)}},
	{name: "cwd: removed", actor: actor{Gone: "gone\x1b[31m\n (deleted)"}},
	{name: "environment", env: []string{"CLAUDE_PID=1", "TONGS_AGENTS_LAUNCH_ID=../../../../tmp/PWNED", "TMUX=\x1b]0;PWNED\x07,1,0", "X=" + strings.Repeat("y", 100<<10), "=", "LD_PRELOAD=/tmp/PWNED"}},
	{name: "all at once", actor: actor{Comm: []byte("\n) S (\x1b\xff"), Rewrite: make([]byte, 200), Gone: "gone"}, argv: []string{"/usr/bin/" + strings.Repeat("x", 200), "y"}},
}

// cast are the programs that actors are started as.
const (
	codex     = "codex"     // an agent
	bystander = "bystander" // none
)

func tryProcesses(w *world) error {
	dir := filepath.Join(w.dir, "actors")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{codex, bystander} {
		if err := os.Link(filepath.Join(w.dir, agentName), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	table := mdtable.Table{Texts: 1, Head: []string{"disguise", "checks", "failures"}}
	for i, d := range disguises {
		if !w.chosen(i, d.name) {
			continue
		}
		s := &stagePlay{world: w, tally: &tally{w: w}, disguise: d, dir: dir, state: filepath.Join(w.dir, "processes", strconv.Itoa(i))}
		for _, scene := range []struct {
			name string
			try  func(*stagePlay) error
		}{
			{"an agent that reports", (*stagePlay).reports},
			{"between an agent and its hook", (*stagePlay).between},
			{"an agent without hooks", (*stagePlay).scanned},
			{"no agent", (*stagePlay).none},
		} {
			s.what = d.name + ", " + scene.name
			if err := scene.try(s); err != nil {
				return fmt.Errorf("%s: %w", s.what, err)
			}
			os.RemoveAll(s.state)
		}
		table.Add(d.name, s.tally.checks, s.tally.failures)
	}
	return table.Print(os.Stdout)
}

// stagePlay is a store and a process in a disguise.
type stagePlay struct {
	*world
	*tally
	disguise
	dir, state string
}

// start starts the disguised process as a program.
func (p *stagePlay) start(program string, calls ...hookCall) (*exec.Cmd, error) {
	a := p.actor
	a.Calls = calls
	return p.startAs(program, p.argv, &a)
}

func (p *stagePlay) startAs(program string, argv []string, a *actor) (*exec.Cmd, error) {
	if a.Gone != "" {
		a.Gone = filepath.Join(p.world.dir, a.Gone)
	}
	cmd, failed, err := startActor(filepath.Join(p.dir, program), argv, a, append(p.environ(p.state), p.env...))
	p.check(failed == nil, "the process: %v", failed)
	if err == nil && failed != nil {
		return nil, errors.New("it does not play")
	}
	return cmd, err
}

func (p *stagePlay) hook(harness, session, event string) hookCall {
	return hookCall{[]string{filepath.Join(p.bin, hookProgram), "--agent", harness},
		fmt.Sprintf(`{"session_id":%q,"cwd":"/src/app","hook_event_name":%q,"model":"m","transcript_path":""}`, session, event)}
}

func stop(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// instance is a process as a record names it. The start is read anew here: the
// 20th field after the last parenthesis.
func instance(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("stat: %q", stat)
	}
	return fmt.Sprintf("%d:%s", pid, fields[19]), nil
}

// process is a session of a listing, with its process.
type process struct {
	Session  string `json:"session_id"`
	Harness  string `json:"harness_id"`
	Instance string `json:"instance_id"`
	Kind     string `json:"record_kind"`
	Status   string
	Cwd      string
}

// processes asks a listing.
func (p *stagePlay) processes(command string) ([]process, error) {
	r, err := p.run(p.state, cli(command, "--json"))
	if err != nil {
		return nil, err
	}
	var list struct{ Sessions []process }
	err = json.Unmarshal([]byte(r.stdout), &list)
	p.check(err == nil && r.status == 0 && !r.late && acts(r.stdout, false) == "", "%s: %v, %v, %s", command, r, err, acts(r.stdout, false))
	return list.Sessions, nil
}

func (p *stagePlay) cleanup() error {
	r, err := p.run(p.state, cli("cleanup"))
	p.check(err == nil && r.status == 0 && acts(r.stdout+r.stderr, false) == "", "cleanup: %v", r)
	p.check(r.took < enough, "cleanup takes %v", r.took)
	return err
}

// listed compares what a listing has of a session's process.
func (p *stagePlay) listed(command, session, instance string, there bool) error {
	list, err := p.processes(command)
	if err != nil {
		return err
	}
	n := 0
	for _, s := range list {
		if s.Session == session || session == "" && s.Instance == instance {
			n++
			p.check(s.Instance == instance, "%s: %q is of %s, want %s", command, s.Session, s.Instance, instance)
		}
	}
	p.check((n == 1) == there && n <= 1, "%s lists %d of %q %s, it is there: %v; %v", command, n, session, instance, there, list)
	return nil
}

// reports: the agent itself is in disguise.
func (p *stagePlay) reports() error {
	agent, err := p.start(codex, p.hook(codex, "s", "SessionStart"), p.hook(codex, "s", "UserPromptSubmit"))
	if err != nil {
		return err
	}
	defer stop(agent)
	id, err := instance(agent.Process.Pid)
	if err != nil {
		return err
	}
	if err := cmp.Or(p.listed("status", "s", id, true), p.listed("ps", "s", id, true), p.cleanup(), p.listed("status", "s", id, true), p.listed("ps", "s", id, true)); err != nil {
		return err
	}
	stop(agent)
	return cmp.Or(p.listed("ps", "s", id, false), p.cleanup(), p.listed("status", "s", id, false))
}

// between: the shell that the agent runs its hook with is in disguise.
func (p *stagePlay) between() error {
	middle := p.actor
	middle.Calls = []hookCall{p.hook(codex, "s", "SessionStart")}
	if middle.Gone != "" {
		middle.Gone = filepath.Join(p.world.dir, middle.Gone)
	}
	agent, err := p.startAs(codex, nil, &actor{Program: filepath.Join(p.dir, bystander), Argv: p.argv, Child: &middle})
	if err != nil {
		return err
	}
	defer stop(agent)
	id, err := instance(agent.Process.Pid)
	if err != nil {
		return err
	}
	return p.listed("status", "s", id, true)
}

// scanned: nothing reports the agent. The maintenance finds it, once.
func (p *stagePlay) scanned() error {
	agent, err := p.start(codex)
	if err != nil {
		return err
	}
	defer stop(agent)
	id, err := instance(agent.Process.Pid)
	if err != nil {
		return err
	}
	if err := cmp.Or(p.cleanup(), p.listed("ps", "", id, true), p.cleanup(), p.listed("status", "", id, true)); err != nil {
		return err
	}
	for _, c := range []command{cli("show", strconv.Itoa(agent.Process.Pid)), cli("explain", strconv.Itoa(agent.Process.Pid)), cli("doctor", "--agent", codex), cli("ps")} {
		r, err := p.run(p.state, c)
		if err != nil {
			return err
		}
		p.check(acts(r.stdout+r.stderr, false) == "" && !r.late, "%s prints %s: %v", c, acts(r.stdout+r.stderr, false), r)
		p.check(r.status == 0 || c.argv[1] == "doctor", "%s: %v", c, r)
	}
	stop(agent)
	return cmp.Or(p.listed("ps", "", id, false), p.cleanup(), p.listed("status", "", id, false))
}

// none: what is no agent is not taken for one, neither by the scan nor by a hook
// below it, whose owner is the agent above: this process.
func (p *stagePlay) none() error {
	other, err := p.start(bystander, p.hook(agentName, "s", "SessionStart"))
	if err != nil {
		return err
	}
	defer stop(other)
	id, err := instance(other.Process.Pid)
	if err != nil {
		return err
	}
	self, err := instance(os.Getpid())
	if err != nil {
		return err
	}
	if err := cmp.Or(p.cleanup(), p.listed("status", "s", self, true), p.listed("ps", "", id, false)); err != nil {
		return err
	}
	list, err := p.processes("status")
	p.check(len(list) == 1, "there are %v", list)
	return err
}
