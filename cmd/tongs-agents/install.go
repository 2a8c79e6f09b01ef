package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tongs-agents/internal/install"
	"tongs-agents/internal/text"
)

func newInstall() *cobra.Command {
	return newInstallation(installation{
		run:    install.Install,
		enters: true,
		command: cobra.Command{
			Use:   "install",
			Short: "Enter the hooks, and the MCP server, in the settings of the coding agents on this machine",
			Long: `install finds the coding agents on this machine and enters the hooks by which
they report: in their settings, of which everything else stays as it is, or as a
plugin where they have those. An agent is found by its program in PATH or by its
configuration directory; --agent takes one at its name. Running install again
changes nothing, and after an update of tongs-agents what has become different.

It also enters tongs-agents mcp as an MCP server of Claude Code, Codex, Gemini CLI
and OpenCode, by which their models can ask about the other sessions; --no-mcp
leaves that out. Another server that has the name tongs-agents stays.

The programs are entered by absolute paths that an update does not change. A file
that cannot be read or written is left alone, and what to enter by hand is
printed; the others are done all the same, and the exit status is 1.`,
			Example: `  tongs-agents install --dry-run
  tongs-agents install
  tongs-agents install --agent claude --agent codex`,
		},
	})
}

func newUninstall() *cobra.Command {
	return newInstallation(installation{
		run: install.Uninstall,
		command: cobra.Command{
			Use:   "uninstall",
			Short: "Take the hooks and the MCP server out of the settings again",
			Long: `uninstall takes out what install has entered, and nothing else. A file that was
not changed since is byte for byte what it was before, or gone if it was not there.

The exit status is 1 if a file could not be read or written.`,
			Example: `  tongs-agents uninstall --dry-run
  tongs-agents uninstall
  tongs-agents uninstall --agent gemini`,
		},
	})
}

// installation is a command that changes the settings of agents.
type installation struct {
	command cobra.Command
	enters  bool // it takes nothing out
	run     func(install.Env, install.Options) (install.Report, error)
}

func newInstallation(in installation) *cobra.Command {
	var asJSON bool
	var opts install.Options
	noServer := false
	cmd := &in.command
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := oneOf("--agent", opts.Agents, install.IDs()); err != nil {
			return failure{err: err}
		}
		env, err := install.Environment()
		if err != nil {
			return fail(err)
		}
		opts.Server = in.enters && !noServer
		report, err := in.run(env, opts)
		if err != nil && !errors.Is(err, install.ErrNoAgent) {
			return fail(err)
		}
		for _, w := range report.Warnings {
			warn(cmd.ErrOrStderr(), errors.New(w))
		}
		var printErr error
		if asJSON {
			printErr = printJSON(cmd.OutOrStdout(), report)
		} else {
			printErr = printReport(cmd.OutOrStdout(), &report)
		}
		return fail(errors.Join(err, printErr, complaint(&report)))
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.Agents, "agent", nil, "only these agents, separated by commas: "+strings.Join(install.IDs(), " "))
	flags.BoolVar(&opts.DryRun, "dry-run", false, "show how the files would differ, and change nothing")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	if in.enters {
		flags.BoolVar(&noServer, "no-mcp", false, "enter the hooks alone")
	}
	complete(cmd, "agent", install.IDs())
	return cmd
}

// complaint names the files that were left alone and should not have been.
func complaint(r *install.Report) error {
	var failed []string
	for _, a := range r.Agents {
		for _, f := range a.Files {
			if line := f.Path + ": " + f.Reason; f.Failed && !slices.Contains(failed, line) { // as of hooks and the MCP server
				failed = append(failed, line)
			}
		}
	}
	switch len(failed) {
	case 0:
		return nil
	case 1:
		return errors.New(failed[0])
	}
	return fmt.Errorf("%d files were left alone:\n%s", len(failed), strings.Join(failed, "\n"))
}

// printReport prints an agent and a file a line.
func printReport(w io.Writer, r *install.Report) error {
	var b strings.Builder
	for _, a := range r.Agents {
		if !a.Found && len(a.Files) == 0 {
			fmt.Fprintf(&b, "%s: not found: %s\n", a.Agent, text.Clean(a.Why))
			continue
		}
		if r.Hook != "" {
			printFound(&b, &a)
		}
		for _, f := range a.Files {
			printFile(&b, &a, &f, r.DryRun)
		}
		for _, todo := range a.Todo {
			fmt.Fprintf(&b, "%s: to do: %s\n", a.Agent, text.Clean(todo))
		}
	}
	if b.Len() == 0 {
		b.WriteString("nothing to do\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printFound(b *strings.Builder, a *install.AgentReport) {
	tried := ""
	if !a.Observed {
		tried = " (hooks by its documentation, not tried on the real program)"
	}
	if a.Found {
		fmt.Fprintf(b, "%s: found by %s%s\n", a.Agent, text.Clean(a.Why), tried)
	} else {
		fmt.Fprintf(b, "%s: asked for, not found: %s%s\n", a.Agent, text.Clean(a.Why), tried)
	}
}

func printFile(b *strings.Builder, a *install.AgentReport, f *install.FileReport, dryRun bool) {
	state := string(f.State)
	if dryRun && f.State != install.Unchanged && f.State != install.LeftAlone {
		state = "would be " + state
	}
	if f.Server {
		state = "MCP server " + state
	}
	if f.Reason != "" {
		state += ": " + text.Clean(f.Reason)
	}
	path := text.Clean(f.Path)
	if f.Target != "" {
		path += " -> " + text.Clean(f.Target)
	}
	fmt.Fprintf(b, "%s: %s: %s\n", a.Agent, path, state)
	b.WriteString(visible(f.Diff))
	if f.Snippet != "" {
		fmt.Fprintf(b, "%s: enter by hand:\n%s", a.Agent, visible(f.Snippet))
	}
}

// visible returns lines without what a terminal acts on, but with their white
// space.
func visible(lines string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == ' ' || text.Clean("x"+string(r)) != "x" {
			return r
		}
		return '\uFFFD'
	}, strings.ReplaceAll(lines, "\r\n", "\n"))
}
