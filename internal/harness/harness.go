// Package harness says what each coding agent program calls things: the names
// of its processes, the keys and events of its hooks, its resume command. It
// is a table and lookups in it; it does no I/O and imports nothing of ours.
//
// The table is static data: composite literals without maps and without calls,
// so that linking it costs a hook no start-up work.
package harness

// Harness is one row of the table.
type Harness struct {
	ID string

	// Observed: the row was checked on the running program. The others follow
	// the vendor's documentation and were never tried.
	Observed bool

	Process Process
	Hooks   *Hooks // never nil

	// Resume is the command that continues a session; {} stands for its id.
	// Empty: there is none.
	Resume []string

	// SignalReason is the reason that the program gives for an end by a signal,
	// as when its terminal is closed, and never for one by the user. Empty: its
	// ends do not tell.
	SignalReason string

	// Single: a process works on one session at a time, so that a new session
	// id supersedes the former one even if nothing ended that.
	Single bool
}

// Process says how to recognise the program among processes. Only whole words
// are compared: names after proc.Word, path elements as they are.
type Process struct {
	// Names are the program's names: of its comm, its executable, its argv[0]
	// or the script that an interpreter runs.
	Names []string

	// Bare: the names are common words. They identify the ancestor of a hook,
	// but a scan of all processes needs a package path besides.
	Bare bool

	// Packages are directories that hold the program, as consecutive elements
	// of the path of its script or executable.
	Packages []string

	// Versions is a directory whose entries are executables of the program
	// named by their version number.
	Versions string

	// Scanned: a scan of all processes lists it.
	Scanned bool

	// Headless are the options and subcommands of a run without a user,
	// Daemon those of a server that hosts sessions of its clients, Background
	// those of a worker that a supervisor of the program started.
	Headless, Daemon, Background []string

	// Views are the subcommands that only show sessions of other processes.
	Views []string
}

// ByID returns the row of a registered id, or nil.
func ByID(id string) *Harness {
	for i := range table {
		if table[i].ID == id {
			return &table[i]
		}
	}
	return nil
}

// All returns every row. The caller does not change them.
func All() []Harness { return table }

// ResumeCommand returns the command that continues a session, or nil if there
// is none. An id that is no plain word has none either: it could be taken for
// an option, or mean something to the shell it is pasted into.
func (h *Harness) ResumeCommand(session string) []string {
	if len(h.Resume) == 0 || !plainWord(session) {
		return nil
	}
	args := make([]string, len(h.Resume))
	for i, arg := range h.Resume {
		if n := len(arg) - len("{}"); n >= 0 && arg[n:] == "{}" {
			arg = arg[:n] + session
		}
		args[i] = arg
	}
	return args
}

func plainWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !alphanumeric && (i == 0 || c != '-' && c != '_' && c != '.' && c != ':') {
			return false
		}
	}
	return s != ""
}
