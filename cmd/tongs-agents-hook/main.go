// The settings skip start-up work of the runtime that is for programs of longer
// life: sizing GOMAXPROCS by the container, watching that, naming mappings.
// They save 2 % of an empty program's CPU (docs/performance.md).

//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
//go:debug decoratemappings=0

// Command tongs-agents-hook records one hook event of a coding agent.
//
// Agents run it on every tool call, so it costs as little as a process can,
// never waits long, prints nothing and exits 0 whatever happens: to several of
// them status 2 means "block the tool call".
package main

import (
	"golang.org/x/sys/unix"

	"tongs-agents/internal/hook"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/linux"
)

const stderr linux.FD = 2

func main() {
	boottime := linux.Boottime() // first: it is the order of events
	defer quiet()
	// Ctrl-C and a closed terminal go to the agent's whole process group, and
	// must not end the write of that very event. To the others the runtime
	// would answer with status 2, as it does to SIGSEGV, SIGBUS and SIGFPE,
	// which it needs to make panics of.
	linux.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGPIPE,
		unix.SIGQUIT, unix.SIGILL, unix.SIGABRT, unix.SIGTRAP, unix.SIGSYS, unix.SIGSTKFLT, unix.SIGXFSZ)
	if linux.Stdin.IsTerminal() {
		stderr.WriteAll([]byte(hook.Usage))
		unix.Exit(1)
	}
	text, err := hook.Run(linux.Stdin, boottime)
	if hook.Getenv("TONGS_AGENTS_DEBUG") == "1" {
		debug(text, err)
	}
}

// quiet ends a panic with status 0.
func quiet() {
	if v := recover(); v != nil {
		unix.Exit(0)
	}
}

// debug prints one line, whatever the payload had in it.
func debug(text string, err error) {
	if err != nil {
		text = err.Error()
	}
	quoted := jsonstream.AppendString(nil, text)
	line := append([]byte("tongs-agents-hook: "), quoted[1:len(quoted)-1]...)
	stderr.WriteAll(append(line, '\n'))
}
