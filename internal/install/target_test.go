package install

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func (h *home) link(target, name string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(target, h.path(name)); err != nil {
		h.t.Fatal(err)
	}
}

// Symbolic links stay, and what they lead to is changed.
func TestLinks(t *testing.T) {
	const file = ".claude/settings.json"
	for _, test := range []struct {
		name   string
		make   func(h *home)
		want   string // of install, after the path
		target string // where the settings are
	}{
		{"a link", func(h *home) {
			h.write("dotfiles/claude.json", "{}\n")
			h.link(h.path("dotfiles/claude.json"), file)
		}, "added", "dotfiles/claude.json"},
		{"a chain of relative links", func(h *home) {
			h.write("dotfiles/real/claude.json", "{}\n")
			h.link("real/claude.json", "dotfiles/c")
			h.link("../dotfiles/c", "links/b")
			h.link("../links/b", file)
		}, "added", "dotfiles/real/claude.json"},
		{"a linked directory, and a relative link in it", func(h *home) {
			h.write("dotfiles/other.json", "{}\n")
			h.link("../other.json", "dotfiles/claude/settings.json")
			h.link("dotfiles/claude", ".claude")
		}, "added", "dotfiles/other.json"},
		{"a dangling link", func(h *home) {
			h.write("dotfiles/x", "")
			h.link("../dotfiles/claude.json", file)
		}, "added", "dotfiles/claude.json"},
		{"a dangling link to a missing directory", func(h *home) { h.link("../none/claude.json", file) },
			"left alone: is a link to none/claude.json, whose directory is not there", ""},
		{"a loop", func(h *home) {
			h.link("b", ".claude/a")
			h.link("a", ".claude/b")
			h.link("a", file)
		}, "left alone: too many levels of symbolic links", ""},
		{"a directory", func(h *home) { h.write(file+"/x", "") }, "left alone: no regular file", ""},
		{"a FIFO", func(h *home) {
			h.write(".claude/x", "")
			if err := unix.Mkfifo(h.path(file), 0o600); err != nil {
				h.t.Fatal(err)
			}
		}, "left alone: no regular file", ""},
		{"a file for the directory", func(h *home) { h.write(".claude", "") }, "left alone: not a directory", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHome(t)
			test.make(h)
			before := tree(t, h.dir)
			if got, want := h.run(Install, "claude"), file+" "+test.want+"\n"; got != want {
				t.Errorf("install: got %q, want %q", got, want)
			}
			if test.target != "" {
				if in := h.inspect("claude").Files[0]; !in.Complete() || in.Target != h.path(test.target) {
					t.Errorf("%+v", in)
				}
				if info, err := os.Lstat(h.path(test.target)); err != nil || !info.Mode().IsRegular() {
					t.Error(info, err)
				}
				h.run(Uninstall, "claude")
				if got := tree(t, h.dir); got != before {
					t.Errorf("left:\n%s\nwant:\n%s", got, before)
				}
				// From another environment.
				h.run(Install, "claude")
				h.env.Home = h.path("elsewhere")
				if got, want := h.run(Uninstall, "claude"), test.target+" removed\n"; got != want {
					t.Errorf("uninstall: got %q, want %q", got, want)
				}
			}
			if got := tree(t, h.dir); got != before {
				t.Errorf("left:\n%s\nwant:\n%s", got, before)
			}
		})
	}
}

// What somebody else manages is left alone, and what to enter is said.
func TestReadOnly(t *testing.T) {
	const file = ".claude/settings.json"
	for _, test := range []struct {
		name string
		make func(h *home)
		want string
	}{
		{"file", func(h *home) { h.chmod(file, 0o444) }, "read-only"},
		{"directory", func(h *home) { h.chmod(".claude", 0o555) }, "its directory .claude is read-only"},
		{"link into a store", func(h *home) {
			h.write("store/claude.json", "{}\n")
			h.chmod("store/claude.json", 0o444)
			h.chmod("store", 0o555)
			if err := os.Remove(h.path(file)); err != nil {
				h.t.Fatal(err)
			}
			h.link("../store/claude.json", file)
		}, "read-only"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHome(t)
			h.write(file, "{}\n")
			test.make(h)
			before := tree(t, h.dir)
			report, err := Install(h.env, Options{Agents: []string{"claude", "codex"}})
			if err != nil {
				t.Fatal(err)
			}
			want := file + " left alone: " + test.want + "\n.codex/hooks.json added\n"
			if got := h.states(report); got != want || report.Failures() != 1 {
				t.Errorf("got %q, %d failures; want %q", got, report.Failures(), want)
			}
			snippet := report.Agents[0].Files[0].Snippet
			if !json.Valid([]byte(snippet)) || strings.Count(snippet, hookName) != 16 {
				t.Errorf("snippet %s", snippet)
			}
			h.run(Uninstall, "claude", "codex")
			if got := tree(t, h.dir); got != before {
				t.Errorf("left:\n%s\nwant:\n%s", got, before)
			}
		})
	}
}

func (h *home) chmod(name string, mode os.FileMode) {
	h.t.Helper()
	if err := os.Chmod(h.path(name), mode); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { os.Chmod(h.path(name), 0o755) })
}

// What cannot be parsed is left alone, and the line is said.
func TestUnparsable(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3, column 3: invalid character '\"' after object value (expecting ',' or '}')"},
		{"{\"a\": 1", "line 1, column 8: parsing object after value: unexpected EOF"},
		{"{} {}", "line 1, column 4: invalid character '{' after top-level value"},
		{"[]", "line 1: the settings are no object, but an array"},
		{"\n7", "line 2: the settings are no object, but a number"},
		{"{\n\"hooks\": null}", `line 2: "hooks" is no object, but null`},
		{"{\n\"hooks\": []}", `line 2: "hooks" is no object, but an array`},
		{"{\"hooks\": {\n\"Stop\": {}}}", `line 2: "Stop" is no array, but an object`},
		{`{"hooks": {"Stop": "x"}}`, `line 1: "Stop" is no array, but a text`},
		{`{"hooks": {}, "hooks": {}}`, `"hooks" is there twice`},
		{`{"hooks": {"Stop": [], "St\u006fp": []}}`, `line 1: in "hooks", "Stop" is there twice`},
		{"\n" + strings.Repeat("[", 1<<20), "line 2: nested too deeply"},
		{"{\"a\": 1}\x00", `line 1, column 9: invalid character '\u0000' after top-level value`},
	} {
		h := newHome(t)
		const file = ".claude/settings.json"
		h.write(file, test.text)
		report, err := Install(h.env, Options{Agents: []string{"claude", "gemini"}})
		if err != nil {
			t.Fatal(err)
		}
		want := file + " left alone: " + test.want + "\n.gemini/settings.json added\n"
		if got := h.states(report); got != want || report.Failures() != 1 {
			t.Errorf("%.40q: got %q, want %q", test.text, got, want)
		}
		if got := h.read(file); got != test.text {
			t.Errorf("%.40q became %.40q", test.text, got)
		}
		if in := h.inspect("claude").Files[0]; in.Error != test.want || in.Complete() {
			t.Errorf("%.40q: inspected %+v", test.text, in)
		}
		h.run(Uninstall, "claude")
		if got := h.read(file); got != test.text {
			t.Errorf("%.40q became %.40q by uninstall", test.text, got)
		}
	}
}

// Uninstall says so only of a file that may have entries of ours.
func TestUninstallUnparsable(t *testing.T) {
	h := newHome(t)
	const file = ".claude/settings.json"
	h.write(file, "{\n\"a\": tongs-agents-hook")
	h.write(".agents", "no directory")
	if got, want := h.run(Uninstall), file+" left alone: line 2, column 6: invalid literal: tongs-agents-hook\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	h.write(file, "{\n\"a\": nothing")
	if got, want := h.run(Uninstall), file+" unchanged\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A full disk leaves the old file, no other one, and a message.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts a file system")
	}
	h := newHome(t)
	small := h.path(".claude")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=8k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(small, unix.MNT_DETACH) })
	const file = ".claude/settings.json"
	text := "{\n  \"a\": \"" + strings.Repeat("x", 4000) + "\"\n}\n"
	h.write(file, text)
	want := file + " left alone: no space left on device\n.gemini/settings.json added\n"
	if got := h.run(Install, "claude", "gemini"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := h.read(file); got != text {
		t.Errorf("the file became %.60q", got)
	}
	if left, err := os.ReadDir(small); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// Without a place to remember what was there, nothing is changed.
func TestNoState(t *testing.T) {
	h := newHome(t)
	h.write("state", "no directory")
	if _, err := Install(h.env, Options{Agents: []string{"claude"}}); err == nil {
		t.Error("done")
	}
	if _, err := os.Stat(h.path(".claude")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// A file that changes between reading and writing is not overwritten.
func TestReplaceChanged(t *testing.T) {
	h := newHome(t)
	h.write("f", "old")
	target := target{path: h.path("f")}
	old, err := target.read()
	if err != nil {
		t.Fatal(err)
	}
	h.write("f", "theirs")
	if err := target.replace(old, []byte("ours")); !errors.Is(err, errChanged) || h.read("f") != "theirs" {
		t.Errorf("%v, %s", err, h.read("f"))
	}
	if err := target.remove(old); !errors.Is(err, errChanged) {
		t.Error(err)
	}
	if err := target.replace(content{}, []byte("ours")); !errors.Is(err, errChanged) || h.read("f") != "theirs" {
		t.Errorf("%v, %s", err, h.read("f"))
	}
	if names, _ := filepath.Glob(h.path(".tongs*")); len(names) > 0 {
		t.Error(names)
	}
}

// Temporary files of writers that were killed go, those of living ones stay.
func TestLeftovers(t *testing.T) {
	h := newHome(t)
	dead, alive := ".claude/.tongs-agents-4194304.tmp", ".claude/.tongs-agents-1.tmp"
	h.write(dead, "{")
	h.write(alive, "{")
	h.run(Install, "claude")
	if _, err := os.Stat(h.path(dead)); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, err := os.Stat(h.path(alive)); err != nil {
		t.Error(err)
	}
}

// An agent rewrites its settings while we install again and again. It counts,
// and finds its count as it left it: at least whenever it looks longer than we
// take between comparing and renaming.
func TestConcurrentWriter(t *testing.T) {
	h := newHome(t)
	const file = ".claude/settings.json"
	h.write(file, `{"n": 0}`)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
			}
			text, err := os.ReadFile(h.path(file))
			if err != nil {
				t.Error(err)
				return
			}
			var settings map[string]any
			if err := json.Unmarshal(text, &settings); err != nil {
				t.Errorf("%v: %q", err, text) // half a file
				return
			}
			settings["n"] = n
			text, _ = json.MarshalIndent(settings, "", "  ")
			temp := h.path(file + ".new")
			if err := errors.Join(os.WriteFile(temp, text, 0o600), os.Rename(temp, h.path(file))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 50 {
		got := h.run(Install, "claude")
		if strings.Contains(got, "left alone") && !strings.Contains(got, errChanged.Error()) {
			t.Error(got)
		}
		h.run(Uninstall, "claude")
	}
	close(stop)
	writer.Wait()
	if got := h.run(Install, "claude"); strings.Contains(got, "left alone") {
		t.Error(got)
	}
	if in := h.inspect("claude").Files[0]; !in.Complete() {
		t.Errorf("%+v", in)
	}
	if n, ok := decode(t, h.read(file))["n"].(float64); !ok || n == 0 {
		t.Errorf("n is %v", n)
	}
}

// Several installations at once leave one entry.
func TestConcurrentInstalls(t *testing.T) {
	h := newHome(t)
	const file = ".claude/settings.json"
	before := "{\n  \"hooks\": {},\n}\n"
	h.write(file, before)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := Install(h.env, Options{Agents: []string{"claude"}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := strings.Count(h.read(file), hookName); got != 16 {
		t.Errorf("%d entries", got)
	}
	h.run(Uninstall, "claude")
	if got := h.read(file); got != before {
		t.Errorf("got %q", got)
	}
}
