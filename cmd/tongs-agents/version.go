package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by packagers: -ldflags "-X main.version=1.2.3".
var version string

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  tongs-agents version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				return fail(json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{
					"version": currentVersion(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				}))
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "tongs-agents %s (%s, %s/%s)\n", currentVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return fail(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
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
