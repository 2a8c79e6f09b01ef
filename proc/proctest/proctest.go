// Package proctest makes proc file systems for tests from archives in txtar
// format, one story each.
//
// PID/cmdline has one argument a line; a line that is a quoted Go string stands
// for what it quotes, such as an argument that holds a newline or a NUL.
// PID/exe, PID/cwd and PID/ns/pid become symbolic links. All other files are
// written as they are. What has the text "!unreadable" cannot be read, even by
// root: it becomes a directory, or in place of a link a regular file.
package proctest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tongs-agents/proc"
)

// Tree unpacks the archive into a directory of its own. The file named want
// is not part of the tree: its lines are returned, without empty ones.
func Tree(t testing.TB, archive string) (root proc.FS, want []string) {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		text := strings.TrimSuffix(string(f.Data), "\n")
		if f.Name == "want" {
			for line := range strings.SplitSeq(text, "\n") {
				if line != "" {
					want = append(want, line)
				}
			}
			continue
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := write(path, text); err != nil {
			t.Fatal(err)
		}
	}
	return proc.FS(dir), want
}

func write(path, text string) error {
	switch name := filepath.Base(path); {
	case text == "!unreadable" && (name == "exe" || name == "cwd"):
		return os.WriteFile(path, nil, 0o600)
	case text == "!unreadable":
		return os.Mkdir(path, 0o700)
	case name == "exe" || name == "cwd" || strings.HasSuffix(path, "/ns/pid"):
		return os.Symlink(text, path)
	case name == "cmdline":
		return os.WriteFile(path, cmdline(text), 0o600)
	}
	return os.WriteFile(path, []byte(text+"\n"), 0o600)
}

func cmdline(text string) []byte {
	if text == "" {
		return nil
	}
	var data []byte
	for arg := range strings.SplitSeq(text, "\n") {
		if unquoted, err := strconv.Unquote(arg); err == nil {
			arg = unquoted
		}
		data = append(append(data, arg...), 0)
	}
	return data
}
