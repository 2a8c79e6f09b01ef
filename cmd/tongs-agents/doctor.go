package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"tongs-agents/internal/doctor"
	"tongs-agents/internal/install"
	"tongs-agents/internal/text"
)

func newDoctor() *cobra.Command {
	var agents []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works, what does not, and the command that repairs it",
		Long: `doctor looks at the programs, the environment, the hooks in the settings of each
agent, the store, its locks, and what cleans it. It runs the hook on a throw-away
store and says how long that takes. It changes nothing.

A line is ok, warn for what works less well than it could, or error for what does
not work. Below it is the command that repairs it, to be copied. --agent limits
the look at settings to these agents.

The exit status is 1 if there is an error.`,
		Example: `  tongs-agents doctor
  tongs-agents doctor --agent claude,codex
  tongs-agents doctor --json | jq -r '.findings[] | select(.level != "ok") | .repair // empty'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--agent", agents, install.IDs()); err != nil {
				return fail(err) // as for install
			}
			env, err := install.Environment()
			if err != nil {
				return fail(err)
			}
			report, err := doctor.Examine(doctor.Options{Env: env, Agents: agents, Version: currentVersion()})
			if err != nil {
				return fail(err)
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				err = printFindings(cmd.OutOrStdout(), &report)
			}
			if err == nil && report.Summary.Error > 0 {
				return failure{}
			}
			return fail(err)
		},
	}
	cmd.Flags().StringSliceVar(&agents, "agent", nil, "only the hooks of these agents, separated by commas: "+strings.Join(install.IDs(), " "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	complete(cmd, "agent", install.IDs())
	return cmd
}

// printFindings prints a finding a line, and its repair on the next one.
func printFindings(w io.Writer, r *doctor.Report) error {
	colour := screenOf(w).colour
	var b strings.Builder
	for _, f := range r.Findings {
		level := fmt.Sprintf("%-5s", f.Level)
		if style := levelStyle(f.Level); colour && len(style) > 0 {
			level = style.Styled(level)
		}
		fmt.Fprintf(&b, "%s  %-11s  %s\n", level, f.Check, text.Clean(f.Text))
		if f.Repair != "" {
			fmt.Fprintf(&b, "       %s\n", text.Clean(f.Repair))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func levelStyle(l doctor.Level) ansi.Style {
	switch l {
	case doctor.Error:
		return ansi.Style{}.Bold().ForegroundColor(ansi.Red)
	case doctor.Warn:
		return ansi.Style{}.ForegroundColor(ansi.Yellow)
	case doctor.OK:
		return ansi.Style{}.ForegroundColor(ansi.Green)
	}
	return ansi.Style{}
}
