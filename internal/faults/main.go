// Command faults proves that a crash or a failing system call at any moment
// leaves the store whole. It runs each program under strace(1), which kills it
// at one system call, or makes that call fail, and looks at what is left: every
// call of the run, and every error that the call can give.
//
// What a reader sees must be the old or the new state of each session, nothing
// may stay locked, the next event and the next maintenance must do their work,
// and no litter may remain.
//
//	faults [-bin DIR] [-scenario REGEXP] [-call REGEXP] [-every K]
//
// It prints a table and, above it, what was wrong. The exit status is 1 if
// anything was.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"
)

func main() {
	if dir := os.Getenv(envWorld); dir != "" {
		if err := work(dir); err != nil {
			fatal(err)
		}
		return
	}
	bin := flag.String("bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	only := flag.String("scenario", "", "only scenarios whose name matches this regular `expression`")
	call := flag.String("call", "", "only faults whose description matches this regular `expression`")
	every := flag.Int("every", 1, "only every `K`th fault")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ok, err := faults(ctx, *bin, *only, *call, *every)
	switch {
	case err != nil:
		fatal(err)
	case !ok:
		os.Exit(1)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "faults:", err)
	os.Exit(1)
}

// faults reports whether nothing was wrong.
func faults(ctx context.Context, bin, only, call string, every int) (bool, error) {
	scenarioRE, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	callRE, err := regexp.Compile(call)
	if err != nil {
		return false, err
	}
	if every < 1 {
		return false, errors.New("-every: less than 1")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		return false, fmt.Errorf("%w: install strace", err)
	}
	dir, err := os.MkdirTemp("", "tongs-agents-faults-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := stage(dir, bin); err != nil {
		return false, err
	}
	pool, err := newPool(ctx, dir, runtime.GOMAXPROCS(0))
	if err != nil {
		return false, err
	}
	defer pool.stop()

	began := time.Now()
	var rows []row
	for _, s := range scenarios {
		if !scenarioRE.MatchString(s.name) {
			continue
		}
		r, err := pool.run(s.name, callRE, every)
		if err != nil {
			return false, fmt.Errorf("%s: %w", s.name, err)
		}
		rows = append(rows, r...)
	}
	if err := printTable(os.Stdout, rows); err != nil {
		return false, err
	}
	fmt.Printf("\n%v with %d workers", time.Since(began).Round(time.Second), len(pool))
	if every > 1 {
		fmt.Printf(", every %dth fault", every)
	}
	fmt.Println(".")
	ok := len(rows) > 0
	for _, r := range rows {
		ok = ok && r.failures == 0 && (r.missed == 0 || r.runtime)
	}
	return ok, nil
}

// pool are the workers.
type pool []*worker

// worker is this program in a world of its own, see world.
type worker struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *json.Decoder
}

func newPool(ctx context.Context, dir string, n int) (pool, error) {
	var p pool
	for i := range n {
		w, err := startWorker(ctx, dir, filepath.Join(dir, fmt.Sprintf("world-%d", i)))
		if err != nil {
			p.stop()
			return nil, err
		}
		p = append(p, w)
	}
	return p, nil
}

// startWorker starts a worker as the first process of a pid namespace: there
// the scan of the maintenance sees the processes of its world alone. A user
// may make one only together with a namespace of users.
func startWorker(ctx context.Context, dir, world string) (*worker, error) {
	if err := os.Mkdir(world, 0o700); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, agent))
	cmd.Env = worldEnv(world)
	cmd.Dir = world
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid := os.Geteuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("a new pid namespace: %w: run as root, or allow namespaces of users", err)
	}
	return &worker{cmd, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

func (w *worker) ask(q question) (answer, error) {
	var a answer
	if err := w.in.Encode(q); err != nil {
		return a, err
	}
	if err := w.out.Decode(&a); err != nil {
		return a, err
	}
	if a.Err != "" {
		return a, errors.New(a.Err)
	}
	return a, nil
}

func (p pool) stop() {
	for _, w := range p {
		w.cmd.Process.Kill()
		w.cmd.Wait()
	}
}

// run tries the faults of one scenario.
func (p pool) run(scenario string, call *regexp.Regexp, every int) ([]row, error) {
	a, err := p[0].ask(question{Scenario: scenario})
	if err != nil {
		return nil, err
	}
	all, err := plan(a.Calls)
	if err != nil {
		return nil, err
	}
	var chosen []trial
	for i, t := range all {
		if i%every == 0 && call.MatchString(t.String()) {
			chosen = append(chosen, t)
		}
	}
	questions := make(chan trial, len(chosen))
	for _, t := range chosen {
		questions <- t
	}
	close(questions)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
		ours = row{scenario: scenario, calls: count(a.Calls, false)}
		gos  = row{scenario: scenario, runtime: true, calls: count(a.Calls, true)}
	)
	for _, w := range p {
		wg.Go(func() {
			for t := range questions {
				a, err := w.ask(question{scenario, &t})
				mu.Lock()
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", t, err))
					mu.Unlock()
					return
				}
				r := &ours
				if t.Call.Runtime {
					r = &gos
				}
				r.add(t, a)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return []row{ours, gos}, errors.Join(errs...)
}
