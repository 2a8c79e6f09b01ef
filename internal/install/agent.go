package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

// agent says where and how the hooks of a harness are entered.
type agent struct {
	id     string
	dir    place // its configuration. Where it is, the agent is
	files  []file
	form   form
	events []event
	mcp    *mcp // nil: what it reads is not known, or not ours to write
}

// file is a file of an agent that we change. The entries of its last one make
// the agent call us, so that all others are there before, and gone after.
type file struct {
	dir    place  // if not the agent's
	name   string // below it
	asset  string // the file whole, instead of entries in settings
	ours   bool   // nobody else has a reason to write it
	byHand bool   // the user has to enter it

	// unless is another file of the directory, which is meant if it has what we
	// enter and this one is not there.
	unless string

	// lock is what the agent appends to the file's name for the directory that it
	// makes while it changes the file, as npm's proper-lockfile does.
	lock string
}

// is reports whether two files of one agent are the same.
func (f file) is(g file) bool { return f.dir == g.dir && f.name == g.name }

// other is the file that unless names.
func (f file) other() file { return file{dir: f.dir, name: f.unless, lock: f.lock} }

// form is how an agent's settings say that a command is to be run.
type form struct {
	version bool   // of the file: "version": 1
	groups  bool   // an event has groups of handlers, instead of handlers
	typed   bool   // a handler has "type": "command"
	command string // the key of its command, if not "command"
	args    bool   // it has "args", and is run without a shell
	alias   bool   // its command line says the event

	timeoutKey string
	timeout    int // in the agent's unit
}

// event is an event that we enter, by the agent's name for it.
type event struct {
	name    string
	timeout int // if not the form's
}

func (f form) commandKey() string {
	if f.command != "" {
		return f.command
	}
	return "command"
}

// hasHooks reports whether a file may have hooks of ours among its settings.
func (a *agent) hasHooks(f file) bool {
	return f.asset == "" && slices.ContainsFunc(a.files, func(g file) bool { return f.is(g) || f.is(g.other()) })
}

// hasServer reports whether a file may have our server among its settings.
func (a *agent) hasServer(f file) bool {
	return a.mcp != nil && (f.is(a.mcp.file) || f.is(a.mcp.file.other()))
}

func (a *agent) harness() *harness.Harness { return harness.ByID(a.id) }

// all returns the files that may have something of ours, each once.
func (a *agent) all() []file {
	if a.mcp == nil || slices.ContainsFunc(a.files, a.mcp.file.is) {
		return a.files
	}
	return append(slices.Clone(a.files), a.mcp.file)
}

// path returns where the file is.
func (a *agent) path(f file, env Env) string {
	dir := a.dir
	if f.dir != (place{}) {
		dir = f.dir
	}
	return filepath.Join(dir.in(env), f.name)
}

// IDs lists the agents that hooks can be entered for.
func IDs() []string {
	var ids []string
	for i := range table {
		ids = append(ids, table[i].id)
	}
	return ids
}

// selected returns the named agents, or all.
func selected(names []string) ([]*agent, error) {
	for _, name := range names {
		if !slices.Contains(IDs(), name) {
			return nil, fmt.Errorf("unknown agent %q, want one of: %s", name, strings.Join(IDs(), " "))
		}
	}
	var list []*agent
	for i := range table {
		if len(names) == 0 || slices.Contains(names, table[i].id) {
			list = append(list, &table[i])
		}
	}
	return list, nil
}

// find reports whether the agent is on this machine, and by what it was found
// or what was looked for.
func (a *agent) find(env Env) (found bool, why string) {
	program, other := a.program(env)
	if program != "" {
		return true, program
	}
	dir := a.dir.in(env)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return true, dir
	}
	names := strings.Join(a.harness().Process.Names, " or ")
	if other != "" {
		return false, fmt.Sprintf("no directory %s, and %s may be another program", dir, other)
	}
	return false, fmt.Sprintf("no program %s in PATH and no directory %s", names, dir)
}

// program returns the agent's program in PATH. One whose name is a common word
// must be proven by its path, else it is another's.
func (a *agent) program(env Env) (program, other string) {
	h := a.harness()
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range h.Process.Names {
			path := filepath.Join(dir, name)
			if executable(path) != nil {
				continue
			}
			if !h.Process.Bare || proven(h, path) {
				return path, ""
			}
			if other == "" {
				other = path
			}
		}
	}
	return "", other
}

// proven reports whether the path of a program, or what it leads to, says whose
// it is.
func proven(h *harness.Harness, path string) bool {
	exe, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	found, _ := proc.Command([]string{"node", exe}, "node", exe).Harness(true)
	return found != nil && found.ID == h.ID
}
