// Command e2e tests the hooks on real coding agents: it installs pinned
// releases from npm, enters our hooks with tongs-agents install, drives each
// agent as a user would, in tmux, and compares what the listing says with what
// the agent does. The language model is a stand-in of its own, so nothing is
// asked of a vendor. docs/testing.md has what it needs and how to read it.
//
//	e2e [-bin DIR] [-steps STEP,...] [-keep] [AGENT...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	bin := flag.String("bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	only := flag.String("steps", "", "only these steps, separated by commas")
	keep := flag.Bool("keep", false, "keep the homes, directories and stores, and say where")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, *bin, *only, *keep, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, only string, keep bool, ids []string) error {
	chosenAgents, err := choose("agent", agents, ids, func(a *agent) string { return a.id })
	if err != nil {
		return err
	}
	var names []string
	if only != "" {
		names = strings.Split(only, ",")
	}
	chosenSteps, err := choose("step", steps, names, func(s step) string { return s.name })
	if err != nil {
		return err
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	for _, program := range []string{"npm", "tmux", "git", filepath.Join(bin, "tongs-agents"), filepath.Join(bin, "tongs-agents-hook")} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: it needs npm (of Node.js), tmux, git, and what make build makes", err)
		}
	}
	cache, err := openCache()
	if err != nil {
		return err
	}
	if err := adopt(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tongs-agents-e2e-")
	if err != nil {
		return err
	}
	if keep {
		defer fmt.Println("kept:", dir)
	} else {
		defer os.RemoveAll(dir)
	}

	result := newReport(chosenSteps)
	for _, a := range chosenAgents {
		if err := act(ctx, a, filepath.Join(dir, a.id), bin, cache, chosenSteps, result); err != nil {
			return err
		}
	}
	fmt.Print(result)
	if result.failed > 0 {
		return fmt.Errorf("%d steps failed", result.failed)
	}
	return nil
}

// choose returns the named ones of all, or all for no names.
func choose[T any](kind string, all []T, names []string, name func(T) string) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, one := range all {
		known = append(known, name(one))
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("no %s %q; there are %s", kind, n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !slices.Contains(names, name(one)) }), nil
}

// hopeless is after how many failed steps in a row an agent is given up.
const hopeless = 3

// act takes the steps with one agent. Whatever it has started has ended when it
// returns. The error is one that concerns the other agents, too.
func act(ctx context.Context, a *agent, dir, bin string, c cache, chosen []step, result *report) (err error) {
	defer func() { err = errors.Join(err, endBelow(os.Getpid())) }()
	m, err := startModel()
	if err != nil {
		return err
	}
	defer m.stop()
	l, labErr := startLab(ctx, a, m, dir, bin, c)
	s := &stage{lab: l}
	inARow := 0 // failed steps
	for i, step := range chosen {
		begin := time.Now()
		var err error
		switch {
		case labErr != nil && i == 0:
			err = labErr
		case labErr != nil || inARow == hopeless:
			err = errors.New("not tried")
		default:
			err = s.try(ctx, step)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		inARow++
		if err == nil {
			inARow = 0
		}
		result.add(a, step, time.Since(begin), err)
	}
	return nil
}

// try takes a step. The error of one that fails has what tells why.
func (s *stage) try(ctx context.Context, step step) error {
	err := step.take(s, ctx)
	if err == nil {
		err = s.hookErrors()
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return errors.Join(fmt.Errorf("%w\n%s", err, s.evidence(ctx)), s.abandon(ctx))
}
