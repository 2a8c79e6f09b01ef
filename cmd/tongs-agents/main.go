// Command tongs-agents says which coding agents run on this host and which of
// them wait for the user.
//
// The rules of its user interface: data goes to standard output, the rest to
// standard error as "tongs-agents: error: …", "… warning: …" or "… hint: …",
// in lower case and without a full stop. The exit status is 0 if it was done,
// 1 if it failed or the answer is no, 2 for wrong usage; a command that is to
// run another one ends with that one's, or says by 126 or 127, like a shell,
// that it could not be run or found.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"tongs-agents/internal/text"
)

func main() {
	// A command lives for milliseconds: collecting what the records of a large
	// store leave behind costs more than the memory.
	debug.SetGCPercent(400)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs one command and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	var helpErr error
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { helpErr = printHelp(cmd) })
	cmd, err := root.ExecuteC()
	if err == nil {
		err = fail(helpErr)
	}
	var fail failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &fail):
		if fail.err != nil {
			complain(stderr, fail.err)
		}
		if fail.hint != "" {
			hint(stderr, "%s", fail.hint)
		}
		return cmp.Or(fail.status, 1)
	default:
		complain(stderr, err)
		hint(stderr, "see %s --help", cmd.CommandPath())
		return 2
	}
}

// printHelp prints what a command does. The library's own succeeds even if it
// cannot.
func printHelp(cmd *cobra.Command) error {
	about := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short))
	_, err := io.WriteString(cmd.OutOrStdout(), about+"\n\n"+cmd.UsageString())
	return err
}

// complain prints an error, which may go on over several lines.
func complain(stderr io.Writer, err error) {
	prefix := "tongs-agents: error: "
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "%s%s\n", prefix, text.Clean(line))
		prefix = "  "
	}
}

// warn prints why something was done less well than it could be.
func warn(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "tongs-agents: warning: %s\n", text.Clean(err.Error()))
}

// hint prints what the user may want to do.
func hint(stderr io.Writer, format string, args ...any) {
	fmt.Fprintf(stderr, "tongs-agents: hint: "+format+"\n", args...)
}

// failure is an error of a command that was used rightly. Without an error it
// only is the answer no.
type failure struct {
	err    error
	status int    // the exit status, if not 1
	hint   string // may be empty
}

func (f failure) Error() string {
	if f.err == nil {
		return "no"
	}
	return f.err.Error()
}

func (f failure) Unwrap() error { return f.err }

// fail makes a command's error a failure. What a command returns otherwise is
// wrong usage.
func fail(err error) error {
	if err == nil {
		return nil
	}
	return failure{err: err}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "tongs-agents",
		Short: "Which coding agents run here, which of them waits for me",
		Long: `tongs-agents says which coding agents run on this host, which of them wait for
you, and what for. The agents report through their hooks (tongs-agents-hook);
each session is one small file that every command reads.`,
		Example: `  tongs-agents status
  tongs-agents ps --json
  tongs-agents launch -- make test
  tongs-agents notify --status waiting --detail "needs a password"`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	showVersion := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *showVersion {
			return fail(printVersion(cmd.OutOrStdout(), false))
		}
		return cmd.Help()
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newMonitor(), newStatus(), newPs(), newStats(), newShow(), newExplain(), newFocus(),
		newWait(), newWatch(), newResumable(), newResume(), newRemove(), newCleanup(),
		newNotify(), newLaunch(), newImport(), newExport(), newMetrics(), newMCP(),
		newInstall(), newUninstall(), newDoctor(),
		newVersion(),
	)
	root.DisableSuggestions = true // they are several lines of an error
	addCompletion(root)
	addHelp(root)
	return root
}

// addCompletion adds the library's command completion, with examples. It looks
// at its arguments only if it can be run: an unknown shell is wrong usage.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.Example = `  source <(tongs-agents completion bash)
  tongs-agents completion fish > ~/.config/fish/completions/tongs-agents.fish`
	completion.Args = cobra.NoArgs
	completion.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
	for _, shell := range completion.Commands() {
		shell.Example = "  tongs-agents completion " + shell.Name()
		shell.Args = noArgs
		script := shell.RunE
		shell.RunE = func(cmd *cobra.Command, args []string) error { return fail(script(cmd, args)) }
	}
}

// addHelp adds a command help that knows wrong usage, unlike the library's.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Example = "  tongs-agents help status"
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("unknown command %q for %q", rest[0], about.CommandPath())
		}
		if err != nil {
			return err
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
}
