package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// read runs a program that lists sessions.
func (m *many) read(args ...string) ([]shown, error) {
	cmd := exec.Command(filepath.Join(m.bin, cliProgram), append(args, "--json")...)
	cmd.Env = env(m.state)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, errs.String())
	}
	for line := range strings.Lines(errs.String()) {
		if !strings.HasPrefix(line, "tongs-agents: hint: ") {
			return nil, fmt.Errorf("it says %s", strings.TrimSpace(line))
		}
	}
	var list struct{ Sessions []shown }
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		return nil, fmt.Errorf("%w in %.200q", err, out.String())
	}
	return list.Sessions, nil
}

// look lists the sessions once and judges the listing.
func (m *many) look(command string) []shown {
	before := m.fleet.snapshot()
	rows, err := m.read(command)
	if err != nil {
		m.whole.fail("%s: %v", command, err)
		return nil
	}
	m.judge(command, rows, before)
	return rows
}

// readOn lists the sessions again and again. After each time it rests for as long
// as that took, so that the writers have processors too.
func (m *many) readOn(command string) error {
	for !m.over() {
		begun := time.Now()
		m.look(command)
		select {
		case <-m.time.Done():
		case <-time.After(time.Since(begun)):
		}
	}
	return nil
}

// watch follows the sessions.
type watch struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu  sync.Mutex
	at  map[string]string // what each session has come to
	err error
}

func (m *many) startWatch() (*watch, error) {
	cmd := exec.Command(filepath.Join(m.bin, cliProgram), "watch", "--json")
	cmd.Env = env(m.state)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := &watch{cmd: cmd, at: map[string]string{}, ended: make(chan struct{})}
	go w.follow(m, out)
	return w, nil
}

func (w *watch) pid() int { return w.cmd.Process.Pid }

func (w *watch) follow(m *many, out io.Reader) {
	defer close(w.ended)
	versions := map[string]int64{}
	for lines := json.NewDecoder(out); ; {
		var line struct {
			To      string
			Session shown
		}
		if err := lines.Decode(&line); err != nil {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
			return
		}
		r := line.Session
		if r.Kind != "session" {
			continue
		}
		m.feed.seen(1)
		if r.Arrival < versions[r.Session] {
			m.feed.fail("%s comes from event %d to %d", r.Session, versions[r.Session], r.Arrival)
		}
		versions[r.Session] = r.Arrival
		w.mu.Lock()
		w.at[r.Session] = line.To
		w.mu.Unlock()
	}
}

// differs says where the feed has come to something else than a listing. One that
// had ended goes without a word.
func (w *watch) differs(rows []shown) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return fmt.Sprintf("it has ended: %v", w.err)
	}
	listed := map[string]bool{}
	for _, r := range rows {
		listed[r.Session] = true
		if at := w.at[r.Session]; at != string(r.Status) && r.Kind == "session" {
			return fmt.Sprintf("%s has come to %q, but status says %q", r.Session, at, r.Status)
		}
	}
	for session, at := range w.at {
		if !listed[session] && at != "gone" && at != "ended" {
			return fmt.Sprintf("%s has come to %q, but status does not list it", session, at)
		}
	}
	return ""
}

func (w *watch) stop() {
	w.cmd.Process.Kill()
	<-w.ended
	w.cmd.Wait()
}

// screen is a terminal on which the live view is shown.
type screen struct {
	cmd   *exec.Cmd
	pty   *os.File
	ended chan struct{}
}

func (m *many) startMonitor() (*screen, error) {
	cmd := exec.Command(filepath.Join(m.bin, cliProgram), "monitor")
	cmd.Env = env(m.state)
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		return nil, err
	}
	s := &screen{cmd: cmd, pty: file, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		io.Copy(io.Discard, file) // until it has ended: EIO
	}()
	return s, nil
}

func (s *screen) pid() int { return s.cmd.Process.Pid }

func (s *screen) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.pty.Close()
	<-s.ended
}

// checkMonitor ends the live view, which is to end well.
func (m *many) checkMonitor(s *screen) {
	m.monitor.seen(1)
	s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	if err := s.cmd.Wait(); err != nil {
		m.monitor.fail("monitor: %v", err)
	}
}

// locked reports whether somebody holds a lock file.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}
