package doctor

import (
	"os"

	"tongs-agents/proc"
)

// initialPIDNamespace is the inode of the namespace that the kernel starts
// with: PROC_PID_INIT_INO of its proc_ns.h.
const initialPIDNamespace = "4026531836"

// processes looks at what can be learned of processes.
func (p *patient) processes() []Finding {
	if _, err := os.Stat("/proc/self"); err != nil {
		return []Finding{fail("no proc file system at /proc: hooks find no agent, and nothing is known to be over")}
	}
	if proc.Root.Foreign() {
		return []Finding{warn("/proc is of another pid namespace: hooks find no agent, and nothing is known to be over").
			with("mount -t proc proc /proc")}
	}
	on, _ := mountOf(p.mounts, "/proc")
	switch on.option("hidepid") {
	case "", "0", "off":
	default:
		return []Finding{warn("/proc hides processes (hidepid=%s): a session counts as unknown, not as over, if its process is hidden",
			on.option("hidepid"))}
	}
	if ns, err := proc.Root.PIDNamespace(); err == nil && ns != initialPIDNamespace {
		return []Finding{ok("/proc shows the processes of this container or sandbox; whether others live is not known here")}
	}
	return []Finding{ok("/proc shows the processes of this machine")}
}
