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
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// envDir is the temporary directory of a run under way, in a mount namespace of
// its own.
const envDir = "POWERCUT_DIR"

func main() {
	bin := flag.String("bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	names := flag.String("fs", strings.Join(names(), ","), "file `systems`")
	cuts := flag.Int("cuts", 100, "power cuts at random moments for each file system, besides those at every flush")
	seed := flag.Uint64("seed", 1, "of the moments, and of what is lost")
	flag.Parse()
	var err error
	if dir := os.Getenv(envDir); dir != "" {
		err = run(dir, *bin, strings.Split(*names, ","), *cuts, *seed)
	} else if err = stage(); errors.As(err, new(*exec.ExitError)) {
		os.Exit(1) // it has said why
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "powercut:", err)
		os.Exit(1)
	}
}

// stage runs this program again in a mount namespace, so that nothing stays
// mounted when it ends, and in a pid namespace, so that the maintenance finds no
// agents but ours.
//
// The one that runs must not be killed: its disks are mounted, and nobody else
// could answer what the kernel still asks of them. It ends by itself once its
// standard input does, which this process holds.
func stage() error {
	if os.Geteuid() != 0 {
		return errors.New("only root can mount a file system: sudo make powercut")
	}
	for _, device := range []string{"/dev/fuse", "/dev/loop-control"} {
		if _, err := os.Stat(device); err != nil {
			return fmt.Errorf("%w: this machine, or its container, has no such device", err)
		}
	}
	dir, err := os.MkdirTemp("", "tongs-agents-powercut-")
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
	agent := filepath.Join(dir, "claude") // the sessions are its
	if err := os.WriteFile(agent, program, 0o700); err != nil {
		return err
	}
	cmd := exec.Command(agent, os.Args[1:]...)
	cmd.Env = append(os.Environ(), envDir+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Setpgid:    true, // Ctrl-C is for this process
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, func() { in.Close() })
	return cmd.Run()
}

func run(dir, bin string, names []string, cuts int, seed uint64) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w: the container forbids it", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc of the new pid namespace: %w", err)
	}
	bin, err := filepath.Abs(bin)
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
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel(errors.New("interrupted"))
	}()
	began := time.Now()
	var rows []row
	for _, name := range names {
		i := slices.IndexFunc(fileSystems, func(f fileSystem) bool { return f.name == name })
		if i < 0 {
			return fmt.Errorf("-fs %s: not one of %s", name, strings.Join(names, ", "))
		}
		m := &machine{ctx: ctx, dir: dir, bin: bin, shelf: shelf, fileSystem: fileSystems[i]}
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
