//go:build share

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tongs-agents/internal/manual"
)

// Built with the tag share, which no release is, the program does nothing but
// write manual pages and completions into a directory, as PREFIX/share has them.
// It is part of the command because only that knows all commands.
//
//	go run -tags share ./cmd/tongs-agents DIR
//
// SOURCE_DATE_EPOCH dates the pages; without it they have no date.
func init() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags share ./cmd/tongs-agents DIR")
		os.Exit(2)
	}
	syscall.Umask(0o022)
	if err := writeShare(os.Args[1]); err != nil {
		complain(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func writeShare(dir string) error {
	edition := manual.Edition{Version: version}
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		edition.Date = time.Unix(seconds, 0).UTC().Format(time.DateOnly)
	}
	root := newRoot()
	for name, page := range manual.Pages(root, edition) {
		if err := replace(filepath.Join(dir, "man/man1", name), page); err != nil {
			return err
		}
	}
	for name, generate := range map[string]func(io.Writer) error{
		"bash-completion/completions/tongs-agents":    func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh/site-functions/_tongs-agents":            root.GenZshCompletion,
		"fish/vendor_completions.d/tongs-agents.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	} {
		var script strings.Builder
		if err := generate(&script); err != nil {
			return err
		}
		if err := replace(filepath.Join(dir, name), script.String()); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a new file, like install(1): what a link in its place points to
// stays as it is.
func replace(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
