// Command bench measures whole processes: the hook and the listing of a store
// against programs that do as little as could be done.
//
// Every figure that counts is a ratio of two programs that ran alternately, a
// pair at a time, since no machine is quiet: the ratio of the medians, and the
// 10th and 90th percentile of the pairs. The stores are in a temporary
// directory, so TMPDIR says on which file system.
//
//	bench [-bin DIR] [-n PAIRS] [-quick]
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
	"syscall"
	"time"
)

// envDir is the temporary directory of a bench under way.
const envDir = "TONGS_AGENTS_BENCH_DIR"

func main() {
	bin := flag.String("bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	n := flag.Int("n", 200, "pairs of runs of a short-lived program")
	quick := flag.Bool("quick", false, "a tenth of the runs, and no store of 10,000 records")
	flag.Parse()
	var err error
	if dir := os.Getenv(envDir); dir == "" {
		err = stage()
	} else {
		err = bench(dir, *bin, *n, *quick)
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Exited() {
		os.Exit(exit.ExitCode()) // it has said why
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// stage runs this program again under the name of an agent, so that the hooks
// it starts find it as their owner. The kernel takes comm from the file.
func stage() error {
	dir, err := os.MkdirTemp("", "tongs-agents-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	agent := filepath.Join(dir, "claude")
	if err := os.WriteFile(agent, program, 0o700); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // three times what it takes
	defer cancel()
	cmd := exec.CommandContext(ctx, agent, os.Args[1:]...)
	cmd.Env = append(os.Environ(), envDir+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func bench(dir, bin string, n int, quick bool) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	b := &run{dir: dir, bin: bin, n: n, sizes: []int{10, 1000, 10000}, quick: quick}
	if quick {
		b.n, b.sizes = max(n/10, 3), []int{10, 1000}
	}
	if err := b.setUp(); err != nil {
		return err
	}
	fmt.Println(machine())
	for _, section := range []func(*run) error{oneEvent, otherEvents, storeSize, payloadSize, listings, peers, cleanup, monitor} {
		if err := section(b); err != nil {
			return err
		}
	}
	fmt.Printf("\nLoad of the machine at the end: %s.\n", load())
	return nil
}
