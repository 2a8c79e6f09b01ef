package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// terminal is a tmux server of our own. It goes with the processes of the lab.
type terminal struct {
	socket string
	env    []string // of what runs in it
}

func (t terminal) tmux(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-f", "/dev/null", "-S", t.socket}, args...)...)
	cmd.Env = t.env
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, output)
	}
	return strings.TrimRight(string(output), "\n"), nil
}

func startTerminal(ctx context.Context, dir string, env []string) (terminal, error) {
	t := terminal{socket: filepath.Join(dir, "tmux"), env: env}
	// The first window keeps the server when all agents have gone; one that has gone keeps its screen.
	_, err := t.tmux(ctx, "new-session", "-d", "-x", "140", "-y", "50", "cat", ";", "set-option", "-g", "remain-on-exit", "on")
	return t, err
}

// pane is one program in a terminal.
type pane struct {
	terminal
	id  string
	pid int
}

func (t terminal) open(ctx context.Context, dir string, argv ...string) (*pane, error) {
	// With several arguments tmux runs the program itself, without a shell.
	out, err := t.tmux(ctx, append([]string{"new-window", "-d", "-P", "-F", "#{pane_id} #{pane_pid}", "-c", dir, "--", "env"}, argv...)...)
	if err != nil {
		return nil, err
	}
	id, pid, _ := strings.Cut(out, " ")
	p := &pane{terminal: t, id: id}
	p.pid, err = strconv.Atoi(pid)
	return p, err
}

// screen is what the user sees.
func (p *pane) screen(ctx context.Context) (string, error) {
	return p.tmux(ctx, "capture-pane", "-p", "-t", p.id)
}

// press presses keys, as tmux calls them, one after the other; those of one
// text, with spaces between, at once. To many programs Escape and another key
// at once are Alt and that key.
func (p *pane) press(ctx context.Context, keys ...string) error {
	for i, atOnce := range keys {
		if i > 0 {
			time.Sleep(pause)
		}
		if _, err := p.tmux(ctx, append([]string{"send-keys", "-t", p.id}, strings.Fields(atOnce)...)...); err != nil {
			return err
		}
	}
	return nil
}

// write types a text and waits for it on the screen: some agents take what
// comes at once, with Enter, for something that was pasted. One that does not
// come is typed again, on an empty line.
func (p *pane) write(ctx context.Context, text string) error {
	typeIt := func() error {
		_, err := p.tmux(ctx, "send-keys", "-t", p.id, "-l", "--", text)
		return err
	}
	if err := typeIt(); err != nil {
		return err
	}
	typed := time.Now()
	return until(ctx, func() error {
		screen, err := p.screen(ctx)
		if err != nil || strings.Contains(screen, text) {
			return err
		}
		if time.Since(typed) > again {
			err = errors.Join(p.press(ctx, "C-u"), typeIt())
			typed = time.Now()
		}
		return errors.Join(err, fmt.Errorf("%q does not come on the screen", text))
	})
}
