package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by packagers: -ldflags "-X main.version=1.2.3".
var version string

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Example:           "  tongs-agents version",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return fail(printVersion(cmd.OutOrStdout(), asJSON))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printVersion(w io.Writer, asJSON bool) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if asJSON {
		return printJSON(w, map[string]string{"version": currentVersion(), "go": runtime.Version(), "platform": platform})
	}
	_, err := fmt.Fprintf(w, "tongs-agents %s (%s, %s)\n", currentVersion(), runtime.Version(), platform)
	return err
}

func currentVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
