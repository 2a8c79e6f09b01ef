package focus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"tongs-agents/internal/text"
)

// maxOutput is how much of what a program prints is kept.
const maxOutput = 4 << 20

// run runs a program of the user's PATH, with variables added to our own
// environment, and returns what it prints. The error is what the program says.
func run(ctx context.Context, env []string, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without our terminal
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = patience / 4 // for what has left the process group, and keeps the pipes open
	var stdout, stderr head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not in PATH", program)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s does not answer", program)
	}
	said := strings.TrimSpace(stderr.String())
	if said == "" {
		said = strings.TrimSpace(stdout.String())
	}
	if first, _, _ := strings.Cut(said, "\n"); first != "" {
		return "", fmt.Errorf("%s: %s", program, text.Clean(first))
	}
	return "", fmt.Errorf("%s: %w", program, err)
}

// head keeps the beginning of what is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), maxOutput-h.Len())])
	return len(p), nil
}
