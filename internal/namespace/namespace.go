// Package namespace runs a program of the tests in a mount namespace of its
// own, so that nothing stays mounted when it ends, and in a pid namespace, so
// that the maintenance finds no agents but the program's.
package namespace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// envDir names the temporary directory of the program that runs in namespaces.
const envDir = "TONGS_AGENTS_NAMESPACE_DIR"

// Dir is a temporary directory that goes with the namespaces, and empty outside
// of them.
func Dir() string { return os.Getenv(envDir) }

// Run runs this program again, in namespaces and under the name of an agent,
// whose sessions are then its. An *exec.ExitError is the program's own.
//
// The one that runs must not be killed: what it has mounted may be answered by
// itself. It ends by itself once its standard input does, which this process
// holds, also on Ctrl-C.
func Run(name string) error {
	if os.Geteuid() != 0 {
		return errors.New("only root can mount a file system")
	}
	dir, err := os.MkdirTemp("", "tongs-agents-")
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
	agent := filepath.Join(dir, name) // the kernel takes comm from the file
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

// Enter is the first thing to do there. The context is done once the program
// is to end.
func Enter() (context.Context, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("make mounts private: %w: the container forbids it", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return nil, fmt.Errorf("mount /proc of the new pid namespace: %w", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel(errors.New("interrupted"))
	}()
	return ctx, nil
}
