package proc

import (
	"strings"

	"tongs-agents/internal/harness"
)

// Mode says how the harness h runs in this process, by its arguments and its
// terminal: "background", "daemon", "headless" or "interactive".
func (p *Process) Mode(h *harness.Harness) string {
	if mode := p.commandLine(h).mode(h); mode != "" {
		return mode
	}
	if p.TTY == 0 {
		return "headless"
	}
	return "interactive"
}

// ModeOf is Mode by arguments alone, which a process told of itself: "" where
// they leave it open.
func ModeOf(h *harness.Harness, args []string) string {
	p := Process{args: lazy[[]string]{value: args, done: true}}
	return p.commandLine(h).mode(h)
}

// Helper reports whether the process serves the harness h and is no session:
// a supervisor, a server of other programs' sessions, a worker in waiting, a
// tool that the harness carries in its own executable.
func (p *Process) Helper(h *harness.Harness) (bool, error) {
	args, err := p.Args()
	if err != nil {
		return false, err
	}
	line := p.commandLine(h)
	if line.has(h.Process.Views) || line.serves(h.Process.Daemon) || line.serves([]string{
		"daemon", "mcp", "mcp-server", "app-server", "serve", "acp", "bg-pty-host", "bg-spare",
		"--acp", "--bg-pty-host", "--bg-spare",
	}) {
		return true, nil
	}
	if byName([]harness.Harness{*h}, title(args), false) != nil {
		return false, nil
	}
	exe, err := p.Exe()
	return err == nil && p.applet(args, exe), nil
}

// commandLine is what the arguments of a harness say of its purpose. Nothing
// after "--" counts, nor does a word within an argument: claude "daemon
// status" is a session with a prompt.
type commandLine struct {
	args    []string
	command string // the first argument that is no option and no option's value
	title   string // the second word of argv[0]: claude bg-spare

	// anywhere: a word that makes the process a server counts wherever it
	// stands. The subcommands of codex have subcommands.
	anywhere bool
}

func (p *Process) commandLine(h *harness.Harness) commandLine {
	all, _ := p.Args()
	if len(all) == 0 {
		return commandLine{}
	}
	line := commandLine{anywhere: h.ID == "codex"}
	if words := strings.SplitN(all[0], " ", 3); len(words) > 1 {
		line.title = words[1]
	}
	_, line.args, _ = p.Program()
	for i, arg := range line.args {
		if arg == "--" {
			line.args = line.args[:i]
			break
		}
	}
	for i := 0; i < len(line.args); i++ {
		if !isOption(line.args[i]) {
			line.command = line.args[i]
			break
		}
		if takesValue(h, line.args[i]) {
			i++
		}
	}
	return line
}

// takesValue knows the options that may come before a subcommand.
func takesValue(h *harness.Harness, option string) bool {
	if h.ID == "codex" && contains([]string{
		"-c", "-p", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd", "-i", "--image",
		"--enable", "--disable", "--remote", "--local-provider",
	}, option) {
		return true
	}
	if h.ID == "claude" && contains([]string{
		"-n", "--name", "-r", "--resume", "-w", "--worktree", "-d", "--debug",
	}, option) {
		return true
	}
	return contains([]string{
		"-m", "--model", "--settings", "--setting-sources", "--permission-mode", "--mcp-config",
		"--add-dir", "--agent", "--session-id", "--append-system-prompt", "--system-prompt",
		"--log-level", "--cwd", "--profile", "--config",
	}, option)
}

func (line commandLine) mode(h *harness.Harness) string {
	switch {
	case line.serves(h.Process.Background):
		return "background"
	case line.serves(h.Process.Daemon):
		return "daemon"
	case line.has(h.Process.Headless):
		return "headless"
	}
	return ""
}

// has reports whether one of the words is there: an option with or without a
// value of its own, a subcommand in its place.
func (line commandLine) has(words []string) bool {
	for _, word := range words {
		if !isOption(word) {
			if word == line.command {
				return true
			}
			continue
		}
		for _, arg := range line.args {
			if rest, ok := strings.CutPrefix(arg, word); ok && (rest == "" || rest[0] == '=') {
				return true
			}
		}
	}
	return false
}

// serves is has for the words of a process that works for others.
func (line commandLine) serves(words []string) bool {
	for _, word := range words {
		if word == line.title || line.anywhere && contains(line.args, word) {
			return true
		}
	}
	return line.has(words)
}
