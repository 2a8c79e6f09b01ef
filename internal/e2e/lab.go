package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lab is where one agent runs: a home, a directory, a store, a terminal and a
// model of its own.
type lab struct {
	agent       *agent
	model       *model
	work, state string // directories
	program     string // tongs-agents
	env         []string
	expand      *strings.Replacer // of what the table says
	terminal    terminal
}

// startLab installs our hooks into a new home below dir.
func startLab(ctx context.Context, a *agent, m *model, dir, bin string, c cache) (*lab, error) {
	nodeModules, err := c.install(ctx, node())
	if err != nil {
		return nil, err
	}
	modules, err := c.install(ctx, release{a.id, a.pkg, a.version})
	if err != nil {
		return nil, err
	}
	home, temp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	l := &lab{
		agent: a, model: m, work: filepath.Join(dir, "work"), state: filepath.Join(dir, "state"),
		program: filepath.Join(bin, "tongs-agents"),
	}
	for _, d := range []string{home, temp, l.work} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	l.expand = strings.NewReplacer("{url}", m.url, "{model}", modelName, "{work}", l.work)
	l.env = []string{
		"HOME=" + home, "TMPDIR=" + temp, "TONGS_AGENTS_STATE_DIR=" + l.state,
		"PATH=" + strings.Join([]string{filepath.Join(nodeModules, node().pkg, "bin"), filepath.Join(modules, ".bin"), os.Getenv("PATH")}, ":"),
		"SHELL=/bin/sh", "TERM=xterm-256color", "LANG=C.UTF-8",
	}
	for _, v := range a.env {
		l.env = append(l.env, l.expand.Replace(v))
	}
	for name, text := range a.files {
		if err := write(filepath.Join(home, name), l.expand.Replace(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{allowedTool, guardedTool} {
		if err := write(filepath.Join(l.work, name), toolScript, 0o700); err != nil {
			return nil, err
		}
	}
	if _, err := l.run(ctx, "git", "init", "-q", "."); err != nil {
		return nil, err
	}
	if _, err := l.run(ctx, l.program, "install", "--agent", a.id); err != nil {
		return nil, err
	}
	if len(a.prepare) > 0 {
		ctx, cancel := context.WithTimeout(ctx, fetching)
		defer cancel()
		if _, err := l.run(ctx, "env", l.command(a.prepare, "")...); err != nil {
			return nil, err
		}
	}
	l.terminal, err = startTerminal(ctx, dir, l.env)
	return l, err
}

// command returns a command line of the table.
func (l *lab) command(argv []string, prompt string) []string {
	var words []string
	for _, word := range argv {
		words = append(words, strings.ReplaceAll(l.expand.Replace(word), "{prompt}", prompt))
	}
	return words
}

func write(path, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}

// run runs a program in the lab and returns what it prints on standard output.
func (l *lab) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = l.work, l.env, &stderr
	cmd.WaitDelay = again // what it leaves behind may hold its output
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, stderr.Bytes(), out)
	}
	return out, nil
}

// row is a session as the listings have it.
type row struct {
	ID      string `json:"canonical_id"`
	Session string `json:"session_id"`
	Kind    string `json:"record_kind"`
	Harness string `json:"harness_id"`
	PID     string `json:"pid"`
	Cwd     string `json:"cwd"`
	Status  string `json:"status"`
	Detail  string `json:"detail"`
	Tool    string `json:"tool"`
	Mode    string `json:"mode"`
	Event   string `json:"last_event"`
	TTY     string `json:"tty"`
}

func (r row) String() string {
	return fmt.Sprintf("%s %s, tool %q, detail %q, mode %s, pid %s, tty %q, last event %s", r.Session, r.Status, r.Tool, r.Detail, r.Mode, r.PID, r.TTY, r.Event)
}

// list returns the rows of a listing command.
func (l *lab) list(ctx context.Context, command string) ([]row, error) {
	out, err := l.run(ctx, l.program, command, "--json")
	if err != nil {
		return nil, err
	}
	var listing struct{ Sessions []row }
	if err := json.Unmarshal(out, &listing); err != nil {
		return nil, fmt.Errorf("tongs-agents %s: %w", command, err)
	}
	return listing.Sessions, nil
}

func (l *lab) cleanup(ctx context.Context) error {
	_, err := l.run(ctx, l.program, "cleanup")
	return err
}

// hookErrors returns what hooks could not do since it was last asked.
func (l *lab) hookErrors() error {
	path := filepath.Join(l.state, "hook-errors")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("hook-errors: %s", text), os.Remove(path))
}
