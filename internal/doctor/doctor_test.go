package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tongs-agents/internal/install"
)

// Whatever is examined, nothing of it changes.
func TestExamine(t *testing.T) {
	h := newHome(t)
	h.write(".claude/settings.json", "{}", 0o644)
	if _, err := install.Install(h.env(), install.Options{}); err != nil {
		t.Fatal(err)
	}
	before := tree(t, h.dir)
	report, err := Examine(Options{Env: h.env(), Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if report.Summary.Error > 0 || report.Summary.OK == 0 {
		t.Errorf("%+v\n%s", report.Summary, h.lines(report.Findings))
	}
	var names []string
	for _, f := range report.Findings {
		names = append(names, f.Check)
	}
	for _, c := range checks {
		if !slices.Contains(names, c.name) && c.name != "records" && c.name != "locks" { // there is no session
			t.Errorf("no finding of %s", c.name)
		}
	}
	if after := tree(t, h.dir); !slices.Equal(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
	if _, err := Examine(Options{Env: h.env(), Agents: []string{"nosuch"}}); err == nil {
		t.Error("an unknown agent was examined")
	}
}

// tree lists the files below a directory and when they were changed.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			list = append(list, path+" "+info.Mode().String()+" "+info.ModTime().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
