package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/listing"
)

// filter is the flags by which every list can be narrowed.
type filter struct {
	agents, states, modes []string
	here                  bool
	last                  bool // a state is the one before the end
}

var modes = []string{fsstore.Interactive, fsstore.Headless, fsstore.Background, fsstore.Daemon, fsstore.Desktop}

func agentIDs() []string {
	var ids []string
	for _, h := range harness.All() {
		ids = append(ids, h.ID)
	}
	return ids
}

func statusNames() []string {
	var names []string
	for _, s := range fsstore.Statuses {
		names = append(names, string(s))
	}
	return names
}

func (f *filter) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.agents, "agent", nil, "only these agents, separated by commas: "+strings.Join(agentIDs(), " "))
	flags.StringSliceVar(&f.states, "state", nil, "only these states: "+strings.Join(statusNames(), " "))
	flags.StringSliceVar(&f.modes, "mode", nil, "only these modes: "+strings.Join(modes, " "))
	flags.BoolVar(&f.here, "here", false, "only sessions in this directory or below it")
	complete(cmd, "agent", agentIDs())
	complete(cmd, "state", statusNames())
	complete(cmd, "mode", modes)
}

// complete offers the values of a flag to the shell.
func complete(cmd *cobra.Command, flag string, values []string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// rows returns those of the user's store that the flags let through.
func (f *filter) rows(cmd *cobra.Command) ([]*fsstore.Annotated, error) {
	l, err := readListing(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	return f.apply(l.Rows)
}

// apply returns the rows that the flags let through.
func (f *filter) apply(rows []*fsstore.Annotated) ([]*fsstore.Annotated, error) {
	wanted, err := f.wanted()
	if err != nil {
		return nil, err
	}
	return wanted.Apply(rows), nil
}

// wanted is what the flags let through.
func (f *filter) wanted() (listing.Filter, error) {
	wanted := listing.Filter{Agents: f.agents, States: f.states, Modes: f.modes, Last: f.last}
	if err := oneOf("--agent", f.agents, agentIDs()); err != nil {
		return wanted, err
	}
	if err := oneOf("--state", f.states, statusNames()); err != nil {
		return wanted, err
	}
	if err := oneOf("--mode", f.modes, modes); err != nil {
		return wanted, err
	}
	if f.here {
		var err error
		wanted.Dirs, err = workingDir()
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("the current directory is gone")
		}
		if err != nil {
			return wanted, fail(fmt.Errorf("--here: %w", err))
		}
	}
	return wanted, nil
}

// workingDir returns the names of the current directory: the shell's may have
// symbolic links, an agent's has none.
func workingDir() ([]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dirs := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dirs = append(dirs, real)
	}
	return dirs, nil
}

func oneOf(flag string, given, known []string) error {
	for _, v := range given {
		if !slices.Contains(known, v) {
			return fmt.Errorf("%s: unknown value %q, want one of: %s", flag, v, strings.Join(known, " "))
		}
	}
	return nil
}
