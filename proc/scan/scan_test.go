package scan

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"tongs-agents/proc"
	"tongs-agents/proc/proctest"
)

// The archives of package proc say what a scan lists: scan = HARNESS:PID:MODE
// for each, with +client, and /PID for each launcher, or none. Of one of them
// scan PID = DIRECTORY, or unknown, and the session that it was told to resume.
func TestList(t *testing.T) {
	archives, err := filepath.Glob("../testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("archives: %v, %v", archives, err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			root, lines := proctest.Tree(t, archive)
			for _, line := range lines {
				question, want, _ := strings.Cut(line, " = ")
				words := strings.Fields(question)
				if words[0] != "scan" {
					continue
				}
				found, err := List(root)
				if err != nil {
					t.Fatal(err)
				}
				got := format(found)
				if len(words) > 1 {
					got = workplace(found, words[1])
				}
				if got != want {
					t.Errorf("%s: got %s, want %s", question, got, want)
				}
			}
		})
	}
}

func format(found []Found) string {
	if len(found) == 0 {
		return "none"
	}
	var words []string
	for _, f := range found {
		word := fmt.Sprintf("%s:%d:%s", f.Harness, f.PID, f.Mode)
		if f.Client {
			word += "+client"
		}
		for _, pid := range f.Launchers {
			word += fmt.Sprintf("/%d", pid)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// workplace is where one of them works, and the session that it names.
func workplace(found []Found, pid string) string {
	for _, f := range found {
		if fmt.Sprint(f.PID) != pid {
			continue
		}
		if f.Cwd == "" {
			f.Cwd = "unknown"
		}
		return strings.TrimSpace(f.Cwd + " " + f.Resumed)
	}
	return "not found"
}

func TestListFields(t *testing.T) {
	root, _ := proctest.Tree(t, "../testdata/time.txtar")
	found, err := List(root)
	if err != nil || len(found) != 1 {
		t.Fatalf("List: got %+v, %v, want one", found, err)
	}
	// There are 100 ticks a second on every Linux that Go runs on.
	want := Found{
		Harness: "claude", PID: 440, Start: "12345", Comm: "claude", TTY: "pts/7",
		Cwd: "/home/u/work", StartedAt: time.Unix(1700000000, 0).Add(123450 * time.Millisecond),
		Mode: "interactive",
	}
	if got := found[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestListWithoutProc(t *testing.T) {
	if found, err := List(proc.FS(filepath.Join(t.TempDir(), "proc"))); err == nil {
		t.Errorf("got %v, want an error", found)
	}
	if found, err := List(proc.FS(t.TempDir())); err != nil || len(found) != 0 {
		t.Errorf("empty tree: got %v, %v, want none", found, err)
	}
}

func TestListRealProcess(t *testing.T) {
	cmd := agent(t, "claude")
	find := func() (Found, bool) {
		t.Helper()
		found, err := List(proc.Root)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(found, func(f Found) bool { return f.PID == cmd.Process.Pid })
		if i < 0 {
			return Found{}, false
		}
		return found[i], true
	}
	got, ok := find()
	if !ok || got.Harness != "claude" || got.Comm != "claude" || time.Since(got.StartedAt).Abs() > time.Minute {
		t.Errorf("got %+v, %v, want claude, started now", got, ok)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if got, ok := find(); ok {
		t.Errorf("killed: got %+v, want none", got)
	}
}

// agent starts a process of that name that does nothing.
func agent(t testing.TB, name string) *exec.Cmd {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(sleep, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

func TestStartedAt(t *testing.T) {
	self, err := procfs.Self()
	if err != nil {
		t.Fatal(err)
	}
	stat, err := self.Stat()
	if err != nil {
		t.Fatal(err)
	}
	want, err := stat.StartTime()
	if err != nil {
		t.Fatal(err)
	}
	got, err := StartedAt(fmt.Sprint(stat.Starttime))
	if err != nil || math.Abs(float64(got.UnixMilli())/1000-want) > 0.01 {
		t.Errorf("got %v, %v, want %f", got, err, want)
	}
	for _, start := range []string{"", "-1", "x", "18446744073709551615"} {
		if got, err := StartedAt(start); err == nil {
			t.Errorf("StartedAt(%q): got %v, want an error", start, got)
		}
	}
}

// BenchmarkList scans the processes of this machine and 2,000 more of our own,
// as pgrep does, which is what it must not be slower than.
func BenchmarkList(b *testing.B) {
	for range 2000 {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := List(proc.Root); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pgrep", func(b *testing.B) {
		for b.Loop() {
			exec.Command("pgrep", "-x", "claude").Run() // exit status 1: none
		}
	})
}
