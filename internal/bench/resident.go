package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// resident returns the most memory that a program held, in KiB, without what
// its children held.
//
// The ru_maxrss of wait4(2) would not do: it begins with what the parent held
// when it forked. So the program is stopped at its end, and its own high-water
// mark read.
func resident(p *program) (int, error) {
	runtime.LockOSThread() // ptrace(2) goes by thread
	defer runtime.UnlockOSThread()
	pid, err := p.start(&syscall.SysProcAttr{Ptrace: true})
	if err != nil {
		return 0, err
	}
	kib := 0
	for begun := false; ; begun = true {
		var status syscall.WaitStatus
		if _, err := wait4(pid, &status, nil); err != nil {
			return 0, err
		}
		signal := 0
		switch {
		case status.Exited() || status.Signaled():
			return kib, nil
		case !begun:
			err = syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACEEXIT|unix.PTRACE_O_TRACEEXEC|unix.PTRACE_O_EXITKILL)
		case status.TrapCause() == unix.PTRACE_EVENT_EXIT:
			kib, err = highWater(pid)
		case status.TrapCause() > 0: // another program in the same process
		default:
			signal = int(status.StopSignal())
		}
		if err != nil {
			syscall.Kill(pid, syscall.SIGKILL)
			return 0, err
		}
		if err := syscall.PtraceCont(pid, signal); err != nil && err != syscall.ESRCH {
			return 0, err
		}
	}
}

func highWater(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib := 0
	_, err = fmt.Sscan(rest, &kib)
	return kib, err
}
