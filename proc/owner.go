package proc

import "tongs-agents/internal/harness"

// maxAncestors bounds a walk: a tree that changes under it could go in circles.
const maxAncestors = 64

// Owner returns the nearest ancestor that is a harness, beginning with ppid,
// or nil. An ancestor about which nothing can be learned is passed over; the
// error, the first of that kind, says that it may have been the owner. In the
// proc file system of another pid namespace there is none to be found.
func (root FS) Owner(ppid int) (*Process, *harness.Harness, error) {
	if root.Foreign() {
		return nil, nil, nil
	}
	var first error
	// Pid 1 is worth a look: in a container it may be the agent.
	for n := 0; ppid > 0 && n < maxAncestors; n++ {
		p, err := root.Process(ppid)
		if err != nil {
			return nil, nil, firstOf(first, err)
		}
		h, err := p.Harness(false)
		if h != nil {
			return p, h, nil
		}
		first = firstOf(first, err)
		ppid = p.PPID
	}
	return nil, nil, first
}

// HasAncestor reports whether the process pid that started at start is an
// ancestor of a process whose parent is ppid. An empty start fits any.
func (root FS) HasAncestor(ppid, pid int, start string) bool {
	if root.Foreign() {
		return false
	}
	for n := 0; ppid > 0 && n < maxAncestors; n++ {
		st, err := root.Stat(ppid)
		if err != nil {
			return false
		}
		if ppid == pid {
			return start == "" || start == st.Start
		}
		ppid = st.PPID
	}
	return false
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
