package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/metrics"
)

func newMetrics() *cobra.Command {
	var textfile string
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Numbers of the sessions, for Prometheus",
		Long: `metrics prints in the text format of Prometheus how many sessions of each agent
are in which state, how many need you, for how long the oldest one has waited,
and how the store is. With --textfile it replaces a file, for the textfile
collector of node_exporter; if it fails, the file stays as it was.`,
		Example: `  tongs-agents metrics
  tongs-agents metrics --textfile /var/lib/node_exporter/tongs-agents.prom`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			toFile := cmd.Flags().Changed("textfile")
			if toFile && textfile == "" {
				return errors.New("--textfile: the path is empty")
			}
			dir, err := fsstore.StateDir()
			if err != nil {
				return fail(err)
			}
			snapshot, err := metrics.Read(dir, time.Now())
			if err != nil {
				return fail(storeError(err))
			}
			text := metrics.Append(nil, snapshot, metrics.Build{Version: currentVersion(), Go: runtime.Version()})
			if toFile {
				return fail(replaceFile(textfile, text))
			}
			_, err = cmd.OutOrStdout().Write(text)
			return fail(err)
		},
	}
	cmd.Flags().StringVar(&textfile, "textfile", "", "replace this file, and print nothing")
	return cmd
}

// replaceFile replaces a file, so that a reader sees the old text or the new
// one. The file can be read by all, as far as the umask allows. Only a regular
// file is replaced: a link or a device is there for something else.
func replaceFile(path string, text []byte) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("%s: %w", path, bare(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("%s: %w", path, bare(err))
	}
	defer f.Cleanup()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("%s: %w", path, bare(err))
	}
	return f.CloseAtomicallyReplace()
}
