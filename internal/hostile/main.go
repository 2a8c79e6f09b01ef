// The constraint of every file here is go-fuse's, which 32 bits are too few for.

//go:build !(386 || arm)

// Command hostile gives the programs what an attacker would: texts in every
// field of a session that act on terminals, shells, bars and parsers; store
// directories prepared by another user; processes with names made to mislead;
// and file systems and homes on which locks, identities and owners are not what
// they seem. Of each it runs the real programs, and lets a judge that is not
// ours look at what they do: shells, tmux, parsers, the file system itself.
//
//	hostile [-bin DIR] [-part NAME,...] [-only REGEXP] [-every K]
//
// It prints a table for each part and, above it, what was wrong. The exit status
// is 1 if anything was. It needs root and what .ci/run installs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tongs-agents/internal/namespace"
)

// part is a kind of hostile input.
type part struct {
	name string
	try  func(*world) error
}

var parts = []part{
	{"texts", tryTexts},
	{"stores", tryStores},
	{"processes", tryProcesses},
	{"homes", tryHomes},
}

func main() {
	if play() {
		return
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	var o options
	bin := flag.String("bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	chosen := flag.String("part", strings.Join(names, ","), "`parts`")
	only := flag.String("only", "", "only what matches this regular `expression`: the texts, the shapes of a store, the processes, the homes")
	flag.IntVar(&o.every, "every", 1, "only every `K`th text, or shape of a store")
	flag.Parse()
	err := func() (err error) {
		if o.only, err = regexp.Compile(*only); err != nil {
			return err
		}
		if o.every < 1 {
			return errors.New("-every: less than 1")
		}
		if dir := namespace.Dir(); dir != "" {
			return run(dir, *bin, strings.Split(*chosen, ","), o)
		}
		if err = namespace.Run(agentName); errors.As(err, new(*exec.ExitError)) {
			os.Exit(1) // it has said why
		}
		return err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// options choose what is tried.
type options struct {
	only  *regexp.Regexp
	every int
}

// chosen reports whether the nth of a list is tried.
func (o options) chosen(n int, name string) bool { return n%o.every == 0 && o.only.MatchString(name) }

// agentName is the name of this program: that of an agent, so that the hooks
// which it starts find it as their owner.
const agentName = "claude"

func run(dir, bin string, names []string, o options) error {
	ctx, err := namespace.Enter()
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, dir, bin, o)
	if err != nil {
		return err
	}
	defer w.close()
	began := time.Now()
	for _, name := range names {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("-part %s: there is none of that name", name)
		}
		if err := parts[i].try(w); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println()
	}
	fmt.Printf("%d checks in %v.\n", w.checks, time.Since(began).Round(time.Second))
	switch {
	case w.failures > 0:
		return fmt.Errorf("%d of %d checks have failed", w.failures, w.checks)
	case w.checks == 0:
		return errors.New("nothing was checked")
	}
	return nil
}

// needs says which programs are missing.
func needs(programs ...string) error {
	var missing []string
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("install %s", strings.Join(missing, " "))
	}
	return nil
}

// world is where the programs run.
type world struct {
	ctx context.Context // done: stop between two programs
	options
	dir, bin string
	closers  []func()

	mu               sync.Mutex
	checks, failures int
}

const (
	cliProgram  = "tongs-agents"
	hookProgram = "tongs-agents-hook"
)

func newWorld(ctx context.Context, dir, bin string, o options) (*world, error) {
	w := &world{ctx: ctx, options: o, dir: dir, bin: filepath.Join(dir, "bin")}
	if err := os.Chmod(dir, 0o755); err != nil { // some programs run as other users
		return nil, err
	}
	for _, sub := range []string{"bin", "home"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	for _, program := range []string{cliProgram, hookProgram} {
		text, err := os.ReadFile(filepath.Join(bin, program))
		if err != nil {
			return nil, fmt.Errorf("%w: make build first", err)
		}
		if err := os.WriteFile(filepath.Join(w.bin, program), text, 0o755); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// atEnd runs f when the world ends.
func (w *world) atEnd(f func()) { w.closers = append(w.closers, f) }

func (w *world) close() {
	for _, f := range slices.Backward(w.closers) {
		f()
	}
}

// tally counts the checks of a row of a table.
type tally struct {
	w                *world
	what             string // that is checked
	checks, failures int
}

// check prints what is wrong, unless it is right.
func (t *tally) check(ok bool, format string, args ...any) bool {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.checks++
	t.w.checks++
	if !ok {
		t.failures++
		t.w.failures++
		fmt.Printf("%s: %s\n", t.what, shortened(fmt.Sprintf(format, args...)))
	}
	return ok
}

// shortened keeps a line readable whose texts may have 64 KiB.
func shortened(s string) string {
	const most = 2000
	if len(s) > most {
		return s[:most] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}
