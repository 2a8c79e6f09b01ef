package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	cliProgram  = "tongs-agents"
	hookProgram = "tongs-agents-hook"

	// agentProgram is the name of this program where it is an agent, which the
	// hooks that it starts find as their owner. The kernel takes comm from the
	// file.
	agentProgram = "claude"
)

// stage runs this program again as the first process of a pid namespace: the
// maintenance finds no agents but ours, and whatever is started ends with it.
// It ends itself when this process does, however that ends.
func stage() error {
	if _, err := parseConfig(); err != nil { // before anything is made
		return err
	}
	dir, err := os.MkdirTemp("", "tongs-agents-stress-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := copyProgram(self, filepath.Join(dir, agentProgram)); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Env = []string{
		envRole + "=" + roleInit, envDir + "=" + dir, envKeep + "=" + os.TempDir(),
		"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color",
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true, // Ctrl-C is for this process
	}
	if uid := os.Geteuid(); uid != 0 { // a user may make them only together with a namespace of users
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	runtime.LockOSThread() // whose death Pdeathsig is about
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("a new pid namespace: %w: run as root, or allow namespaces of users", err)
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case errors.As(err, new(*exec.ExitError)):
		return errFailed
	}
	return err
}

func copyProgram(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o700)
}

// initialize is the first process of the namespace. It runs the driver, and
// takes leave of what killed agents have left running.
func initialize() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc of the new pid namespace: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), envRole+"="+roleDriver)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case pid == cmd.Process.Pid && status == 0:
			return nil
		case pid == cmd.Process.Pid:
			return errFailed
		}
	}
}

// fileSystem names the file system of a directory.
func fileSystem(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4", nil
	case unix.TMPFS_MAGIC:
		return "tmpfs", nil
	case unix.XFS_SUPER_MAGIC:
		return "xfs", nil
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs", nil
	}
	return fmt.Sprintf("file system %#x", uint32(st.Type)), nil
}
