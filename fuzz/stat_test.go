package fuzz

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"tongs-agents/proc"
)

// FuzzStat builds the stat line of a process, see proc_pid_stat(5), and reads
// it back.
func FuzzStat(f *testing.F) {
	f.Add("claude", int32(6256), byte('S'), int32(6255), int32(34823), uint64(93179))
	f.Add("a) R (b", int32(1), byte('Z'), int32(0), int32(0), uint64(1<<64-1))
	f.Add("", int32(1<<31-1), byte('X'), int32(1<<31-1), int32(-1<<31), uint64(0))
	f.Add(")))(((\n \xff", int32(7), byte(')'), int32(5), int32(-1), uint64(1))
	f.Fuzz(func(t *testing.T, comm string, pid int32, state byte, ppid, tty int32, ticks uint64) {
		// What the kernel prints: positive pids, a letter for the state.
		if pid <= 0 || ppid < 0 || state < 'A' || state > 'z' {
			return
		}
		line := fmt.Sprintf("%d (%s) %c %d 6256 6256 %d 6256 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0 18446744073709551615 0\n",
			pid, comm, state, ppid, tty, ticks)
		want := proc.Stat{
			PID: int(pid), Comm: comm, State: state, PPID: int(ppid), TTY: int(tty), Start: strconv.FormatUint(ticks, 10),
		}
		if got, err := proc.ParseStat([]byte(line)); got != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", line, got, err, want)
		}
		proc.TTYName(int(tty))
	})
}

// FuzzStatRaw gives ParseStat any bytes: it refuses them or returns what a
// process can have.
func FuzzStatRaw(f *testing.F) {
	for _, line := range []string{
		"", "1 (x)", "1 (x) S", "(", ")", ")(", "1 ()", "1 (x) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5",
		"1 (x) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 6\n", "0 (x) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5",
		"-1 (x) S -1 0 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -5", "+1 (x) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 +5",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := proc.ParseStat(line)
		if err != nil {
			if !errors.Is(err, proc.ErrFormat) || got != (proc.Stat{}) {
				t.Errorf("%q: got %+v, %v, want nothing and ErrFormat", line, got, err)
			}
			return
		}
		if _, err := strconv.ParseUint(got.Start, 10, 64); err != nil || got.PID <= 0 || got.PPID < 0 {
			t.Errorf("%q: got %+v", line, got)
		}
	})
}
