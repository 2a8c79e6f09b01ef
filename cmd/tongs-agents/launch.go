package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/hook"
	"tongs-agents/internal/text"
)

func newLaunch() *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use:   "launch [--profile NAME] -- COMMAND [ARG...]",
		Short: "Run a command so that it is listed",
		Long: `launch records a command and becomes it: process, terminal and exit status are
the command's own. What the command starts can tell by TONGS_AGENTS_LAUNCH_ID
and TONGS_AGENTS_PROFILE_ID which launch it belongs to; sessions of agents show
both, and notify reports for the launch. A command that is a coding agent itself
is listed once its hooks report.

The exit status is 127 if the command is not found, 126 if it cannot be run.
Where nothing can be recorded the command runs all the same, after a warning.`,
		Example: `  tongs-agents launch -- make test
  tongs-agents launch --profile work -- claude --resume`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no command to launch")
			}
			return nil
		},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkProfile(profile); err != nil {
				return err
			}
			return launch(cmd.ErrOrStderr(), profile, args)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows COMMAND is its own, even without "--"
	flags.StringVar(&profile, "profile", "", "a label for the launch")
	return cmd
}

// checkProfile finds wrong usage.
func checkProfile(profile string) error {
	switch {
	case len(profile) > fsstore.MaxProfile:
		return fmt.Errorf("--profile: longer than %d bytes", fsstore.MaxProfile)
	case text.Clean(profile) != profile:
		return fmt.Errorf("--profile: not plain text on one line: %q", profile)
	}
	return nil
}

// launch runs a command in place of this process. It returns only if that
// failed, and has then removed what it wrote.
func launch(stderr io.Writer, profile string, argv []string) error {
	p, err := findProgram(argv[0])
	if err != nil {
		return err
	}
	l := hook.Launch{
		ID: newLaunchID(), Profile: profile, Argv: argv, Cwd: workingDirectory(), Harness: p.isHarness(argv),
	}
	setLaunch(l.ID, profile)
	trace, err := l.Record()
	if err != nil {
		warn(stderr, fmt.Errorf("launch is not recorded: %w", storeError(err)))
	}
	failed := p.exec(argv, os.Environ())
	if trace != nil {
		if err := trace.Undo(); err != nil {
			warn(stderr, fmt.Errorf("launch stays recorded: %w", storeError(err)))
		}
	}
	return failed
}

func newLaunchID() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// setLaunch names the launch in the environment, and its profile instead of
// the one of a launch around it.
func setLaunch(id, profile string) {
	os.Setenv(fsstore.EnvLaunchID, id)
	os.Unsetenv(fsstore.EnvProfileID)
	if profile != "" {
		os.Setenv(fsstore.EnvProfileID, profile)
	}
}
