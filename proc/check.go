package proc

import (
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/harness"
	"tongs-agents/linux"
)

// Answer is what can be said of a process. Only Dead permits to forget it.
type Answer int

const (
	Unknown Answer = iota
	Alive
	Dead
)

func (a Answer) String() string {
	switch a {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	}
	return "unknown"
}

// Identity is what a record says of its process. Empty parts are not known
// and are not compared.
type Identity struct {
	PID, Start string
	Host       Host
	Harness    string // an id of package harness
}

// Check answers whether the process lives, asked from the host here, and says
// why in a few words for the user.
func (root FS) Check(id Identity, here Host) (Answer, string) {
	switch there := id.Host; {
	case differ(there.BootID, here.BootID):
		if there.MachineID != "" && there.MachineID == here.MachineID {
			return Dead, "the machine was started anew since"
		}
		return Unknown, "recorded on another machine"
	case differ(there.PIDNamespace, here.PIDNamespace):
		return Unknown, "recorded in another pid namespace"
	case id.PID == "":
		return Unknown, "no process recorded"
	case here.Foreign:
		return Unknown, "the proc file system is of another pid namespace"
	}
	pid, err := strconv.ParseUint(id.PID, 10, 31)
	if err != nil || pid == 0 {
		return Dead, "the recorded pid is none: " + strconv.Quote(id.PID)
	}

	p, err := root.Process(int(pid))
	switch process := "process " + id.PID; {
	case errors.Is(err, fs.ErrNotExist):
		return root.absent(int(pid))
	case err != nil:
		return Unknown, process + " cannot be looked at: " + err.Error()
	case p.Dead():
		return Dead, process + " has ended and was not waited for"
	case differ(id.Start, p.Start):
		return Dead, process + " has other start ticks"
	default:
		return p.checkHarness(id.Harness)
	}
}

// absent answers for a process that has no stat file.
func (root FS) absent(pid int) (Answer, string) {
	process := "process " + strconv.Itoa(pid)
	// Without a proc file system there is no self.
	if err := linux.Stat(string(root)+"/self", new(unix.Stat_t)); err != nil {
		return Unknown, "no proc file system at " + string(root)
	}
	// Mounted with hidepid, it hides the processes of others, and those of our
	// own user that forbid to be traced. The kernel still answers for them.
	if root == Root && unix.Kill(pid, 0) != unix.ESRCH {
		return Unknown, process + " is hidden"
	}
	return Dead, process + " is gone"
}

// checkHarness answers for a live process by what program it is. Names known
// from documentation alone prove nothing.
func (p *Process) checkHarness(id string) (Answer, string) {
	process := "process " + strconv.Itoa(p.PID)
	h := harness.ByID(id)
	if h == nil || !h.Observed || len(h.Process.Names) == 0 {
		return Alive, process + " is running"
	}
	is, err := p.Matches(h)
	switch {
	case is:
		return Alive, process + " is " + id
	case errors.Is(err, fs.ErrNotExist):
		return Unknown, process + " went while it was looked at"
	case err != nil:
		return Unknown, process + " cannot be told: " + err.Error()
	}
	return Dead, process + " is not " + id
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }
