package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// agent is the name of this program in a world: that of an agent, so that the
// hooks which it starts find it as their owner. The kernel takes comm from the
// file.
const agent = "claude"

// bystander is an agent that no hook reports. The maintenance adds it.
const bystander = "codex"

// The programs, and the same ones to be traced.
const (
	cliProgram  = "tongs-agents"
	hookProgram = "tongs-agents-hook"
	tracedDir   = "traced"
)

// stage puts the programs into dir.
func stage(dir, bin string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for to, from := range map[string]string{
		agent: self, bystander: self,
		cliProgram: filepath.Join(bin, cliProgram), hookProgram: filepath.Join(bin, hookProgram),
	} {
		program, err := os.ReadFile(from)
		if err != nil {
			return fmt.Errorf("%w: make build first", err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), program, 0o700); err != nil {
			return err
		}
	}
	return buildTraced(dir)
}

// pinned keeps main on one thread: strace counts calls by the thread, and Go
// moves main from one to another whenever a call takes long.
const pinned = `package main

import "runtime"

func init() { runtime.LockOSThread() }
`

// buildTraced builds the programs with one file more.
func buildTraced(dir string) error {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	root := strings.TrimSpace(string(module))
	file := filepath.Join(dir, "pinned.go")
	if err := os.WriteFile(file, []byte(pinned), 0o600); err != nil {
		return err
	}
	replace := map[string]string{}
	for _, program := range []string{cliProgram, hookProgram} {
		replace[filepath.Join(root, "cmd", program, "pinned.go")] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-trimpath", "-ldflags=-s -w", "-ldflags=./cmd/"+hookProgram+"=-s -w -E main.entry",
		"-o", filepath.Join(dir, tracedDir)+"/", "./cmd/"+cliProgram, "./cmd/"+hookProgram)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
