package linux

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Boottime returns the time since boot in nanoseconds, the time that the
// machine was suspended included: CLOCK_BOOTTIME of clock_gettime(2).
func Boottime() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// PidfdOpen returns a descriptor of the process that has this pid now. It can be
// read, by poll(2), once the process has ended, and is O_NONBLOCK. See
// pidfd_open(2); the flag came with Linux 5.10.
func PidfdOpen(pid int) (FD, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return -1, callError("pidfd_open", err)
	}
	return FD(fd), nil
}

// Hostname returns the node name of uname(2).
func Hostname() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Nodename[:])
}

// Ignore makes the kernel discard the given signals, see rt_sigaction(2).
// os/signal does the same for a running program, but links package os. Only
// signals that the program never asks the runtime for may be passed.
func Ignore(signals ...unix.Signal) {
	// struct sigaction of every architecture that Go runs Linux on begins with
	// the handler, MIPS excepted (flags first); all other fields are zero, and
	// 32 bytes hold them wherever they stand.
	action := [4]uint64{}
	*(*uintptr)(unsafe.Pointer(&action)) = 1 // SIG_IGN
	for _, sig := range signals {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
}
