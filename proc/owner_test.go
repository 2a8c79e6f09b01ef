package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"tongs-agents/proc"
	"tongs-agents/proc/proctest"
)

func TestHasAncestor(t *testing.T) {
	root, _ := proctest.Tree(t, "testdata/gemini-nested.txtar")
	for _, test := range []struct {
		pid   int
		start string
		want  bool
	}{
		{3889, "90793", true},
		{3889, "", true},
		{3889, "90794", false},
		{3824, "90654", true},
		{3900, "12900", true}, // the parent itself
		{1, "", true},
		{3950, "", false},
		{0, "", false},
		{-1, "", false},
	} {
		if got := root.HasAncestor(3900, test.pid, test.start); got != test.want {
			t.Errorf("HasAncestor(%d, %q): got %v, want %v", test.pid, test.start, got, test.want)
		}
	}
}

// A walk ends in a chain that has no end, and one that is too long.
func TestOwnerBounds(t *testing.T) {
	dir := t.TempDir()
	write := func(pid, ppid int, comm string) {
		path := filepath.Join(dir, strconv.Itoa(pid))
		line := fmt.Sprintf("%d (%s) S %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d\n", pid, comm, ppid, pid)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "stat"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(10, 11, "a")
	write(11, 10, "b")
	if p, h, _ := proc.FS(dir).Owner(10); p != nil || h != nil {
		t.Errorf("circle: got %+v, %+v, want none", p, h)
	}
	for i := range 64 {
		write(100+i, 101+i, "a")
	}
	write(164, 1, "claude")
	if p, _, _ := proc.FS(dir).Owner(100); p != nil {
		t.Errorf("65th ancestor: got %d, want none", p.PID)
	}
	if p, _, _ := proc.FS(dir).Owner(101); p == nil || p.PID != 164 {
		t.Errorf("64th ancestor: got %+v, want 164", p)
	}
}

// Real processes under names of agents: what they are called decides.
func TestHarnessOfRealProcesses(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		link string
		args []string
		want string
	}{
		{"link", "claude", []string{"1000"}, "claude"},
		{"wrapped", ".codex-wrapped", []string{"1000"}, "codex"},
		{"argument", "sleep", []string{"1000"}, "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.link)
			if err := os.Symlink(sleep, path); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, test.args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			p, err := proc.Root.Process(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			if got := name(p.Harness(false)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// BenchmarkOwner is the walk of a hook: from its shell to the agent.
func BenchmarkOwner(b *testing.B) {
	root, _ := proctest.Tree(b, "testdata/gemini-nested.txtar")
	b.ReportAllocs()
	for b.Loop() {
		if p, _, err := root.Owner(3900); p == nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOwnerNone is the walk from this process to the first one.
func BenchmarkOwnerNone(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		proc.Root.Owner(os.Getppid())
	}
}
