package install

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/internal/harness"
)

// TestMain keeps the tests from the settings of whoever runs them: all that
// leads there leads nowhere.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "XDG_") || strings.HasSuffix(name, "_HOME") && name != "HOME" || strings.HasSuffix(name, "_DIR") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("HOME", "/nonexistent")
	os.Exit(m.Run())
}

// home is a throw-away home directory.
type home struct {
	t   *testing.T
	env Env
	dir string
}

// newHome makes one, with a hook and a tongs-agents in it. It refuses the real
// one.
func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir}
	if u, err := user.Current(); err == nil && (dir == u.HomeDir || strings.HasPrefix(u.HomeDir, dir+"/")) {
		t.Fatalf("refuse to run in the home directory %s", dir)
	}
	vars := map[string]string{"PATH": filepath.Join(dir, "bin")}
	h.env = Env{Home: dir, State: filepath.Join(dir, "state"), Invoked: filepath.Join(dir, "bin/tongs-agents"),
		Getenv: func(name string) string { return vars[name] }}
	h.program("bin/tongs-agents")
	h.program("bin/" + hookName)
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

func (h *home) program(name string) {
	h.t.Helper()
	h.write(name, "#!/bin/sh\n")
	if err := os.Chmod(h.path(name), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) write(name, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(h.path(name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// run installs or uninstalls, and returns what became of each file, a line
// each.
func (h *home) run(do func(Env, Options) (Report, error), agents ...string) string {
	h.t.Helper()
	report, err := do(h.env, Options{Agents: agents})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.states(report)
}

func (h *home) states(report Report) string {
	var b strings.Builder
	for _, a := range report.Agents {
		for _, f := range a.Files {
			fmt.Fprintf(&b, "%s %s", strings.TrimPrefix(f.Path, h.dir+"/"), f.State)
			if f.Reason != "" {
				fmt.Fprintf(&b, ": %s", f.Reason)
			}
			b.WriteByte('\n')
		}
	}
	return strings.ReplaceAll(b.String(), h.dir+"/", "")
}

func (h *home) inspect(agent string) Inspection {
	h.t.Helper()
	list, err := Inspect(h.env, agent)
	if err != nil || len(list) != 1 {
		h.t.Fatal(list, err)
	}
	return list[0]
}

// jsonAgents are those whose settings have entries.
func jsonAgents() []*agent {
	var list []*agent
	for i := range table {
		if f := table[i].files[len(table[i].files)-1]; f.asset == "" && !f.byHand {
			list = append(list, &table[i])
		}
	}
	return list
}

// settingsFile is the file of an agent that has entries, below the home.
func (h *home) settingsFile(a *agent) string {
	return strings.TrimPrefix(a.path(a.files[len(a.files)-1], h.env), h.dir+"/")
}

// Each event that we enter means something to the hook, and each agent that
// reports through hooks is in the table.
func TestTable(t *testing.T) {
	ids := map[string]bool{}
	for i := range table {
		a := &table[i]
		ids[a.id] = true
		h := a.harness()
		if h == nil {
			t.Errorf("%s is no harness", a.id)
			continue
		}
		if plugin := len(h.Hooks.Events) == 0; plugin != (len(a.events) == 0) {
			t.Errorf("%s has %d events, its harness %d", a.id, len(a.events), len(h.Hooks.Events))
		}
		seen := map[string]bool{}
		for _, e := range a.events {
			if h.Hooks.Event(e.name).Event == harness.NoEvent {
				t.Errorf("%s: %s means nothing", a.id, e.name)
			}
			if seen[e.name] {
				t.Errorf("%s: %s is there twice", a.id, e.name)
			}
			seen[e.name] = true
		}
		meanings := map[harness.Event]bool{}
		for _, e := range a.events {
			meanings[h.Hooks.Event(e.name).Event] = true
		}
		for _, e := range h.Hooks.Events {
			// Qwen's row has Claude's events, of which it does not send these.
			if !meanings[e.Event] && !(a.id == "qwen" && e.Event == harness.Elicitation) {
				t.Errorf("%s: nothing is entered that means %v", a.id, e.Event)
			}
		}
		if len(a.events) > 0 && (a.form.timeout == 0 || a.form.timeoutKey == "") {
			t.Errorf("%s has no timeout", a.id)
		}
	}
	for _, h := range harness.All() {
		if !ids[h.ID] && h.ID != harness.Other {
			t.Errorf("%s is not in the table", h.ID)
		}
	}
}
