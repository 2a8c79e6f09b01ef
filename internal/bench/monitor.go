package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/creack/pty"
	"github.com/tklauser/go-sysconf"
	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

// The live view has this many sessions on a screen of this size.
const (
	viewSessions = 500
	viewColumns  = 200
	viewLines    = 50
)

// monitor measures what the live view takes of a processor core: with nothing
// going on, and with sessions that change 50 times a second.
func monitor(b *run) error {
	t := &table{
		title: fmt.Sprintf("8. monitor, %d sessions on %d×%d", viewSessions, viewColumns, viewLines),
		head:  []string{"changes a second", "CPU %", "KB written a second", "budget"},
	}
	for _, rate := range []int{0, 50} {
		state := filepath.Join(b.dir, fmt.Sprintf("state-monitor-%d", rate))
		used, written, err := b.watch(state, rate)
		if err != nil {
			return err
		}
		verdict := ""
		if rate > 0 {
			verdict = atMost(100*used, 5.0)
		}
		t.add(strconv.Itoa(rate), fmt.Sprintf("%.2f", 100*used), fmt.Sprintf("%.1f", written/1e3), verdict)
	}
	t.print()
	return nil
}

// watch runs the view on a new store in which sessions change, and returns what
// it takes of a core and the bytes it writes, a second.
func (b *run) watch(state string, rate int) (used, written float64, err error) {
	store, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		return 0, 0, err
	}
	defer store.Close()
	sessions, err := livingSessions(store)
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.Command(b.bin+"/tongs-agents", "monitor")
	cmd.Env = b.env(state)
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: viewLines, Cols: viewColumns})
	if err != nil {
		return 0, 0, err
	}
	defer screen.Close()
	var bytesRead atomic.Int64
	shown := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		first := true
		for part := make([]byte, 64<<10); ; {
			n, err := screen.Read(part)
			if err != nil {
				return
			}
			bytesRead.Add(int64(n))
			if first && bytes.Contains(part[:n], []byte("widget-")) {
				first = false
				close(shown)
			}
		}
	}()
	select {
	case <-shown:
	case <-time.After(time.Minute):
		err = errors.New("monitor shows no session")
	}
	if err == nil {
		used, written, err = b.measureView(cmd.Process.Pid, &bytesRead, func(i int) error {
			if rate == 0 {
				time.Sleep(time.Second)
				return nil
			}
			time.Sleep(time.Second / time.Duration(rate))
			r := sessions[i*7%len(sessions)]
			r.TS, r.Status = time.Now().Unix(), fsstore.Statuses[i%5]
			r.Detail = "step " + strconv.Itoa(i)
			_, err := store.Import(r, time.Minute)
			return err
		})
	}
	cmd.Process.Signal(unix.SIGTERM)
	if e := cmd.Wait(); err == nil && e != nil {
		err = fmt.Errorf("monitor: %w", e)
	}
	<-ended
	return used, written, err
}

// measureView repeats a step, and returns what the process takes meanwhile.
func (b *run) measureView(pid int, bytesRead *atomic.Int64, step func(int) error) (used, written float64, err error) {
	period := 10 * time.Second
	if b.quick {
		period = 3 * time.Second
	}
	i := 0
	steps := func(d time.Duration) error {
		for end := time.Now().Add(d); time.Now().Before(end); i++ {
			if err := step(i); err != nil {
				return err
			}
		}
		return nil
	}
	if err := steps(time.Second); err != nil { // it has started
		return 0, 0, err
	}
	before, err := cpuTime(pid)
	if err != nil {
		return 0, 0, err
	}
	start, read := time.Now(), bytesRead.Load()
	if err := steps(period); err != nil {
		return 0, 0, err
	}
	after, err := cpuTime(pid)
	seconds := time.Since(start).Seconds()
	return (after - before).Seconds() / seconds, float64(bytesRead.Load()-read) / seconds, err
}

// cpuTime is what a process that runs has used so far: fields 14 and 15 of
// proc_pid_stat(5), in clock ticks.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	hertz, err := sysconf.Sysconf(sysconf.SC_CLK_TCK)
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the first is field 3
	user, err1 := strconv.ParseInt(string(fields[14-3]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[15-3]), 10, 64)
	return time.Duration(user+system) * time.Second / time.Duration(hertz), errors.Join(err1, err2)
}

// livingSessions puts sessions of this process into a store.
func livingSessions(store *fsstore.Store) ([]*fsstore.Record, error) {
	host := proc.Root.Host()
	self, err := proc.Root.Stat(os.Getpid())
	if err != nil {
		return nil, err
	}
	sessions := make([]*fsstore.Record, viewSessions)
	for i := range sessions {
		r := otherRecord(i, host)
		r.Harness, r.Source = harness.Other, fsstore.SourceNotify
		r.PID, r.ProcessStart = strconv.Itoa(self.PID), self.Start
		r.Instance = r.PID + ":" + r.ProcessStart
		r.Boottime = 0 // the later write counts
		if _, err := store.Import(r, time.Minute); err != nil {
			return nil, err
		}
		sessions[i] = r
	}
	return sessions, nil
}
