package proc

import (
	"strings"

	"tongs-agents/internal/harness"
)

// Process is one process as far as it was read: its stat, and the arguments
// and the executable once something asked for them. It is for one goroutine.
type Process struct {
	Stat
	root FS
	args lazy[[]string]
	exe  lazy[string]
}

// lazy is a value that is read at most once.
type lazy[T any] struct {
	value T
	err   error
	done  bool
}

func (l *lazy[T]) get(read func(pid int) (T, error), pid int) (T, error) {
	if !l.done {
		l.value, l.err = read(pid)
		l.done = true
	}
	return l.value, l.err
}

// Process reads the stat of a process.
func (root FS) Process(pid int) (*Process, error) {
	st, err := root.Stat(pid)
	if err != nil {
		return nil, err
	}
	return root.Of(st), nil
}

// Of is the process whose stat was read already.
func (root FS) Of(st Stat) *Process { return &Process{Stat: st, root: root} }

// Command is what a command will be as a process: argv, the file of the program
// as it is executed, and its path without symbolic links. Only what names it is
// known.
func Command(argv []string, file, exe string) *Process {
	comm := base(file)
	return &Process{
		Stat: Stat{Comm: comm[:min(len(comm), commLen)]},
		args: lazy[[]string]{value: argv, done: true},
		exe:  lazy[string]{value: exe, done: true},
	}
}

// Args returns the arguments, argv[0] first.
func (p *Process) Args() ([]string, error) { return p.args.get(p.root.Cmdline, p.PID) }

// Exe returns the path of the executable.
func (p *Process) Exe() (string, error) { return p.exe.get(p.root.Exe, p.PID) }

// commLen is where the kernel cuts comm: TASK_COMM_LEN without its NUL.
const commLen = 15

// Harness returns the harness that the process is, or nil. A scan of all
// processes does not take a common word such as "goose" for a harness unless
// the path of the program proves it; an ancestor of a hook it does.
//
// An error says that nothing matched, but a file that might have could not be
// read.
func (p *Process) Harness(scan bool) (*harness.Harness, error) {
	return p.match(harness.All(), scan)
}

// Matches reports whether the process is that harness, as the ancestor of a
// hook. The error is that of Harness.
func (p *Process) Matches(h *harness.Harness) (bool, error) {
	found, err := p.match([]harness.Harness{*h}, false)
	return found != nil, err
}

// match goes through what names the process, the cheapest first, and stops at
// the first row that it fits.
func (p *Process) match(rows []harness.Harness, scan bool) (*harness.Harness, error) {
	if len(p.Comm) < commLen { // else it may be the beginning of a longer name
		if h := byName(rows, p.Comm, scan); h != nil {
			return h, nil
		}
	}

	args, argsErr := p.Args()
	if h := byName(rows, title(args), scan); h != nil {
		return h, nil
	}
	script, _, scriptErr := p.Program()
	if h := byPath(rows, script, scan); h != nil {
		return h, nil
	}
	exe, exeErr := p.Exe()
	if exeErr == nil && !p.applet(args, exe) {
		if h := byPath(rows, exe, scan); h != nil {
			return h, nil
		}
		if h := byVersions(rows, exe); h != nil {
			return h, nil
		}
	}
	for _, e := range [...]error{argsErr, scriptErr, exeErr} {
		if e != nil {
			return nil, e
		}
	}
	return nil, nil
}

// title is the program's name in argv[0]. Programs write more than a name
// there, like "claude bg-spare"; but in "/home/my user/bin/claude" the space
// belongs to a path.
func title(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name, more, _ := strings.Cut(args[0], " ")
	if strings.IndexByte(name, '/') >= 0 && strings.IndexByte(more, '/') >= 0 {
		return base(args[0])
	}
	return base(name)
}

// applet reports whether a program started itself anew to be another one:
// Claude Code brings ripgrep along in its own executable and runs it with
// argv[0] "rg", and Codex its sandbox. Then comm is the file's name, of which
// argv[0] knows nothing.
func (p *Process) applet(args []string, exe string) bool {
	if len(args) == 0 || strings.IndexByte(args[0], '/') >= 0 {
		return false
	}
	name, _, _ := strings.Cut(args[0], " ")
	file := base(exe)
	return name != file && interpreterOf(name) == notInterpreter &&
		p.Comm == file[:min(len(file), commLen)]
}

// Program returns the script that an interpreter runs, "" where none does, and
// the arguments that are the program's own: after the script, else after
// argv[0].
func (p *Process) Program() (script string, args []string, err error) {
	all, err := p.Args()
	if err != nil || len(all) == 0 {
		return "", nil, err
	}
	in := interpreterOf(all[0])
	if in == notInterpreter {
		in = interpreterOf(p.Comm)
	}
	if in == notInterpreter && len(all) > 1 && byName(harness.All(), title(all), false) == nil {
		// argv[0] may be anything: the executable knows better.
		exe, err := p.Exe()
		if err != nil {
			return "", all[1:], err
		}
		in = interpreterOf(exe)
	}
	if in == notInterpreter {
		return "", all[1:], nil
	}
	script, args = in.program(all[1:])
	return script, args, nil
}

func byName(rows []harness.Harness, name string, scan bool) *harness.Harness {
	word := Word(name)
	if word == "" {
		return nil
	}
	for i := range rows {
		h := &rows[i].Process
		if scan && (h.Bare || !h.Scanned) {
			continue
		}
		if contains(h.Names, word) {
			return &rows[i]
		}
	}
	return nil
}

// byPath judges the path of a script or of an executable.
func byPath(rows []harness.Harness, path string, scan bool) *harness.Harness {
	if path == "" {
		return nil
	}
	if h := byName(rows, path, scan); h != nil {
		return h
	}
	if pkg, ok := strings.CutPrefix(path, "npm:"); ok { // deno run npm:@google/gemini-cli@0.61
		path = pkg
		if i := strings.LastIndexByte(path, '@'); i > strings.LastIndexByte(path, '/') {
			path = path[:i]
		}
	}
	for i := range rows {
		h := &rows[i].Process
		if scan && !h.Scanned && !h.Bare {
			continue
		}
		for _, pkg := range h.Packages {
			if inPackage(path, pkg) {
				return &rows[i]
			}
		}
	}
	return nil
}

func byVersions(rows []harness.Harness, exe string) *harness.Harness {
	for i := range rows {
		if v := rows[i].Process.Versions; v != "" && inDirectory(exe, v) {
			return &rows[i]
		}
	}
	return nil
}
