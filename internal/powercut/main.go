// The constraint of every file here is go-fuse's, which 32 bits are too few for.

//go:build !(386 || arm)

// Command powercut shows what of a store survives a power cut. It runs the
// programs on real file systems, whose disk is a file in user space that notes
// every write and every flush. Then it makes the disk as a power cut at some
// moment could have left it, mounts that, and looks: everything up to the last
// flush is there, and of what was written since then any part.
//
// A record must be one that was written, or none that a reader takes for one;
// what the maintenance has made durable in the archive must be there; and the
// next event and the next maintenance must do their work.
//
//	powercut [-bin DIR] [-fs NAME,...] [-cuts N] [-seed N]
//
// It needs root, the loop and fuse drivers, and the mkfs programs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tongs-agents/internal/blockfs"
	"tongs-agents/internal/namespace"
)

func main() {
	bin := flag.String("bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	names := flag.String("fs", strings.Join(names(), ","), "file `systems`")
	cuts := flag.Int("cuts", 100, "power cuts at random moments for each file system, besides those at every flush")
	seed := flag.Uint64("seed", 1, "of the moments, and of what is lost")
	flag.Parse()
	var err error
	if dir := namespace.Dir(); dir != "" {
		err = run(dir, *bin, strings.Split(*names, ","), *cuts, *seed)
	} else if err = namespace.Run("claude"); errors.As(err, new(*exec.ExitError)) {
		os.Exit(1) // it has said why
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "powercut:", err)
		os.Exit(1)
	}
}

func names() []string {
	var all []string
	for _, f := range blockfs.All {
		all = append(all, f.Name)
	}
	return all
}

func run(dir, bin string, names []string, cuts int, seed uint64) error {
	ctx, err := namespace.Enter()
	if err != nil {
		return err
	}
	for _, device := range []string{"/dev/fuse", "/dev/loop-control"} {
		if _, err := os.Stat(device); err != nil {
			return fmt.Errorf("%w: this machine, or its container, has no such device", err)
		}
	}
	bin, err = filepath.Abs(bin)
	if err != nil {
		return err
	}
	for _, program := range []string{cliProgram, hookProgram} {
		if _, err := os.Stat(filepath.Join(bin, program)); err != nil {
			return fmt.Errorf("%w: make build first", err)
		}
	}
	shelf, err := newShelf(filepath.Join(dir, "disks"))
	if err != nil {
		return err
	}
	began := time.Now()
	var rows []row
	for _, name := range names {
		i := slices.IndexFunc(blockfs.All, func(f blockfs.FileSystem) bool { return f.Name == name })
		if i < 0 {
			return fmt.Errorf("-fs %s: not one of %s", name, strings.Join(names, ", "))
		}
		m := &machine{ctx: ctx, dir: dir, bin: bin, shelf: shelf, FileSystem: blockfs.All[i]}
		r, err := m.try(cuts, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, r)
	}
	printTable(os.Stdout, rows)
	fmt.Printf("\n%v, seed %d.\n", time.Since(began).Round(time.Second), seed)
	for _, r := range rows {
		if r.failures > 0 {
			return errors.New("what was promised is lost")
		}
	}
	return nil
}
