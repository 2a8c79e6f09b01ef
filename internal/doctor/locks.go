package doctor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/shell"
	"tongs-agents/proc"
)

// long is more than any writer holds a lock.
const long = 300 * time.Millisecond

// locks looks for locks of the store that somebody holds for long. A writer at
// work holds one for a moment.
func (p *patient) locks() []Finding {
	if p.stored.store == nil {
		return nil
	}
	dir := p.lockDir()
	if dir == "" {
		return nil // said by the check of the store
	}
	first, err := heldLocks(dir)
	if err == nil && len(first) == 0 {
		return []Finding{ok("no lock is held")}
	}
	var still []heldLock
	if err == nil {
		time.Sleep(long)
		still, err = heldLocks(dir)
	}
	if err != nil {
		return []Finding{warn("who holds locks cannot be told: %v", err)}
	}
	var found []Finding
	for _, l := range still {
		if slices.Contains(first, l) {
			found = append(found, l.finding(dir))
		}
	}
	if len(found) == 0 {
		return []Finding{ok("locks are held by writers at work: %d", len(first))}
	}
	return found
}

func (p *patient) lockDir() string {
	network, dir, err := p.stored.store.Network()
	if err == nil && network {
		return dir
	}
	return filepath.Join(p.Env.State, "sessions")
}

// heldLock is a lock file and who holds it.
type heldLock struct {
	name string
	pid  int // 0: in another pid namespace, or hidden
}

// maintenanceLock is the one that no hook waits for.
const maintenanceLock = ".fleet-maintenance.lock"

func (l heldLock) finding(dir string) Finding {
	path := filepath.Join(dir, l.name)
	if l.pid <= 0 {
		return warn("%s is held by a process that cannot be seen from here", path)
	}
	argv, err := proc.Root.Cmdline(l.pid)
	if err != nil {
		// An open file carries the lock on to what its opener has started.
		return warn("%s was locked by process %d, which is gone: what it has started still holds it", path, l.pid).
			with(shell.Command([]string{"fuser", "-v", path}))
	}
	effect := "hooks wait for it 2 s and then drop their event"
	if l.name == maintenanceLock {
		effect = "no other cleanup can run"
	}
	return warn("%s is held by process %d (%s): %s", path, l.pid, shell.Command(argv[:min(len(argv), maxArgs)]), effect).
		with("kill " + strconv.Itoa(l.pid))
}

// maxArgs is how much of a command line is shown.
const maxArgs = 4

// heldLocks returns the lock files of a directory that somebody holds now, by
// their name.
func heldLocks(dir string) ([]heldLock, error) {
	file, err := os.Open("/proc/locks")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	locks, err := parseLocks(file)
	if err != nil || len(locks) == 0 {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var held []heldLock
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			continue
		}
		info, err := e.Info()
		if err != nil { // gone meanwhile
			continue
		}
		holds := locks[info.Sys().(*syscall.Stat_t).Ino]
		if pid, ours := holder(holds, info); ours {
			held = append(held, heldLock{e.Name(), pid})
		}
	}
	return held, nil
}

// holder returns which of the processes that hold a lock on some file with the
// inode of this one has it open. Of one whose open files cannot be looked at,
// the device must tell.
func holder(holds []hold, file os.FileInfo) (pid int, ours bool) {
	dev := file.Sys().(*syscall.Stat_t).Dev
	device := fmt.Sprintf("%02x:%02x", unix.Major(dev), unix.Minor(dev))
	for _, h := range holds {
		open, err := hasOpen(h.pid, file)
		if open || err != nil && h.device == device {
			return h.pid, true
		}
	}
	return 0, false
}

// maxOpen bounds how many open files of a process are looked at.
const maxOpen = 4096

// hasOpen reports whether a process has a file open.
func hasOpen(pid int, want os.FileInfo) (bool, error) {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return false, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxOpen)
	if err != nil && err != io.EOF {
		return false, err
	}
	for _, name := range names {
		if info, err := os.Stat(dir.Name() + "/" + name); err == nil && os.SameFile(info, want) {
			return true, nil
		}
	}
	return false, nil
}

// hold is a lock that a process holds.
type hold struct {
	pid    int    // 0 or less: of another pid namespace
	device string // of the file, which on some file systems is not that of stat(2)
}

// parseLocks returns who holds flock(2) locks by the inode of the file, from
// lines such as these, see proc_locks(5):
//
//	2: FLOCK  ADVISORY  WRITE 1713 00:2d:39 0 EOF
//	2: -> FLOCK  ADVISORY  WRITE 1714 00:2d:39 0 EOF
//
// The second one waits.
func parseLocks(r io.Reader) (map[uint64][]hold, error) {
	locks := map[uint64][]hold{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" {
			continue
		}
		colon := strings.LastIndexByte(fields[5], ':')
		if colon < 0 {
			continue
		}
		pid, pidErr := strconv.Atoi(fields[4])
		inode, inodeErr := strconv.ParseUint(fields[5][colon+1:], 10, 64)
		if pidErr == nil && inodeErr == nil {
			locks[inode] = append(locks[inode], hold{pid, fields[5][:colon]})
		}
	}
	return locks, lines.Err()
}
