package main_test

import (
	"os/exec"
	"path"
	"strings"
	"testing"
)

// A hook lives for a millisecond, so what it links is a decision: each of these
// would cost it more than all that it does, or could not be there without a
// mistake. A name that ends in /... stands for everything below it too.
func TestDeps(t *testing.T) {
	banned := []string{
		"os", "fmt", "log/...", "context", "flag", "regexp/...", "net/...", "crypto/...", "encoding/json/...", "text/...", "html/...",
		"tongs-agents/fsstore/maintain", "tongs-agents/proc/scan", "tongs-agents/internal/text", "tongs-agents/internal/listing",
		"github.com/...",
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 10 {
		t.Fatalf("got %v", deps)
	}
	for _, dep := range deps {
		for _, b := range banned {
			below, all := strings.CutSuffix(b, "/...")
			if dep == b || all && (dep == below || strings.HasPrefix(dep, below+"/")) {
				t.Errorf("the hook links %s", dep)
			}
		}
		if first, _, _ := strings.Cut(dep, "/"); strings.Contains(first, ".") && path.Dir(dep) != "golang.org/x/sys" {
			t.Errorf("the hook links %s, of another module", dep)
		}
	}
}

// Nothing of ours runs before main: the linker lists a package's init function
// if it has one.
func TestNoInit(t *testing.T) {
	out, err := exec.Command("go", "tool", "nm", hookPath()).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		name := fields[2]
		found = found || name == "tongs-agents/internal/hook.Run"
		pkg, symbol, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
		ours := strings.HasPrefix(name, "tongs-agents/") || pkg == "main"
		if ours && (symbol == "init" || strings.HasPrefix(symbol, "init.") && !strings.Contains(symbol, "func")) {
			t.Errorf("the hook runs %s", name)
		}
	}
	if !found {
		t.Error("nm does not list the functions of the hook")
	}
}
