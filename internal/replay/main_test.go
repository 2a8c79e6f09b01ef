package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const captures = "../hook/testdata/captures/"

// bin is where TestMain builds the programs.
var bin string

func TestMain(m *testing.M) { os.Exit(withPrograms(m)) }

func withPrograms(m *testing.M) int {
	dir, err := os.MkdirTemp("", "replay-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	build := exec.Command("go", "build", "-o", dir, ".", "../../cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build, err, out)
		return 1
	}
	return m.Run()
}

// run replays recordings in an environment that would disturb it, and returns
// what it prints.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "replay"), args...)
	home := t.TempDir()
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8",
		"TONGS_AGENTS_STATE_DIR=" + filepath.Join(home, "mine"), "TONGS_AGENTS_DEBUG=1", "TONGS_AGENTS_DISABLE=1",
	}
	var out, errors strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errors
	err = cmd.Run()
	left, globErr := filepath.Glob(filepath.Join(home, "*"))
	if globErr != nil || len(left) > 0 {
		t.Errorf("replay has left %v", left)
	}
	return out.String(), errors.String(), err
}

var (
	age  = regexp.MustCompile(` +\d+[sm]$`)
	live = regexp.MustCompile(`^(\S+) +\d+ +\d+[sm] +`)
)

// What real agents called their hooks with comes out as the states that the
// user saw on their screens.
func TestReplay(t *testing.T) {
	recordings, err := filepath.Glob(captures + "*.jsonl")
	if err != nil || len(recordings) != 4 {
		t.Fatalf("recordings %v, %v; want 4", recordings, err)
	}
	stdout, stderr, err := run(t, append([]string{"-bin", bin}, recordings...)...)
	if err != nil || stderr != "" {
		t.Fatalf("replay: %v, standard error %q", err, stderr)
	}
	got := section(stdout, "$ tongs-agents status    # in the middle of the recordings\n")
	want := `claude  app   waiting  Claude needs your permission
codex   app   waiting  permission needed: Bash
codex   app   waiting  permission needed: Bash
gemini  app   running  using run_shell_command
`
	if got != want {
		t.Errorf("in the middle\n%s\nwant\n%s", got, want)
	}

	got = section(stdout, "$ tongs-agents ps    # in the middle of the recordings\n")
	want = `01a22750-2732-7c12-af4f-f88a8206b176 /home/dev/src/app  —
01a22753-b37f-7ac0-bd4e-8aa6ba186f86 /home/dev/src/app  —
8269c8ab-a10a-4f3b-8381-fa795d3880b7 /home/dev/src/app  —
872de908-a5e1-4c70-ab5a-4b92dfdb8275 /home/dev/src/app  —
`
	if got != want {
		t.Errorf("running in the middle\n%s\nwant\n%s", got, want)
	}

	// Claude Code calls no hook for Esc, which ended its last turn.
	got = section(stdout, "$ tongs-agents status    # at their end\n")
	want = `claude  app   running  processing prompt
codex   app   ended    session closed
codex   app   idle     The stub model has answered.
gemini  app   ended    session closed
`
	if got != want {
		t.Errorf("at the end\n%s\nwant\n%s", got, want)
	}
}

// section returns the rows of a table in order, without ages and pids.
func section(stdout, head string) string {
	_, rest, _ := strings.Cut(stdout, head)
	table, _, _ := strings.Cut(rest, "\n\n")
	_, rows, _ := strings.Cut(strings.TrimSpace(table), "\n")
	lines := strings.Split(rows, "\n")
	for i, line := range lines {
		lines[i] = live.ReplaceAllString(age.ReplaceAllString(line, ""), "$1 ")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func TestWrongRecordings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"none", nil, "replay: no recordings given\n"},
		{"missing", []string{"-bin", bin, dir + "/claude.jsonl"}, "replay: " + dir + "/claude.jsonl: open "},
		{"empty", []string{"-bin", bin, write("claude-empty.jsonl", "")}, "no recorded call\n"},
		{"no JSON", []string{"-bin", bin, write("claude-text.jsonl", "text\n")}, "invalid character"},
		{"no programs", []string{"-bin", dir, captures + "gemini-0.61-headless.jsonl"}, "tongs-agents-hook: no such file"},
	} {
		stdout, stderr, err := run(t, test.args...)
		if err == nil || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: %v, standard output %q, standard error %q; want %q", test.name, err, stdout, stderr, test.want)
		}
	}
}
