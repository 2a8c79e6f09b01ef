//go:build !(386 || arm)

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// command is a run of a program.
type command struct {
	argv  []string // a program of ours is found in bin
	input string
	env   []string // beside that of the world
	dir   string   // "": that of the world
	user  uint32   // 0: root
}

func cli(args ...string) command { return command{argv: append([]string{cliProgram}, args...)} }

// hook is a call of the hook, as a harness does it.
func hook(input string, args ...string) command {
	return command{argv: append([]string{hookProgram}, args...), input: input}
}

func (c command) String() string { return strings.Join(c.argv, " ") }

// ran is how a program ended, what it printed and the memory it took.
type ran struct {
	stdout, stderr string
	status         int // -1: by a signal
	late           bool
	took           time.Duration
	resident       int64 // at its peak, in KiB
}

func (r ran) String() string {
	if r.late {
		return fmt.Sprintf("not done after %v", patience)
	}
	return fmt.Sprintf("exit status %d, stdout %q, stderr %q", r.status, r.stdout, r.stderr)
}

// patience is how long a program may take on a busy machine. One that blocks
// takes for ever.
const patience = 60 * time.Second

// environ is what every program gets.
func (w *world) environ(state string) []string {
	return []string{
		"TONGS_AGENTS_STATE_DIR=" + state, "HOME=" + filepath.Join(w.dir, "home"),
		"PATH=" + w.bin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_ALL=C.UTF-8", "TERM=screen-256color", "TMPDIR=" + w.dir, "TZ=UTC",
		"XDG_RUNTIME_DIR=" + w.dir, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(w.dir, "bus"),
	}
}

// prepare makes the command of a store.
func (w *world) prepare(ctx context.Context, state string, c command) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	if path := filepath.Join(w.bin, c.argv[0]); !strings.Contains(c.argv[0], "/") {
		if _, err := os.Stat(path); err == nil {
			cmd.Path, cmd.Err = path, nil
		}
	}
	cmd.Env = append(w.environ(state), c.env...)
	cmd.Dir = c.dir
	if cmd.Dir == "" {
		cmd.Dir = w.dir
	}
	cmd.Stdin = strings.NewReader(c.input)
	// With its children: strace goes on without them else, and a pipe stays open.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.user, Gid: c.user}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// run runs a command on a store. Only a program that cannot be started is an
// error.
func (w *world) run(state string, c command) (ran, error) {
	if err := context.Cause(w.ctx); err != nil {
		return ran{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := w.prepare(ctx, state, c)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	r := ran{took: time.Since(began), late: ctx.Err() != nil}
	if err != nil && !errors.As(err, new(*exec.ExitError)) && !r.late {
		return r, fmt.Errorf("%s: %w", c, err)
	}
	r.stdout, r.stderr, r.status = stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.resident = int64(usage.Maxrss)
	}
	return r, nil
}

// must runs commands that prepare a trial: they have to succeed, and hooks have
// to be silent.
func (w *world) must(state string, commands ...command) error {
	for _, c := range commands {
		r, err := w.run(state, c)
		if err != nil {
			return err
		}
		if r.status != 0 || r.late || c.argv[0] == hookProgram && r.stdout+r.stderr != "" {
			return fmt.Errorf("%s %s: %v", shortened(c.String()), shortened(c.input), r)
		}
	}
	return nil
}

// alive is the process of this program, as a record names it.
func alive() (pid, start string) {
	st, err := proc.Root.Stat(os.Getpid())
	if err != nil {
		panic(err) // our own
	}
	return strconv.Itoa(os.Getpid()), st.Start
}

// deadPID is of a process that there is not, and so are those after it: a system
// has 2²² at most.
const deadPID = 1<<22 + 1

// record is a valid record of a process, which last reported that it runs.
func record(harness, session, pid, start string) *fsstore.Record {
	host, now := proc.Root.Host(), time.Now().Unix()
	return &fsstore.Record{
		Key:  fsstore.Key{Harness: harness, Session: session, Instance: pid + ":" + start},
		Kind: fsstore.KindSession, Identity: fsstore.Identified, PID: pid, ProcessStart: start,
		Status: fsstore.Running, Detail: "processing prompt", TS: now, Started: now, Arrival: 1,
		Repo: "app", Cwd: "/src/app", Source: fsstore.SourceHook, LastEvent: harness + ".prompt-submit",
		Mode: fsstore.Interactive, Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
		BootID: host.BootID, PIDNamespace: host.PIDNamespace, MachineID: host.MachineID,
	}
}

// importing enters records.
func importing(records ...*fsstore.Record) command {
	c := cli("import")
	for _, r := range records {
		c.input += string(r.AppendJSON(nil)) + "\n"
	}
	return c
}
