package proc_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tongs-agents/internal/harness"
	"tongs-agents/proc"
	"tongs-agents/proc/proctest"
)

// The archives in testdata say in their want file what is asked and answered,
// a line each: question = answer. Package scan asks the questions "scan".
//
//	owner PPID = PID HARNESS MODE, none, or unknown
//	harness PID, scanned PID = HARNESS, none, or unknown
//	helper PID = true or false
//	program PID = script and arguments, quoted
//	check PID HARNESS = answer
func TestStories(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("archives: %v, %v", archives, err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			root, lines := proctest.Tree(t, archive)
			for _, line := range lines {
				question, want, ok := strings.Cut(line, " = ")
				if !ok {
					t.Fatalf("want: no answer in %q", line)
				}
				if strings.HasPrefix(question, "scan ") || question == "scan" {
					continue
				}
				if got := answer(t, root, strings.Fields(question)); got != want {
					t.Errorf("%s: got %s, want %s", question, got, want)
				}
			}
		})
	}
}

func answer(t *testing.T, root proc.FS, question []string) string {
	t.Helper()
	pid, err := strconv.Atoi(question[1])
	if err != nil {
		t.Fatal(err)
	}
	if question[0] == "owner" {
		p, h, err := root.Owner(pid)
		if h == nil {
			return name(nil, err)
		}
		return fmt.Sprintf("%d %s %s", p.PID, h.ID, p.Mode(h))
	}
	if question[0] == "check" {
		got, _ := root.Check(proc.Identity{PID: question[1], Harness: question[2]}, proc.Host{})
		return got.String()
	}
	p, err := root.Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	switch question[0] {
	case "harness":
		return name(p.Harness(false))
	case "scanned":
		return name(p.Harness(true))
	case "helper":
		h, err := p.Harness(false)
		if h == nil {
			t.Fatalf("%v: no harness: %v", question, err)
		}
		helper, err := p.Helper(h)
		if err != nil {
			t.Error(err)
		}
		return strconv.FormatBool(helper)
	case "program":
		script, args, err := p.Program()
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprintf("%q %q", script, args)
	}
	t.Fatalf("unknown question %q", question)
	return ""
}

func name(h *harness.Harness, err error) string {
	switch {
	case h != nil:
		return h.ID
	case err != nil:
		return "unknown"
	}
	return "none"
}
