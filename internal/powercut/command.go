//go:build !(386 || arm)

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tongs-agents/fsstore"
)

const (
	cliProgram  = "tongs-agents"
	hookProgram = "tongs-agents-hook"
)

// command is a run of one of the programs.
type command struct {
	program string
	args    []string
	input   string
}

func (c command) name() string { return strings.Join(append([]string{c.program}, c.args...), " ") }

var (
	status  = command{cliProgram, []string{"status", "--json"}, ""}
	cleanup = command{cliProgram, []string{"cleanup", "--json"}, ""}
)

// hook is an event of an agent whose process the hook does not find.
func hook(session, event string) command {
	return command{hookProgram, nil, fmt.Sprintf(`{"session_id":%q,"hook_event_name":%q,"cwd":"/src/app"}`, session, event)}
}

func imported(r *fsstore.Record) command {
	return command{cliProgram, []string{"import"}, string(r.AppendJSON(nil))}
}

// patience is how long a program may take on a busy machine.
const patience = 60 * time.Second

// run runs a program on a store and returns what it printed.
func (m *machine) run(state string, c command) (printed string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(m.bin, c.program), c.args...)
	cmd.Env = []string{"TONGS_AGENTS_STATE_DIR=" + state, "HOME=" + m.dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.Dir = m.dir
	cmd.Stdin = strings.NewReader(c.input)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}
