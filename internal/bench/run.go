package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

// run is a bench under way.
type run struct {
	dir, bin string
	n        int   // pairs
	sizes    []int // of stores
	quick    bool
}

func (b *run) setUp() error {
	for _, name := range []string{"tongs-agents", "tongs-agents-hook"} {
		if err := b.copy(filepath.Join(b.bin, name)); err != nil {
			return fmt.Errorf("%w: make build first", err)
		}
	}
	if err := os.Mkdir(filepath.Join(b.dir, "home"), 0o700); err != nil {
		return err
	}
	for _, n := range b.sizes {
		if err := fill(b.state(n), n); err != nil {
			return err
		}
	}
	return nil
}

// state is the state directory with the records of n other sessions.
func (b *run) state(n int) string { return filepath.Join(b.dir, "state-"+strconv.Itoa(n)) }

// hook is the hook with a payload.
func (b *run) hook(name, state string, payload []byte) *program {
	return &program{
		name: name, argv: []string{filepath.Join(b.bin, "tongs-agents-hook")}, env: b.env(state),
		input: func() []byte { return payload },
	}
}

// env is the environment of every program: that of a shell in tmux, and
// nothing of who runs the bench.
func (b *run) env(state string) []string {
	return []string{
		"TONGS_AGENTS_STATE_DIR=" + state, "HOME=" + filepath.Join(b.dir, "home"), "TMPDIR=" + b.dir,
		"PATH=" + os.Getenv("PATH"), "USER=me", "LOGNAME=me", "SHELL=/bin/bash", "LANG=C.UTF-8", "PWD=" + cwd,
		"TERM=tmux-256color", "COLORTERM=truecolor", "TERM_PROGRAM=tmux", "TERM_PROGRAM_VERSION=3.5a",
		"TMUX=/tmp/tmux-1000/default,3120,0", "TMUX_PANE=%12", "SHLVL=2", "EDITOR=vim", "PAGER=less",
		"DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0", "XDG_RUNTIME_DIR=/run/user/1000", "XDG_SESSION_TYPE=wayland",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus", "SSH_AUTH_SOCK=/run/user/1000/ssh-agent",
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR=" + cwd, "NODE_OPTIONS=", "_=/usr/bin/env",
	}
}

// owned returns the record that the hook keeps of this process.
func owned(state string) (*fsstore.Record, error) {
	store, err := fsstore.Open(state, fsstore.Read)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	all, bad, err := store.All()
	if err != nil || len(bad) > 0 {
		return nil, fmt.Errorf("store: %v %v", bad, err)
	}
	for _, r := range all {
		if r.Session == session && r.PID == strconv.Itoa(os.Getpid()) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("the hook has made no record of this process in %s", state)
}

// checked are rounds of which each must have updated the record in state.
func (b *run) checked(state string, n int, programs ...*program) ([][]sample, error) {
	if _, err := once(b.hook("first event", state, prompt(session))); err != nil {
		return nil, err
	}
	before, err := owned(state)
	if err != nil {
		return nil, err
	}
	samples, err := rounds(n, programs...)
	if err != nil {
		return nil, err
	}
	after, err := owned(state)
	if err == nil && after.Arrival < before.Arrival+int64(n) {
		err = fmt.Errorf("%d events, but %d writes", n, after.Arrival-before.Arrival)
	}
	return samples, err
}

func machine() string {
	var u unix.Utsname
	unix.Uname(&u)
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name\t: "); ok {
			model, _, _ = strings.Cut(rest, "\n")
		}
	}
	var set unix.CPUSet
	unix.SchedGetaffinity(0, &set)
	return fmt.Sprintf("%s, %d processors, Linux %s, load %s.", model, set.Count(), unix.ByteSliceToString(u.Release[:]), load())
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}
