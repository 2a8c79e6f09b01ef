package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/internal/install"
)

// TestMain builds the hook, and keeps the tests from the settings and the store
// of whoever runs them: all that leads there leads nowhere.
func TestMain(m *testing.M) { os.Exit(withHook(m)) }

var builtHook string

func withHook(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tongs-agents-doctor-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	builtHook = filepath.Join(dir, "tongs-agents-hook")
	build := exec.Command("go", "build", "-o", builtHook, "tongs-agents/cmd/tongs-agents-hook")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build, err, out)
		return 1
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "TONGS_AGENTS_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("HOME", "/nonexistent")
	return m.Run()
}

// home is a throw-away home directory with the hook in it.
type home struct {
	t    *testing.T
	dir  string
	vars map[string]string
}

// newHome makes one, and refuses the real one.
func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if u, err := user.Current(); err == nil && (dir == u.HomeDir || strings.HasPrefix(u.HomeDir, dir+"/")) {
		t.Fatalf("refuse to run in the home directory %s", dir)
	}
	h := &home{t: t, dir: dir, vars: map[string]string{"PATH": filepath.Join(dir, "bin")}}
	h.write("bin/tongs-agents", "#!/bin/sh\n", 0o755)
	if err := os.Symlink(builtHook, h.path("bin/tongs-agents-hook")); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

func (h *home) write(name, text string, mode os.FileMode) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), mode); err != nil {
		h.t.Fatal(err)
	}
}

// hook puts a program in the place of the hook.
func (h *home) hook(script string) {
	h.t.Helper()
	if err := os.Remove(h.path("bin/tongs-agents-hook")); err != nil {
		h.t.Fatal(err)
	}
	h.write("bin/tongs-agents-hook", "#!/bin/sh\n"+script+"\n", 0o755)
}

func (h *home) env() install.Env {
	return install.Env{
		Home: h.dir, State: h.path("state"), Invoked: h.path("bin/tongs-agents"),
		Getenv: func(name string) string { return h.vars[name] },
	}
}

func (h *home) patient(agents ...string) *patient {
	h.t.Helper()
	p, err := admit(Options{Env: h.env(), Agents: agents, Version: "1.2.3"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(p.discharge)
	return p
}

// lines writes findings a line each, with the home directory as ~.
func (h *home) lines(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Level, f.Text)
		if f.Repair != "" {
			fmt.Fprintf(&b, "  %s\n", f.Repair)
		}
	}
	return strings.ReplaceAll(b.String(), h.dir, "~")
}

// wants reports a difference between findings and lines.
func (h *home) wants(what string, findings []Finding, want string) {
	h.t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := h.lines(findings); got != want {
		h.t.Errorf("%s: got\n%swant\n%s", what, got, want)
	}
}
