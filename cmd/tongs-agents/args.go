package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noArgs finds wrong usage of a command that takes no arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

var errNoQuery = errors.New("QUERY is missing")

// oneQuery finds wrong usage of a command that takes one query.
func oneQuery(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errNoQuery
	case 1:
		return nil
	}
	return fmt.Errorf("one QUERY is wanted, not %d", len(args))
}

// oneQueryOrNone finds wrong usage of a command that takes one query or none.
func oneQueryOrNone(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return errors.New("at most one QUERY is wanted")
	}
	return nil
}

// queries finds wrong usage of a command that takes one query or more.
func queries(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errNoQuery
	}
	return nil
}

// flagError says what is wrong with the value of a flag. The library tells of
// its parser too.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	switch f := invalid.GetFlag(); f.Value.Type() {
	case "bool":
		return fmt.Errorf("--%s: neither true nor false: %q", f.Name, invalid.GetValue())
	case "duration":
		return fmt.Errorf("--%s: no duration such as 20m or 8h: %q", f.Name, invalid.GetValue())
	}
	return err
}
