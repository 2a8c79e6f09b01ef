package scan

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/harness"
	"tongs-agents/linux"
	"tongs-agents/proc"
)

// Found is one session process.
type Found struct {
	Harness   string // id
	PID       int
	Start     string // clock ticks since boot, as in proc.Stat
	Comm      string
	TTY       string    // as proc.TTYName gives it
	Cwd       string    // where it works; empty if that cannot be read
	StartedAt time.Time // zero if it cannot be told
	Mode      string    // as proc.Process.Mode gives it

	// Client: a codex with a terminal while a Codex daemon of the user runs.
	// Its session, if it has one, is the daemon's, and so are its hooks.
	Client bool

	// Resumed is the session that the command line of a Codex process names.
	Resumed string

	// Launchers are the processes above it that only wait for it, the nearest
	// first: node and shell scripts of the same name. They are not listed.
	Launchers []int
}

// candidate is a process that is a harness.
type candidate struct {
	*proc.Process
	harness  *harness.Harness
	helper   bool
	launches bool // waits for a session that it started
}

// List returns the session processes, by pid.
func List(root proc.FS) ([]Found, error) {
	all, err := candidates(root)
	if err != nil {
		return nil, err
	}
	daemon := false
	for _, c := range all {
		daemon = daemon || c.harness.ID == "codex" && c.Mode(c.harness) == "daemon"
	}
	launchers := map[int][]int{}
	for pid, c := range all {
		launchers[pid] = c.launchers(all)
	}

	var found []Found
	for pid, c := range all {
		if c.helper || c.launches {
			continue
		}
		f := Found{
			Harness:   c.harness.ID,
			PID:       pid,
			Start:     c.Start,
			Comm:      c.Comm,
			TTY:       proc.TTYName(c.TTY),
			Mode:      c.Mode(c.harness),
			Launchers: launchers[pid],
		}
		f.Cwd, _ = root.Cwd(pid)
		if f.Harness == "codex" {
			f.Cwd, f.Resumed = c.workspace(f.Cwd)
		}
		f.Client = daemon && c.client(f.Mode)
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Found) int { return a.PID - b.PID })
	setStartedAt(root, found)
	return found, nil
}

// launchers marks the processes that started c and wait for it.
//
// An npm package of a harness is a script that starts the program proper, or
// itself again with a larger heap: gemini is two processes and qwen three for
// one session. Hooks descend from the innermost, and its pid is the one in the
// session's record; so that is the one to list. A wrapper in shell is the same.
// A session that one of its tools starts has another terminal or none, and
// usually a shell in between.
func (c *candidate) launchers(all map[int]*candidate) []int {
	if c.helper {
		return nil
	}
	var pids []int
	for {
		parent := all[c.PPID]
		if parent == nil || parent.harness != c.harness || parent.TTY != c.TTY || len(pids) == len(all) {
			return pids
		}
		if script, _, err := parent.Program(); err != nil || script == "" {
			return pids
		}
		parent.launches = true
		pids = append(pids, parent.PID)
		c = parent
	}
}

// client reports whether a Codex process shows a session of the daemon, if
// there is a daemon.
func (c *candidate) client(mode string) bool {
	if c.harness.ID != "codex" || c.TTY == 0 || mode != "interactive" {
		return false // codex exec works by itself
	}
	_, args, err := c.Program()
	return err == nil && !slices.Contains(args, "--no-daemon")
}

// workspace returns the directory in which a Codex process works, and the
// session that it was told to resume: codex -C DIR resume ID.
func (c *candidate) workspace(cwd string) (dir, session string) {
	_, args, _ := c.Program()
	for i, arg := range args {
		var next string
		if i+1 < len(args) {
			next = args[i+1]
		}
		to, found := strings.CutPrefix(arg, "--cd=")
		if !found {
			to, found = strings.CutPrefix(arg, "-C")
			to = strings.TrimPrefix(to, "=")
		}
		switch {
		case arg == "--":
			return cwd, session
		case arg == "-C" || arg == "--cd":
			to, found = next, true
		case arg == "resume" && !strings.HasPrefix(next, "-"):
			session = next
		}
		switch {
		case !found || to == "":
		case path.IsAbs(to):
			cwd = path.Clean(to)
		case cwd != "":
			cwd = path.Join(cwd, to)
		}
	}
	return cwd, session
}

// candidates finds the processes of our user and pid namespace that are a
// harness, by pid.
func candidates(root proc.FS) (map[int]*candidate, error) {
	dir, err := linux.Openat(linux.CWD, string(root), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := linux.Readnames(dir)
	if err != nil {
		return nil, err
	}
	uid := uint32(unix.Geteuid())
	namespace, _ := root.PIDNamespace()

	all := map[int]*candidate{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		var st unix.Stat_t
		if linux.Fstatat(dir, name, &st) != nil || st.Uid != uid {
			continue
		}
		p, err := root.Process(pid)
		if err != nil || p.Dead() {
			continue
		}
		h, _ := p.Harness(true)
		if h == nil {
			continue
		}
		// A kernel without pid namespaces has no such link anywhere.
		if theirs, _ := root.PIDNamespaceOf(pid); theirs != namespace {
			continue
		}
		helper, err := p.Helper(h)
		if err != nil {
			continue
		}
		all[pid] = &candidate{Process: p, harness: h, helper: helper}
	}
	return all, nil
}
