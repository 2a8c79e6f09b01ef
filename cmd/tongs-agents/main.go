// Command tongs-agents says which coding agents run on this host and which of
// them wait for the user.
//
// The rules of its user interface: data goes to standard output, the rest to
// standard error as "tongs-agents: error: …", "… warning: …" or "… hint: …",
// in lower case and without a full stop. The exit status is 0 if it was done,
// 1 if it failed or the answer is no, 2 for wrong usage.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs one command and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var fail failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &fail):
		if fail.err != nil {
			fmt.Fprintf(stderr, "tongs-agents: error: %v\n", fail.err)
		}
		return 1
	default:
		fmt.Fprintf(stderr, "tongs-agents: error: %v\ntongs-agents: hint: see tongs-agents --help\n", err)
		return 2
	}
}

// failure is an error of a command that was used rightly. Without an error it
// only is the answer no.
type failure struct{ err error }

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
	return failure{err}
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
  tongs-agents notify --status waiting --detail "needs a password"`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		newStatus(), newPs(), newShow(),
		newNotify(), newImport(), newExport(),
		newVersion(),
	)
	root.CompletionOptions.HiddenDefaultCmd = false
	return root
}
