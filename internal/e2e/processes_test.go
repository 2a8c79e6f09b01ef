package main

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tongs-agents/proc"
)

func TestEndBelow(t *testing.T) {
	if err := adopt(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	grandchild, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	found, err := below(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{cmd.Process.Pid, grandchild} {
		if !slices.ContainsFunc(found, func(st proc.Stat) bool { return st.PID == pid }) {
			t.Errorf("%d is not among %v", pid, found)
		}
	}
	if err := endBelow(os.Getpid()); err != nil {
		t.Error(err)
	}
	if found, err = below(os.Getpid()); err != nil || len(found) > 0 {
		t.Errorf("left: %v, %v", found, err)
	}
	for _, bad := range []string{"", "0", "1", "-1", "all"} {
		if kill(bad) == nil {
			t.Errorf("killed %q", bad)
		}
	}
}
