// Command standin stands in for a coding agent: started under an agent's name,
// it runs hooks.
//
// It reads calls from descriptor 3 and writes answers to descriptor 4, each a
// JSON value. STANDIN_CHAIN in its environment holds the processes that are to
// stand between it and the hooks: it starts the first of them with the rest,
// and waits for it.
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Link is a process of a chain.
type Link struct {
	Path string
	Args []string // argv, the name first

	// Orphan: the process is not waited for, so that it loses its parent.
	Orphan bool
}

// Call is a hook to run.
type Call struct {
	Args    []string // argv, the path first
	Env     []string
	Dir     string
	Stdin   []byte
	Inherit bool // standard input is that of this process
}

// Answer tells of a call: first its pid, then what became of it.
type Answer struct {
	PID            int
	Exit           int // as in a shell: 128 and the signal
	Stdout, Stderr string
	MaxRSS         int64 // KiB
	Nanoseconds    int64
	Error          string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("standin: ")
	var chain []Link
	if text := os.Getenv("STANDIN_CHAIN"); text != "" {
		if err := json.Unmarshal([]byte(text), &chain); err != nil {
			log.Fatal(err)
		}
	}
	in, out := os.NewFile(3, "calls"), os.NewFile(4, "answers")
	if parent, err := strconv.Atoi(os.Getenv("STANDIN_ORPHAN")); err == nil {
		for os.Getppid() == parent {
			time.Sleep(time.Millisecond)
		}
	}
	if len(chain) > 0 {
		extend(chain, in, out)
		return
	}
	answers := json.NewEncoder(out)
	answers.Encode(Answer{PID: os.Getpid()})
	calls := json.NewDecoder(in)
	for {
		var c Call
		if err := calls.Decode(&c); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		run(c, answers)
	}
}

// extend starts the next process of the chain.
func extend(chain []Link, in, out *os.File) {
	rest, err := json.Marshal(chain[1:])
	if err != nil {
		log.Fatal(err)
	}
	next := chain[0]
	cmd := exec.Cmd{
		Path: next.Path, Args: next.Args,
		Env:   []string{"STANDIN_CHAIN=" + string(rest)},
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		ExtraFiles: []*os.File{in, out},
	}
	if next.Orphan {
		cmd.Env = append(cmd.Env, "STANDIN_ORPHAN="+strconv.Itoa(os.Getpid()))
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	if next.Orphan {
		return
	}
	in.Close()
	out.Close()
	cmd.Wait()
}

func run(c Call, answers *json.Encoder) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Cmd{
		Path: c.Args[0], Args: c.Args, Env: c.Env, Dir: c.Dir,
		Stdin: bytes.NewReader(c.Stdin), Stdout: &stdout, Stderr: &stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: !c.Inherit}, // as most agents do
	}
	if c.Inherit {
		cmd.Stdin = os.Stdin
	}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		answers.Encode(Answer{Error: err.Error()})
		answers.Encode(Answer{Error: err.Error()})
		return
	}
	answers.Encode(Answer{PID: cmd.Process.Pid})
	cmd.Wait() // its status is looked at, and an EPIPE of stdin is not
	a := Answer{
		PID: cmd.Process.Pid, Exit: cmd.ProcessState.ExitCode(),
		Stdout: stdout.String(), Stderr: stderr.String(), Nanoseconds: int64(time.Since(started)),
	}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		a.Exit = 128 + int(ws.Signal())
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		a.MaxRSS = int64(usage.Maxrss)
	}
	answers.Encode(a)
}
