package doctor

import (
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// outcome is what became of a program.
type outcome struct {
	stdout, stderr string
	took           time.Duration
	late           bool  // it was killed, since it did not end in time
	err            error // as of exec.Cmd.Run
}

// run runs a program for a bounded time, and keeps a bounded part of what it
// prints. What it has started ends with it.
func run(cmd *exec.Cmd, timeout time.Duration) outcome {
	var stdout, stderr head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // for what has left its process group, and keeps the pipes open
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{err: err}
	}
	kill := func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var late atomic.Bool
	timer := time.AfterFunc(timeout, func() {
		late.Store(true)
		kill()
	})
	err := cmd.Wait()
	took := time.Since(start)
	timer.Stop()
	kill()
	return outcome{stdout.String(), stderr.String(), took, late.Load(), err}
}

// maxHead is how much of what a program prints is kept.
const maxHead = 64 << 10

// head keeps the beginning of what is written to it.
type head struct{ strings.Builder }

func (h *head) Write(p []byte) (int, error) {
	h.Builder.Write(p[:min(len(p), maxHead-h.Len())])
	return len(p), nil
}
