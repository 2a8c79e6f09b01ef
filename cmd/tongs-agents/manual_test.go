package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tongs-agents/internal/manual"
)

// Each command that help lists has a page, and no page has an error.
func TestManual(t *testing.T) {
	pages := manual.Pages(newRoot(), manual.Edition{Date: "2026-01-02", Version: "1.2.3"})
	for _, cmd := range newRoot().Commands() {
		if name := "tongs-agents-" + cmd.Name() + ".1"; !cmd.Hidden && pages[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	dir := t.TempDir()
	var names []string
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	lint := exec.Command("mandoc", append([]string{"-Tlint", "-Wwarning"}, names...)...)
	lint.Dir = dir
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
}

// The pages are no part of the program.
func TestManualNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "tongs-agents/internal/hook") || slices.Contains(deps, "tongs-agents/internal/manual") {
		t.Errorf("got %v", deps)
	}
}
