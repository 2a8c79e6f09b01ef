package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a program may take on a busy machine.
const patience = time.Minute

// child is a process of this program in a role. It answers questions, a line of
// JSON each.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder

	exited sync.Once
	said   string        // on standard error, it and its children
	silent chan struct{} // closed when all of them have ended
}

// env is the environment of everything that uses a store.
func env(state string) []string {
	return append(os.Environ(), "TONGS_AGENTS_STATE_DIR="+state)
}

// start starts this program, under the name of an agent or its own.
func (d *driver) start(role, state string, args ...string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if role == roleAgent {
		program = filepath.Join(d.dir, agentProgram)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(env(state), envRole+"="+role)
	cmd.Dir = d.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// A file, since that is what its children have too.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = write
	err = cmd.Start()
	write.Close()
	if err != nil {
		read.Close()
		return nil, err
	}
	c := &child{cmd: cmd, in: in, out: json.NewDecoder(out), silent: make(chan struct{})}
	go func() {
		defer close(c.silent)
		defer read.Close()
		text, _ := io.ReadAll(read)
		c.said = strings.TrimSpace(string(text))
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// tell asks a question and does not wait for the answer.
func (c *child) tell(question any) error { return json.NewEncoder(c.in).Encode(question) }

func (c *child) ask(question, answer any) error {
	if err := c.tell(question); err != nil {
		return err
	}
	return c.out.Decode(answer)
}

// leave lets the child end by itself.
func (c *child) leave() {
	c.in.Close()
	c.wait()
}

// kill ends the child, but not what it has started.
func (c *child) kill() {
	c.cmd.Process.Kill()
	c.wait()
}

// killGroup ends the child and what it has started.
func (c *child) killGroup() {
	if c.cmd.ProcessState == nil { // else another one may have the number
		unix.Kill(-c.pid(), unix.SIGKILL)
	}
	c.wait()
}

// wait waits for the end of the child itself.
func (c *child) wait() { c.exited.Do(func() { c.cmd.Wait() }) }
