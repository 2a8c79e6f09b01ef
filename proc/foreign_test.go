package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"tongs-agents/proc"
)

const foreignEnv = "PROC_TEST_FOREIGN"

// In a new pid namespace with the old /proc, pid 1 there is init, and not the
// pid 1 that a record of here means: this very process.
func TestForeign(t *testing.T) {
	if os.Getenv(foreignEnv) != "" {
		here := proc.Root.Host()
		answer, why := proc.Root.Check(proc.Identity{PID: "1"}, here)
		owner, _, _ := proc.Root.Owner(1)
		fmt.Printf("foreign %t, %v: %s, owner %v, ancestor %t\n",
			here.Foreign, answer, why, owner != nil, proc.Root.HasAncestor(1, 1, ""))
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A user may make namespaces only together with one of users.
	cmd := exec.Command("unshare", "-Urpf", self, "-test.run=^TestForeign$")
	cmd.Env = append(os.Environ(), foreignEnv+"=1")
	out, err := cmd.Output()
	const want = "foreign true, unknown: the proc file system is of another pid namespace, owner false, ancestor false\n"
	if err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
	if proc.Root.Foreign() {
		t.Error("our own /proc is foreign")
	}
}
