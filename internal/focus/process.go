package focus

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// lineage is a process and its ancestors, the nearest first.
type lineage []proc.Stat

// ancestry returns a process with all its ancestors that can be seen, but for
// init: it shows nothing, and a window in a pid namespace of its own may claim
// to be of pid 1.
func ancestry(pid int) lineage {
	const max = 64 // a tree that changes under the walk could go in circles
	var l lineage
	for pid > 1 && len(l) < max {
		p, err := proc.Root.Stat(pid)
		if err != nil {
			break
		}
		l = append(l, p)
		pid = p.PPID
	}
	return l
}

// has reports whether a process is among them.
func (l lineage) has(pid int) bool {
	return slices.ContainsFunc(l, func(p proc.Stat) bool { return p.PID == pid })
}

// processes returns those that fit, the oldest first.
func processes(fits func(proc.Stat) bool) []proc.Stat {
	entries, err := os.ReadDir(string(proc.Root))
	if err != nil {
		return nil
	}
	var found []proc.Stat
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, err := proc.Root.Stat(pid); err == nil && !p.Dead() && fits(p) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b proc.Stat) int {
		x, _ := strconv.ParseUint(a.Start, 10, 64)
		y, _ := strconv.ParseUint(b.Start, 10, 64)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.PID, b.PID))
	})
	return found
}

// onTTY returns the processes whose controlling terminal has that name, the
// oldest first: it has been there since the terminal was opened.
func onTTY(tty string) []proc.Stat {
	if tty == "" {
		return nil
	}
	return processes(func(p proc.Stat) bool { return proc.TTYName(p.TTY) == tty })
}

// links returns where the open descriptors of a process lead, by their number.
func links(pid int) map[string]string {
	dir := string(proc.Root) + "/" + strconv.Itoa(pid) + "/fd/"
	entries, _ := os.ReadDir(dir)
	targets := make(map[string]string, len(entries))
	for _, e := range entries {
		targets[e.Name()], _ = os.Readlink(dir + e.Name())
	}
	return targets
}

// terminalsOf returns the pseudoterminals that a process shows, as TTYName has
// them: those whose master it has open. There are none if that cannot be seen.
func terminalsOf(pid int) []string {
	ttys := map[string]bool{}
	for fd, target := range links(pid) {
		if target != "/dev/ptmx" && target != "/dev/pts/ptmx" {
			continue
		}
		// proc_pid_fdinfo(5): tty-index is the number below /dev/pts.
		info, _ := os.ReadFile(string(proc.Root) + "/" + strconv.Itoa(pid) + "/fdinfo/" + fd)
		for line := range strings.Lines(string(info)) {
			if index, ok := strings.CutPrefix(line, "tty-index:"); ok {
				ttys["pts/"+strings.TrimSpace(index)] = true
			}
		}
	}
	return slices.Collect(maps.Keys(ttys))
}

// listens returns the paths of the sockets on which a process waits for clients.
func listens(pid int) []string {
	// proc_net(5):
	//
	//	Num       RefCount Protocol Flags    Type St Inode Path
	//	000000000 00000002 00000000 00010000 0001 01 22617 /tmp/tmux-1000/default
	table, _ := os.ReadFile(string(proc.Root) + "/net/unix")
	const accepts = "00010000" // __SO_ACCEPTCON
	paths := map[string]string{}
	for line := range strings.Lines(string(table)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 8)
		if len(f) == 8 && f[3] == accepts {
			paths["socket:["+strings.TrimSpace(f[6])+"]"] = strings.TrimSpace(f[7])
		}
	}
	var own []string
	for _, target := range links(pid) {
		if path := paths[target]; path != "" {
			own = append(own, path)
		}
	}
	return own
}

// environs are environments; the first that has a variable counts.
type environs [][]string

func (e environs) get(name string) string {
	for _, env := range e {
		for _, v := range env {
			if value, ok := strings.CutPrefix(v, name+"="); ok && value != "" {
				return value
			}
		}
	}
	return ""
}

// environ is that of a process, none if it cannot be read.
func environ(pid int) []string {
	env, _ := proc.Root.Environ(pid)
	return env
}

// recorded is what is known of the environment of a session.
func recorded(r *fsstore.Record) []string {
	var env []string
	for _, v := range r.TerminalEnv {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}
