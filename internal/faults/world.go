package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// envWorld is the directory of a worker's world.
const envWorld = "FAULTS_WORLD"

// envBystander says that this process only is there.
const envBystander = "FAULTS_BYSTANDER"

// world is what a worker has to itself: a directory, a pid namespace, in which
// it is the one agent that hooks report, and a bystander.
type world struct {
	dir        string
	pid, start string // of the worker
	host       proc.Host
	references map[string]*reference // by scenario
}

func (w *world) state() string { return filepath.Join(w.dir, "state") }
func (w *world) home() string  { return filepath.Join(w.dir, "home") }

// worldEnv is the environment of every program in a world.
func worldEnv(dir string) []string {
	return []string{
		envWorld + "=" + dir,
		"TONGS_AGENTS_STATE_DIR=" + filepath.Join(dir, "state"), "HOME=" + filepath.Join(dir, "home"),
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "LANG=C.UTF-8",
		// One thread does it all, and no signals of the runtime interrupt it.
		"GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1",
	}
}

// question asks a worker for the calls of a scenario, or what comes of a trial.
type question struct {
	Scenario string
	Trial    *trial
}

// answer is what came of it.
type answer struct {
	Calls []Call // of the scenario without a fault

	Missed   bool     // the fault did not happen in any attempt
	Crashed  bool     // the Go runtime gave up
	Line     string   // of the trace, where it happened
	Status   string   // how the program ended
	Failures []string // what was wrong then

	Err string // of the worker itself
}

// work is the worker.
func work(dir string) error {
	if os.Getenv(envBystander) != "" {
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	w, err := enter(dir)
	if err != nil {
		return err
	}
	if stop, err := startBystander(dir); err != nil {
		return err
	} else {
		defer stop()
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q question
		switch err := in.Decode(&q); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		a, err := w.answer(q)
		if err != nil {
			a.Err = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

// enter makes the world of a process that is the first of its pid namespace.
func enter(dir string) (*world, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return nil, fmt.Errorf("mount /proc of the new pid namespace: %w", err)
	}
	w := &world{dir: dir, pid: strconv.Itoa(os.Getpid()), host: proc.Root.Host(), references: map[string]*reference{}}
	st, err := proc.Root.Stat(os.Getpid())
	if err != nil {
		return nil, err
	}
	w.start = st.Start
	return w, os.MkdirAll(w.home(), 0o700)
}

func startBystander(dir string) (stop func(), err error) {
	cmd := exec.Command(filepath.Join(filepath.Dir(dir), bystander))
	cmd.Env = append(os.Environ(), envBystander+"=1")
	cmd.Dir = dir
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return func() { cmd.Process.Kill() }, cmd.Start()
}

// command is a run of one of the programs.
type command struct {
	program string
	args    []string // {PID} is the worker
	input   func(*world) string

	installed bool // even under strace
}

// ran is how a program ended and what it printed.
type ran struct {
	stdout, stderr string
	status         int    // -1: it was killed
	signal         string // that killed it
	shell          int    // status of the shell form that install writes, for a hook
	trace          []event
}

func (r ran) String() string {
	if r.signal != "" {
		return "killed by " + r.signal
	}
	return "exit status " + strconv.Itoa(r.status)
}

// patience is how long a program may take under strace, on a busy machine.
const patience = 60 * time.Second

// exec runs a command, as it is or under what is to run it.
func (w *world) exec(c command, under ...string) (ran, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bin := filepath.Dir(w.dir)
	if len(under) > 0 && !c.installed {
		bin = filepath.Join(bin, tracedDir)
	}
	argv := append(under, filepath.Join(bin, c.program))
	for _, arg := range c.args {
		argv = append(argv, strings.ReplaceAll(arg, "{PID}", w.pid))
	}
	if c.program == hookProgram { // as install enters it
		argv = append([]string{"sh", "-c", `"$@" || :`, "sh"}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = w.dir
	if c.input != nil {
		cmd.Stdin = strings.NewReader(c.input(w))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// With its children: what strace traces goes on without it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if exit := new(exec.ExitError); ctx.Err() != nil {
		return ran{}, fmt.Errorf("%s: not done after %v", strings.Join(argv, " "), patience)
	} else if err != nil && !errors.As(err, &exit) {
		return ran{}, err
	}
	reap()
	status := cmd.ProcessState.ExitCode()
	return ran{stdout: stdout.String(), stderr: stderr.String(), status: status, shell: status}, nil
}

// reap takes leave of processes whose parent did not wait for them, as the
// first process of a pid namespace has to: a scan would find them.
func reap() {
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}

// traced runs a command under strace.
func (w *world) traced(c command, options ...string) (ran, error) {
	file := filepath.Join(w.dir, "trace")
	strace := append([]string{"strace", "-f", "-q", "-y", "-s", "0", "-o", file}, options...)
	r, err := w.exec(c, strace...)
	if err != nil {
		return r, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, r.stderr)
	}
	if r.trace, err = parseTrace(string(text)); err != nil {
		return r, err
	}
	if len(r.trace) == 0 {
		return r, fmt.Errorf("strace: %s", r.stderr)
	}
	var ok bool
	if r.status, r.signal, ok = end(mainThread(r.trace)); !ok {
		return r, fmt.Errorf("the trace has no end: %s", text)
	}
	return r, nil
}

// record is a record of this host, of the worker's process unless change says
// something else.
func (w *world) record(session string, change func(*fsstore.Record)) *fsstore.Record {
	now := time.Now().Unix()
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: agent, Session: session},
		Kind: fsstore.KindSession, Identity: fsstore.Identified, PID: w.pid, ProcessStart: w.start,
		Status: fsstore.Running, Detail: "processing prompt", TS: now, Started: now, Arrival: 1,
		Repo: "app", Cwd: "/src/app", Source: fsstore.SourceHook, LastEvent: agent + ".prompt-submit",
		Mode: fsstore.Interactive, Resume: []string{agent, "--resume", session},
		Focus:  fsstore.Focus{Kind: fsstore.FocusUnavailable},
		BootID: w.host.BootID, PIDNamespace: w.host.PIDNamespace, MachineID: w.host.MachineID,
	}
	if change != nil {
		change(r)
	}
	r.Instance = r.PID + ":" + r.ProcessStart
	return r
}

// store writes records as an import does.
func (w *world) store(records ...*fsstore.Record) error {
	s, err := fsstore.Open(w.state(), fsstore.Create)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, r := range records {
		if _, err := s.Import(r, patience); err != nil {
			return err
		}
	}
	return nil
}

// nameDigests adds the names of the sessions in the store to those of their
// digests.
func (w *world) nameDigests(digests map[string]string) error {
	return w.files(func(path string, _ fs.FileInfo) error {
		digest := roleDigest.FindString(filepath.Base(path))
		text, err := os.ReadFile(path)
		if err != nil || digest == "" || filepath.Ext(path) != ".json" {
			return err
		}
		r, err := fsstore.Decode(text)
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(r.Session, " ", "-")
		if r.Kind == fsstore.KindProcess { // named by a pid
			name = "process"
		}
		digests[digest], digests[r.SessionDigest()] = "("+name+")", "("+name+")"
		return nil
	})
}

// lines are records as an import takes them.
func lines(records ...*fsstore.Record) string {
	var b []byte
	for _, r := range records {
		b = append(r.AppendJSON(b), '\n')
	}
	return string(b)
}
