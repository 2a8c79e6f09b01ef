package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// TestMain puts both programs on PATH as they are built for users: the hook
// reads /proc/self/cmdline, and neither takes as long to start as a test binary.
func TestMain(m *testing.M) { os.Exit(withPrograms(m)) }

func withPrograms(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tongs-agents-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", dir, ".", "../tongs-agents-hook")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build, err, out)
		return 1
	}
	for _, name := range []string{"claude", "codex", "worker"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(standIn), 0o700); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	// The settings of the user's own agents are none of a test's.
	os.Setenv("HOME", "/nonexistent")
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "PI_CODING_AGENT_DIR", "QWEN_HOME", "XDG_CONFIG_HOME"} {
		os.Unsetenv(name)
	}
	return m.Run()
}

// standIn is a coding agent under its name. It calls its hook with each payload
// named, says that it is ready, and lives until killed or its input ends.
const standIn = `#!/bin/sh
for payload; do
	tongs-agents-hook --agent "${0##*/}" <"$payload" || exit
done
echo ready
read never
`

var update = flag.Bool("update", false, "update the golden files in the scripts")

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		UpdateScripts:       *update,
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TONGS_AGENTS_STATE_DIR", filepath.Join(env.WorkDir, "state"))
			env.Setenv("LANG", "C.UTF-8")
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"agent":  agentCmd,
			"end":    endCmd,
			"exits":  exitsCmd,
			"record": recordCmd,
			"screen": screenCmd,
		},
	})
}

// exits CODE COMMAND [ARG...] runs a command that must exit with that code.
func exitsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// screen COLUMNS COMMAND [ARG...] runs a command on a terminal of that width,
// and takes what it prints there for its standard output, ESC as ^[.
func screenCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: screen COLUMNS COMMAND [ARG...]")
	}
	columns, err := strconv.ParseUint(args[0], 10, 16)
	ts.Check(err)
	screen, tty, err := pty.Open()
	ts.Check(err)
	defer screen.Close()
	ts.Check(pty.Setsize(screen, &pty.Winsize{Rows: 20, Cols: uint16(columns)}))

	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TONGS_AGENTS_STATE_DIR", "LANG", "TERM", "NO_COLOR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	ts.Check(cmd.Start())
	tty.Close()
	printed, err := io.ReadAll(screen) // until the last one who has it open is gone: EIO
	if !errors.Is(err, unix.EIO) {
		ts.Check(err)
	}
	ts.Check(cmd.Wait())
	strings.NewReplacer("\r\n", "\n", "\x1b", "^[").WriteString(ts.Stdout(), string(printed))
}

// agent NAME [PAYLOAD...] starts a stand-in and sets the variable NAME to its
// pid.
func agentCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: agent NAME [PAYLOAD...]")
	}
	cmd := exec.Command(args[0])
	for _, payload := range args[1:] {
		cmd.Args = append(cmd.Args, ts.MkAbs(payload))
	}
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TONGS_AGENTS_STATE_DIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	_, err := cmd.StdinPipe() // until we end
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	answer, err := bufio.NewReader(out).ReadString('\n')
	if answer != "ready\n" {
		ts.Fatalf("agent %s: %q, %v", args[0], answer, err)
	}
	ts.Setenv(args[0], strconv.Itoa(cmd.Process.Pid))
}

// end NAME kills what agent has started, and waits until nothing is left of it.
func endCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: end NAME")
	}
	pid, err := strconv.Atoi(ts.Getenv(args[0]))
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(p.Kill())
	_, err = p.Wait()
	ts.Check(err)
}

// record [-o FILE] HARNESS SESSION [KEY=VALUE...] puts a record into the store,
// which then counts as maintained, or appends it to a file as a line of JSON.
// Go's escapes are valid. With -archive AGO it goes among the sessions to be
// resumed, as one that ended so long ago.
func recordCmd(ts *testscript.TestScript, neg bool, args []string) {
	file, archive := "", ""
	switch {
	case len(args) > 1 && args[0] == "-o":
		file, args = ts.MkAbs(args[1]), args[2:]
	case len(args) > 1 && args[0] == "-archive":
		archive, args = args[1], args[2:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: record [-o FILE | -archive AGO] HARNESS SESSION [KEY=VALUE...]")
	}
	for i, arg := range args {
		unquoted, err := strconv.Unquote(`"` + strings.ReplaceAll(arg, `"`, `\"`) + `"`)
		ts.Check(err)
		args[i] = unquoted
	}
	r, err := makeRecord(args[0], args[1], args[2:])
	ts.Check(err)
	if file != "" {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		ts.Check(err)
		_, err = f.Write(append(r.AppendJSON(nil), '\n'))
		ts.Check(errors.Join(err, f.Close()))
		return
	}
	store, err := fsstore.Open(ts.Getenv("TONGS_AGENTS_STATE_DIR"), fsstore.Create)
	ts.Check(err)
	defer store.Close()
	ts.Check(store.SetStamp(proc.Root.Host().BootID))
	if archive != "" {
		ago, err := time.ParseDuration(archive)
		ts.Check(err)
		entries, err := store.Archive()
		ts.Check(err)
		defer entries.Close()
		_, err = entries.Put(r, time.Now().Add(-ago).Unix())
		ts.Check(err)
		return
	}
	_, err = store.Import(r, time.Second)
	ts.Check(err)
}

// makeRecord makes a valid record, unless a value says otherwise: of no process
// unless pid is given, and reported now.
func makeRecord(harness, session string, values []string) (*fsstore.Record, error) {
	now := time.Now().Unix()
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: harness, Session: session, Instance: fsstore.Unresolved},
		Kind: fsstore.KindSession, Identity: fsstore.Unresolved, Status: fsstore.Idle,
		TS: now, Started: now, Arrival: 1, Source: "hook", LastEvent: harness + ".test",
		Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
	}
	here := proc.Root.Host()
	r.BootID, r.PIDNamespace, r.MachineID = here.BootID, here.PIDNamespace, here.MachineID
	for _, v := range values {
		key, value, _ := strings.Cut(v, "=")
		if err := setKey(r, key, value, now); err != nil {
			return nil, fmt.Errorf("%s: %w", v, err)
		}
	}
	if r.PID != "" {
		r.Identity = fsstore.Identified
		if r.Instance == fsstore.Unresolved {
			r.Instance = r.PID + ":" + r.ProcessStart
		}
	}
	return r, nil
}

func setKey(r *fsstore.Record, key, value string, now int64) (err error) {
	texts := map[string]*string{
		"kind": &r.Kind, "instance": &r.Instance, "detail": &r.Detail, "tool": &r.Tool, "title": &r.Title,
		"mode": &r.Mode, "source": &r.Source, "model": &r.Model, "start": &r.ProcessStart, "tty": &r.TTY,
		"boot": &r.BootID, "namespace": &r.PIDNamespace, "machine": &r.MachineID, "end_reason": &r.EndReason,
		"transcript": &r.TranscriptPath, "terminal": &r.Terminal,
	}
	numbers := map[string]*int64{
		"boottime": &r.Boottime, "subagents": &r.Subagents, "tasks": &r.BackgroundTasks, "removed": &r.RemovedAt,
		"ts": &r.TS, "started": &r.Started, "age": &r.TS, "up": &r.Started, "sequence": &r.Sequence,
	}
	switch name, isEnv := strings.CutPrefix(key, "env."); {
	case isEnv:
		r.TerminalEnv = append(r.TerminalEnv, fsstore.Var{Name: name, Value: value})
	case key[0] == '+':
		r.Unknown = append(r.Unknown, fsstore.Member{Name: key[1:], Value: []byte(value)})
	case texts[key] != nil:
		*texts[key] = value
	case numbers[key] != nil:
		*numbers[key], err = strconv.ParseInt(value, 10, 64)
		if ago, e := time.ParseDuration(value); (key == "age" || key == "up") && e == nil {
			*numbers[key], err = now-int64(ago/time.Second), nil
		}
		r.HasSequence = r.HasSequence || key == "sequence"
	case key == "status":
		r.Status = fsstore.Status(value)
	case key == "cwd":
		r.Cwd, r.Repo = value, filepath.Base(value)
	case key == "resume":
		r.Resume = strings.Split(value, "|")
	case key == "waiting_for":
		r.WaitingFor = &fsstore.Wait{Tool: value}
	case key == "recent":
		r.Recent = append(r.Recent, fsstore.Recent{Event: value, Status: r.Status, TS: r.TS})
	case key == "pid":
		r.PID = value
		r.ProcessStart = "1" // of no process but of pid 1, maybe
		pid, _ := strconv.Atoi(value)
		if p, err := proc.Root.Process(pid); err == nil {
			r.ProcessStart = p.Start
		}
	default:
		err = errors.New("unknown key")
	}
	return err
}

// Every command says in its help how it is used, and with an example.
func TestHelp(t *testing.T) {
	commands := [][]string{nil}
	for i := 0; i < len(commands); i++ {
		cmd, _, err := newRoot().Find(commands[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, sub := range cmd.Commands() {
			commands = append(commands, append(slices.Clone(commands[i]), sub.Name()))
		}
	}
	if len(commands) < 12 {
		t.Errorf("only %d commands: %v", len(commands), commands)
	}
	for _, args := range commands {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			for _, call := range [][]string{append(slices.Clone(args), "--help"), append([]string{"help"}, args...)} {
				var stdout, stderr strings.Builder
				status := run(call, strings.NewReader(""), &stdout, &stderr)
				if status != 0 || stderr.Len() > 0 {
					t.Errorf("%q: status %d, standard error %q", call, status, stderr.String())
				}
				for _, want := range []string{"Usage:\n  tongs-agents", "\nExamples:\n  "} {
					if !strings.Contains(stdout.String(), want) {
						t.Errorf("%q prints no %q:\n%s", call, want, stdout.String())
					}
				}
			}
		})
	}
}

func TestComplain(t *testing.T) {
	for _, test := range []struct{ err, want string }{
		{"no such thing", "tongs-agents: error: no such thing\n"},
		{"several:\none\ntwo", "tongs-agents: error: several:\n  one\n  two\n"},
		{"open \x1b[31m\x07x\u202e", "tongs-agents: error: open x\n"},
		{"ends\n", "tongs-agents: error: ends\n"},
	} {
		var b strings.Builder
		complain(&b, errors.New(test.err))
		if got := b.String(); got != test.want {
			t.Errorf("complain(%q) prints %q, want %q", test.err, got, test.want)
		}
	}
}

// failingWriter is a full disk.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A command that cannot print has failed.
func TestWriteError(t *testing.T) {
	t.Setenv("TONGS_AGENTS_STATE_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	commands := []string{
		"status", "status --json", "ps", "ps --json", "version", "version --json",
		"notify --status idle --session s --pid none", "notify --status idle --session s --pid none --json",
		"status", "ps", "export", "show s", "show s --json", "focus s --json", "stats", "stats --json", "explain s", "explain s --json",
		"resumable", "resumable --json", "remove s", "notify --status idle --session s --pid none", "remove s --json",
		"metrics", "status --format {{.Total}}", "install --dry-run --agent claude", "install --dry-run --agent claude --json", "uninstall", "uninstall --json",
	}
	for _, c := range commands {
		var stderr strings.Builder
		status := run(strings.Fields(c), strings.NewReader(""), failingWriter{}, &stderr)
		if want := "tongs-agents: error: short write\n"; status != 1 || stderr.String() != want {
			t.Errorf("%s: status %d, standard error %q; want 1, %q", c, status, stderr.String(), want)
		}
	}
	r, err := makeRecord("codex", "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	if status := run([]string{"import"}, strings.NewReader(string(r.AppendJSON(nil))), failingWriter{}, &stderr); status != 1 {
		t.Errorf("import: status %d, standard error %q; want 1", status, stderr.String())
	}
}
