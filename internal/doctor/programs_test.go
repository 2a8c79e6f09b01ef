package doctor

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

func TestPrograms(t *testing.T) {
	h := newHome(t)
	p := h.patient()
	p.exe = h.path("bin/tongs-agents")
	h.wants("both", p.programs(), `
ok: tongs-agents 1.2.3, ~/bin/tongs-agents
ok: hook ~/bin/tongs-agents-hook, of the same release
`)
	h.hook("exit 0")
	h.wants("script", h.patient().programs()[1:], `
ok: hook ~/bin/tongs-agents-hook; its release cannot be told
`)
	if err := os.Chmod(h.path("bin/tongs-agents-hook"), 0o644); err != nil {
		t.Fatal(err)
	}
	h.wants("not executable", h.patient().programs()[1:], `
error: tongs-agents-hook was not found beside tongs-agents nor in PATH; ~/bin/tongs-agents-hook: not executable: nothing can report
  make install
`)
}

// A hook of one release is named by its warning.
func TestReleaseDirectory(t *testing.T) {
	h := newHome(t)
	h.write("tongs-agents-1.2/bin/tongs-agents", "", 0o755)
	h.write("tongs-agents-1.2/bin/tongs-agents-hook", "#!/bin/sh\n", 0o755)
	if err := os.Remove(h.path("bin/tongs-agents-hook")); err != nil {
		t.Fatal(err)
	}
	env := h.env()
	env.Invoked = h.path("tongs-agents-1.2/bin/tongs-agents")
	p, err := admit(Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer p.discharge()
	got := h.lines(p.programs()[1:2])
	if !strings.HasPrefix(got, "warn: ~/tongs-agents-1.2/bin/tongs-agents-hook belongs to one release") ||
		!strings.Contains(got, "\n  ln -s ~/tongs-agents-1.2/bin/tongs-agents-hook ~/.local/bin/tongs-agents-hook && ~/tongs-agents-1.2/bin/tongs-agents install\n") {
		t.Error(got)
	}
}

func TestDiffer(t *testing.T) {
	build := func(path, version, revision string) *debug.BuildInfo {
		b := &debug.BuildInfo{Main: debug.Module{Path: path, Version: version}}
		if revision != "" {
			b.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: revision}}
		}
		return b
	}
	own := build("tongs-agents", "v1.2.3", "abc")
	for _, test := range []struct {
		other *debug.BuildInfo
		want  string
	}{
		{build("tongs-agents", "v1.2.3", "abc"), ""},
		{build("tongs-agents", "(devel)", ""), ""},
		{build("tongs-agents", "v1.2.2", ""), "its version is v1.2.2, not v1.2.3"},
		{build("tongs-agents", "(devel)", "def"), "its revision is def, not abc"},
		{build("example.com/other", "v1.2.3", "abc"), "its module is example.com/other, not tongs-agents"},
	} {
		if got := differ(own, test.other); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if got := differ(nil, own); got != "" {
		t.Errorf("without build information: %q", got)
	}
}
