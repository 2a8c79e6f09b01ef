package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tongs-agents/proc"
)

// tree is a proc file system with one process, 4242, started at tick 100.
func tree(t *testing.T, comm string, state string) proc.FS {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"self/stat":    "",
		"4242/stat":    "4242 (" + comm + ") " + state + " 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100 0 0\n",
		"4242/cmdline": comm + "\x00",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/usr/bin/"+comm, filepath.Join(dir, "4242/exe")); err != nil {
		t.Fatal(err)
	}
	return proc.FS(dir)
}

func TestCheck(t *testing.T) {
	here := proc.Host{BootID: "b1", PIDNamespace: "n1", MachineID: "m1"}
	host := func(boot, namespace, machine string) proc.Host {
		return proc.Host{BootID: boot, PIDNamespace: namespace, MachineID: machine}
	}
	for _, test := range []struct {
		name string
		comm string
		id   proc.Identity
		want proc.Answer
		why  string // a part of it
	}{
		{"alive", "claude", proc.Identity{"4242", "100", here, "claude"}, proc.Alive, "is claude"},
		{"nothing but the pid known", "claude", proc.Identity{PID: "4242"}, proc.Alive, "running"},
		{"reused pid", "claude", proc.Identity{"4242", "99", here, "claude"}, proc.Dead, "start ticks"},
		{"reused pid, hosts unknown", "claude", proc.Identity{PID: "4242", Start: "1000"}, proc.Dead, "start ticks"},
		{"gone", "claude", proc.Identity{"4243", "100", here, "claude"}, proc.Dead, "gone"},

		{"other boot, same machine", "claude", proc.Identity{"4242", "100", host("b2", "n1", "m1"), "claude"}, proc.Dead, "anew"},
		{"other boot, other machine", "claude", proc.Identity{"9", "100", host("b2", "n1", "m2"), "claude"}, proc.Unknown, "another machine"},
		{"other boot, machine missing", "claude", proc.Identity{"9", "100", host("b2", "n1", ""), "claude"}, proc.Unknown, "another machine"},
		{"other boot before other namespace", "claude", proc.Identity{"4242", "100", host("b2", "n2", "m1"), ""}, proc.Dead, "anew"},
		{"equal boot, other machine id", "claude", proc.Identity{"4242", "100", host("b1", "n1", "m2"), "claude"}, proc.Alive, "is claude"},
		{"boot missing", "claude", proc.Identity{"4242", "99", host("", "n1", "m2"), "claude"}, proc.Dead, "start ticks"},
		{"other namespace", "claude", proc.Identity{"9", "100", host("b1", "n2", "m1"), "claude"}, proc.Unknown, "namespace"},
		{"namespace missing", "claude", proc.Identity{"4242", "100", host("b1", "", ""), "claude"}, proc.Alive, "is claude"},

		{"no pid", "claude", proc.Identity{"", "", here, "claude"}, proc.Unknown, "no process"},
		{"no pid, other boot", "claude", proc.Identity{"", "", host("b2", "n1", "m1"), "claude"}, proc.Dead, "anew"},
		{"pid 0", "claude", proc.Identity{PID: "0"}, proc.Dead, "pid"},
		{"pid negative", "claude", proc.Identity{PID: "-1"}, proc.Dead, "pid"},
		{"pid signed", "claude", proc.Identity{PID: "+4242"}, proc.Dead, "pid"},
		{"pid too large", "claude", proc.Identity{PID: "4294967297"}, proc.Dead, "pid"},
		{"pid a path", "claude", proc.Identity{PID: "../4242"}, proc.Dead, "pid"},

		{"became something else", "sleep", proc.Identity{"4242", "100", here, "claude"}, proc.Dead, "not claude"},
		{"became another harness", "codex", proc.Identity{"4242", "100", here, "claude"}, proc.Dead, "not claude"},
		{"known from documentation alone", "sleep", proc.Identity{"4242", "100", here, "droid"}, proc.Alive, "running"},
		{"any command", "sleep", proc.Identity{"4242", "100", here, "other"}, proc.Alive, "running"},
		{"harness not known", "sleep", proc.Identity{"4242", "100", here, "new"}, proc.Alive, "running"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, why := tree(t, test.comm, "S").Check(test.id, here)
			if got != test.want || !strings.Contains(why, test.why) {
				t.Errorf("got %v, %q, want %v, %q", got, why, test.want, test.why)
			}
		})
	}
}

func TestCheckZombie(t *testing.T) {
	for _, state := range []string{"Z", "X"} {
		got, why := tree(t, "claude", state).Check(proc.Identity{PID: "4242", Start: "100"}, proc.Host{})
		if got != proc.Dead {
			t.Errorf("state %s: got %v, %q, want dead", state, got, why)
		}
	}
}

func TestCheckWithoutProc(t *testing.T) {
	for name, root := range map[string]string{
		"empty":   t.TempDir(),
		"missing": filepath.Join(t.TempDir(), "proc"),
		"a file":  "/etc/passwd",
	} {
		got, why := proc.FS(root).Check(proc.Identity{PID: "4242", Start: "100", Harness: "claude"}, proc.Host{})
		if got != proc.Unknown {
			t.Errorf("%s: got %v, %q, want unknown", name, got, why)
		}
	}
}

func TestCheckRealProcesses(t *testing.T) {
	here := proc.Root.Host()
	identity := func(pid int) proc.Identity {
		st, err := proc.Root.Stat(pid)
		if err != nil {
			t.Fatal(err)
		}
		return proc.Identity{PID: strconv.Itoa(pid), Start: st.Start, Host: here, Harness: "other"}
	}
	check := func(when string, id proc.Identity, want proc.Answer) {
		t.Helper()
		if got, why := proc.Root.Check(id, here); got != want {
			t.Errorf("%s: got %v, %q, want %v", when, got, why, want)
		}
	}

	check("this process", identity(os.Getpid()), proc.Alive)

	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	id := identity(sleep.Process.Pid)
	check("started", id, proc.Alive)
	if err := sleep.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for {
		if st, err := proc.Root.Stat(sleep.Process.Pid); err != nil || st.Dead() {
			break // a killed process takes its time to become a zombie
		}
		time.Sleep(time.Millisecond)
	}
	check("killed", id, proc.Dead)
	sleep.Wait()
	check("waited for", id, proc.Dead)
}
