package assets

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hook is the program that the files run.
var hook string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if _, err := exec.LookPath("node"); err != nil {
		fmt.Fprintln(os.Stderr, "the files are run by node, which is not installed")
		return 1
	}
	bin, err := os.MkdirTemp("", "tongs-agents-assets-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	hook = filepath.Join(bin, "tongs-agents-hook")
	build := exec.Command("go", "build", "-trimpath", "-o", hook, "tongs-agents/cmd/tongs-agents-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func render(t testing.TB, name, path string) []byte {
	t.Helper()
	return Render(name, path)
}

func TestRender(t *testing.T) {
	for _, name := range []string{OpenCode, Pi} {
		for path, want := range map[string]string{
			"/usr/bin/tongs-agents-hook":  `"/usr/bin/tongs-agents-hook"`,
			"/home/a \"b\"/$1 <&>\\/hook": `"/home/a \"b\"/$1 <&>\\/hook"`,
			"/home/é/\u2028/hook":         `"/home/é/\u2028/hook"`,
			"/home/@HOOK@/hook":           `"/home/@HOOK@/hook"`,
		} {
			got := render(t, name, path)
			if !bytes.Contains(got, []byte("\nconst HOOK = "+want+";\n")) {
				t.Errorf("%s: want HOOK = %s", name, want)
			}
			if strings.Count(string(got), placeholder) != strings.Count(path, placeholder) {
				t.Errorf("%s: a placeholder is left for %s", name, path)
			}
		}
	}
}

func TestOurs(t *testing.T) {
	for content, want := range map[string]bool{
		string(render(t, OpenCode, "/x/hook")):       true,
		string(render(t, Pi, "/x/hook")):             true,
		string(render(t, Goose, "/x/hook")):          true,
		"// by tongs-agents install, version 99\r\n": true,
		"":                        false,
		"// tongs-agents install": false,
		"// runs tongs-agents-hook snapshot --agent opencode\n": false,
	} {
		if got := Ours([]byte(content)); got != want {
			t.Errorf("Ours(%.40q) = %t", content, got)
		}
	}
}

func TestHook(t *testing.T) {
	for _, name := range []string{OpenCode, Pi} {
		for _, path := range []string{"/usr/bin/tongs-agents-hook", "/home/a \"b\"/\u2028/hook"} {
			if got, ok := Hook(name, render(t, name, path)); got != path || !ok {
				t.Errorf("%s: got %q, %t, want %q", name, got, ok, path)
			}
		}
	}
	for _, content := range []string{"", "const HOOK = ", "const HOOK = 7;"} {
		if got, ok := Hook(Pi, []byte(content)); ok {
			t.Errorf("%q: got %q", content, got)
		}
	}
}
