package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/proc"
)

// adopt makes this process the parent of what its descendants leave behind, as
// daemons and the tmux server: so that all can be found, and ended.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	return nil
}

// below returns the live processes that descend from pid.
func below(pid int) ([]proc.Stat, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	children := map[int][]proc.Stat{}
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if st, err := proc.Root.Stat(pid); err == nil { // else it has gone meanwhile
			children[st.PPID] = append(children[st.PPID], st)
		}
	}
	var found []proc.Stat
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		for _, st := range children[todo[0]] {
			todo = append(todo, st.PID)
			if !st.Dead() {
				found = append(found, st)
			}
		}
	}
	return found, nil
}

// endBelow ends every process that descends from pid, also those that they start
// meanwhile.
func endBelow(pid int) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		left, err := below(pid)
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes could not be ended, one of them %d (%s)", len(left), left[0].PID, left[0].Comm)
		}
		for _, st := range left {
			unix.Kill(st.PID, unix.SIGKILL) // it may have ended
		}
	}
}

// Agents are slow to start, and machines are busy; a state that is right comes soon.
const (
	patience = 3 * time.Minute
	pause    = 200 * time.Millisecond
	again    = 5 * time.Second // until keys that did nothing are pressed once more
)

// until waits for a condition. Its error is what the condition still lacked
// when patience ended.
func until(ctx context.Context, condition func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := condition()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
