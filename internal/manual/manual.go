// Package manual makes manual pages of what the programs themselves say: the
// commands of tongs-agents and the usage text of tongs-agents-hook. Neither
// program links it.
package manual

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tongs-agents/internal/hook"
)

// Edition is what all pages have at the foot. Each may be empty.
type Edition struct {
	Date    string
	Version string
}

// Pages returns the pages of a program, of each of its commands and of the
// hook, by file name. The page of a command has all that is below it.
func Pages(root *cobra.Command, e Edition) map[string]string {
	pages := map[string]string{root.Name() + ".1": program(root, e)}
	for _, cmd := range listed(root) {
		pages[pageName(cmd)+".1"] = command(cmd, e)
	}
	pages["tongs-agents-hook.1"] = usage(hook.Usage, e)
	return pages
}

const (
	environment = `TONGS_AGENTS_STATE_DIR    The directory of the store, an absolute path.
XDG_STATE_HOME    If that is not set, the store is tongs-agents in this directory.
`
	files = `~/.local/state/tongs-agents    The store, if neither variable is set.
`
)

// program is the page of the root command.
func program(root *cobra.Command, e Edition) string {
	p := newPage(root.Name(), root.Short, e)
	p.macro("SH", "SYNOPSIS")
	p.usageLine(root.Name(), " COMMAND [ARG...]")
	p.macro("SH", "DESCRIPTION")
	p.prose(root.Long)
	p.macro("SH", "COMMANDS")
	for _, cmd := range listed(root) {
		p.macro("TP")
		p.macro("BR", pageName(cmd), "(1)")
		p.prose(cmd.Short)
	}
	p.options(root)
	p.section("EXIT STATUS", `0    It was done.
1    It failed, or the answer is no.
2    Wrong usage.

A command that runs another one ends with the status of that one, with 127 if it
was not found, with 126 if it cannot be run.
`)
	p.section("ENVIRONMENT", environment)
	p.section("FILES", files)
	p.section("EXAMPLES", root.Example)
	p.macro("SH", "SEE ALSO")
	p.macro("BR", "tongs-agents-hook", "(1)")
	return p.String()
}

// command is the page of a command of the program.
func command(cmd *cobra.Command, e Edition) string {
	p := newPage(pageName(cmd), cmd.Short, e)
	p.macro("SH", "SYNOPSIS")
	p.usageLine(cmd.CommandPath(), args(cmd))
	p.macro("SH", "DESCRIPTION")
	p.describe(cmd)
	p.options(cmd)
	if below := below(cmd); len(below) > 0 {
		p.macro("SH", "COMMANDS")
		for _, sub := range below {
			p.macro("SS", sub.CommandPath()+args(sub))
			p.describe(sub)
			p.flags(sub)
		}
	}
	p.section("EXAMPLES", cmd.Example)
	p.macro("SH", "SEE ALSO")
	p.macro("BR", cmd.Root().Name(), "(1)")
	return p.String()
}

// usage is the page of a program that has only a text: its call on the first
// line, then what it does.
func usage(text string, e Edition) string {
	call, text, _ := strings.Cut(text, "\n")
	name, args, _ := strings.Cut(strings.TrimPrefix(call, "usage: "), " ")
	text = strings.TrimSpace(text) + "\n"
	summary, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), ". ")
	p := newPage(name, summary, e)
	p.macro("SH", "SYNOPSIS")
	p.usageLine(name, " "+args)
	p.section("DESCRIPTION", text)
	p.section("ENVIRONMENT", environment+`TONGS_AGENTS_PRIVATE    If 1, nothing is stored of messages, titles and arguments.
TONGS_AGENTS_DISABLE    If 1, nothing is recorded.
TONGS_AGENTS_DEBUG    If 1, a line on standard error says what was done.
`)
	p.section("FILES", files)
	p.macro("SH", "SEE ALSO")
	p.macro("BR", "tongs-agents", "(1)")
	return p.String()
}

// listed returns the commands that help lists.
func listed(cmd *cobra.Command) []*cobra.Command {
	var subs []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			subs = append(subs, sub)
		}
	}
	return subs
}

// below returns the commands below one, at any depth.
func below(cmd *cobra.Command) []*cobra.Command {
	var subs []*cobra.Command
	for _, sub := range listed(cmd) {
		subs = append(append(subs, sub), below(sub)...)
	}
	return subs
}

func pageName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// args returns what follows a command's name where it is called.
func args(cmd *cobra.Command) string {
	args, _ := strings.CutPrefix(cmd.UseLine(), cmd.CommandPath())
	args = strings.Replace(args, "[flags]", "[OPTION...]", 1)
	if cmd.HasAvailableSubCommands() {
		args += " [COMMAND]"
	}
	return args
}

// describe prints what a command does.
func (p *page) describe(cmd *cobra.Command) {
	text := cmp.Or(cmd.Long, cmd.Short+".")
	if len(cmd.Aliases) > 0 {
		text += "\n\nAnother name: " + strings.Join(cmd.Aliases, ", ") + "."
	}
	p.prose(text)
}

func (p *page) options(cmd *cobra.Command) {
	p.macro("SH", "OPTIONS")
	p.flags(cmd)
}

func (p *page) flags(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	print := func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			text = fmt.Sprintf("%s (default %s)", text, f.DefValue)
		}
		p.macro("TP")
		p.flag(f.Shorthand, f.Name, value)
		p.prose(text)
	}
	cmd.LocalFlags().VisitAll(print)
	cmd.InheritedFlags().VisitAll(print)
}
