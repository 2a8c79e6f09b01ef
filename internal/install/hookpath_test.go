package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The path of the hook is one that an update of tongs-agents does not change.
func TestFindHook(t *testing.T) {
	for _, test := range []struct {
		name    string
		tree    []string // programs, and links "name => target"
		invoked string   // below the home, unless it has no slash
		path    []string // directories of PATH
		want    string
		warning string
	}{
		{name: "beside the program", tree: []string{"a/tongs-agents", "a/tongs-agents-hook", "b/tongs-agents-hook"},
			invoked: "a/tongs-agents", path: []string{"b"}, want: "a/tongs-agents-hook"},
		{name: "beside the program that PATH leads to", tree: []string{"a/tongs-agents-hook", "b/tongs-agents", "b/tongs-agents-hook"},
			invoked: "tongs-agents", path: []string{"a", "b"}, want: "b/tongs-agents-hook"},
		{name: "in PATH", tree: []string{"a/tongs-agents", "b/tongs-agents-hook"},
			invoked: "a/tongs-agents", path: []string{"a", "b"}, want: "b/tongs-agents-hook"},
		{name: "a link stays", tree: []string{"opt/tongs-agents", "opt/tongs-agents-hook", "bin/tongs-agents => ../opt/tongs-agents", "bin/tongs-agents-hook => ../opt/tongs-agents-hook"},
			invoked: "bin/tongs-agents", want: "bin/tongs-agents-hook"},
		{name: "a linked directory stays", tree: []string{"releases/7/bin/tongs-agents", "releases/7/bin/tongs-agents-hook", "current => releases/7"},
			invoked: "current/bin/tongs-agents", want: "current/bin/tongs-agents-hook"},
		{name: "not executable", tree: []string{"a/tongs-agents", "a/tongs-agents-hook -x", "b/tongs-agents-hook"},
			invoked: "a/tongs-agents", path: []string{"b"}, want: "b/tongs-agents-hook"},

		{name: "a link to a release in PATH", tree: []string{"versions/3/tongs-agents", "versions/3/tongs-agents-hook", "bin/tongs-agents-hook => ../versions/3/tongs-agents-hook"},
			invoked: "versions/3/tongs-agents", path: []string{"bin"}, want: "bin/tongs-agents-hook"},
		{name: "a link to another release", tree: []string{"versions/3/tongs-agents", "versions/3/tongs-agents-hook", "versions/4/tongs-agents-hook", "bin/tongs-agents-hook => ../versions/4/tongs-agents-hook"},
			invoked: "versions/3/tongs-agents", path: []string{"bin"}, want: "versions/3/tongs-agents-hook", warning: "versions/3"},
		{name: "Homebrew", tree: []string{"brew/Cellar/tongs-agents/0.3.1/bin/tongs-agents-hook", "bin/tongs-agents", "brew/bin/tongs-agents-hook => ../Cellar/tongs-agents/0.3.1/bin/tongs-agents-hook"},
			invoked: "brew/Cellar/tongs-agents/0.3.1/bin/tongs-agents", want: "brew/bin/tongs-agents-hook"},
		{name: "Nix profile", tree: []string{"pkg/tongs-agents-0.3.1/bin/tongs-agents-hook", ".nix-profile => pkg/tongs-agents-0.3.1"},
			invoked: "pkg/tongs-agents-0.3.1/bin/tongs-agents", want: ".nix-profile/bin/tongs-agents-hook"},
		{name: "no link", tree: []string{"v1.2.3/tongs-agents-hook"},
			invoked: "v1.2.3/tongs-agents", want: "v1.2.3/tongs-agents-hook", warning: "v1.2.3"},
		{name: "go run", tree: []string{"go-build42/b001/exe/tongs-agents-hook"},
			invoked: "go-build42/b001/exe/tongs-agents", want: "go-build42/b001/exe/tongs-agents-hook", warning: "go-build42"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHome(t)
			if err := os.RemoveAll(h.path("bin")); err != nil {
				t.Fatal(err)
			}
			for _, line := range test.tree {
				name, target, isLink := strings.Cut(line, " => ")
				name, notExecutable := strings.CutSuffix(name, " -x")
				if isLink {
					h.link(target, name)
					continue
				}
				h.program(name)
				if notExecutable {
					h.chmod(name, 0o644)
				}
			}
			h.env.Invoked = test.invoked
			if strings.Contains(test.invoked, "/") {
				h.env.Invoked = h.path(test.invoked)
			}
			var dirs []string
			for _, dir := range test.path {
				dirs = append(dirs, h.path(dir))
			}
			h.env.Getenv = func(name string) string {
				if name == "PATH" {
					return "relative:" + strings.Join(dirs, ":")
				}
				return ""
			}
			got, warning, err := FindHook(h.env)
			if err != nil || got != h.path(test.want) {
				t.Errorf("got %s, %v; want %s", got, err, h.path(test.want))
			}
			if (warning != "") != (test.warning != "") || !strings.Contains(warning, " end with "+h.path(test.warning)) && warning != "" {
				t.Errorf("warning %q, want one of %q", warning, test.warning)
			}
		})
	}
}

// A relative call goes from the working directory, and through links as the
// kernel goes.
func TestFindHookRelative(t *testing.T) {
	h := newHome(t)
	h.program("deep/dir/x")
	h.program("deep/bin/" + hookName)
	h.link("deep/dir", "link")
	t.Chdir(h.path("link"))
	for _, invoked := range []string{"../bin/tongs-agents", "./../bin/tongs-agents"} {
		h.env.Invoked = invoked
		if got, _, err := FindHook(h.env); err != nil || !sameFile(got, h.path("deep/bin/"+hookName)) || got != filepath.Clean(got) {
			t.Errorf("%s: got %s, %v", invoked, got, err)
		}
	}
}

func TestFindHookFails(t *testing.T) {
	h := newHome(t)
	h.chmod("bin/"+hookName, 0o644)
	want := "tongs-agents-hook was not found beside tongs-agents nor in PATH; " + h.path("bin/"+hookName) + ": not executable"
	if got, _, err := FindHook(h.env); err == nil || err.Error() != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	h.program("a\nb/" + hookName)
	h.env.Invoked = h.path("a\nb/tongs-agents")
	if got, _, err := FindHook(h.env); err == nil || !strings.Contains(err.Error(), "control characters") {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestReleaseDir(t *testing.T) {
	for path, want := range map[string]string{
		"/home/me/.local/bin/x":                        "",
		"/usr/bin/x":                                   "",
		"/opt/tongs-agents/bin/x":                      "",
		"/home/me/versions/x":                          "",
		"/home/me/.local/share/x/versions/7/x":         "/home/me/.local/share/x/versions/7",
		"/nix/store/abc-tongs-agents-0.1/bin/x":        "/nix/store/abc-tongs-agents-0.1",
		"/gnu/store/abc-tongs-agents-0.1/bin/x":        "/gnu/store/abc-tongs-agents-0.1",
		"/opt/homebrew/Cellar/tongs-agents/0.1/bin/x":  "/opt/homebrew/Cellar/tongs-agents/0.1",
		"/home/me/.asdf/installs/tongs/0.1/bin/x":      "/home/me/.asdf/installs/tongs/0.1",
		"/opt/tongs-agents-0.1.2/x":                    "/opt/tongs-agents-0.1.2",
		"/opt/v2.0/x":                                  "/opt/v2.0",
		"/opt/2024/x":                                  "",
		"/home/me/go/pkg/mod/golang.org/x/1.2.3-rc1/x": "",
		"/opt/.1/x":                                    "",
		"/tmp/go-build123/b001/exe/x":                  "/tmp/go-build123",
	} {
		if got := releaseDir(path); got != want {
			t.Errorf("releaseDir(%s) = %q, want %q", path, got, want)
		}
	}
}
