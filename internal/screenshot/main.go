// Command screenshot draws the picture of the live view: it fills a throw-away
// store with sessions that were never held, runs the program on an emulated
// terminal, and prints what that shows as SVG.
//
//	screenshot [-bin DIR] > docs/monitor.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

const (
	columns = 104
	lines   = 30
)

func main() {
	bin := flag.String("bin", "bin", "directory of tongs-agents")
	flag.Parse()
	if err := draw(os.Stdout, filepath.Join(*bin, "tongs-agents")); err != nil {
		fmt.Fprintln(os.Stderr, "screenshot:", err)
		os.Exit(1)
	}
}

func draw(w io.Writer, program string) error {
	state, err := os.MkdirTemp("", "tongs-agents-screenshot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	if err := fill(state); err != nil {
		return err
	}
	screen := vt.NewSafeEmulator(columns, lines)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "monitor", "--no-maintain")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + state, "TONGS_AGENTS_STATE_DIR=" + state,
		"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: lines, Cols: columns})
	if err != nil {
		return err
	}
	defer terminal.Close()
	go io.Copy(screen, terminal)
	go io.Copy(terminal, screen) // what the terminal answers
	shown := func(text string) error {
		for ctx.Err() == nil && !strings.Contains(screen.Render(), text) {
			time.Sleep(10 * time.Millisecond)
		}
		return ctx.Err()
	}
	if err := shown("ledger-api"); err != nil {
		return fmt.Errorf("the view shows no session: %w", err)
	}
	if _, err := io.WriteString(terminal, " "); err != nil { // the details
		return err
	}
	if err := shown("permission-request"); err != nil {
		return fmt.Errorf("the view shows no details: %w", err)
	}
	if err := shown("38;5;221"); err != nil {
		return fmt.Errorf("the view does not know the background: %w", err)
	}
	if err := svg(w, screen); err != nil {
		return err
	}
	if _, err := io.WriteString(terminal, "q"); err != nil {
		return err
	}
	return cmd.Wait()
}

// session is one of the picture. Times are seconds before now.
type session struct {
	harness, repo string
	status        fsstore.Status
	age, started  int64
	detail, title string
	subagents     int64
}

var sessions = []session{
	{"claude", "ledger-api", fsstore.Waiting, 41, 3120, "permission needed: Bash", "Round half-even in invoices", 0},
	{"gemini", "terraform-live", fsstore.Waiting, 8, 900, "Apply the plan? 3 to add, 1 to destroy", "Move state to the new bucket", 0},
	{"codex", "website", fsstore.Idle, 560, 5400, "Totals now round half-even. All 214 tests pass.", "Fix the totals", 0},
	{"qwen", "notes", fsstore.Error, 190, 2000, "turn failed (API error)", "Tidy the index", 0},
	{"copilot", "docs", fsstore.Idle, 48, 700, "The guide has a section on resuming now.", "Write the guide", 0},
	{"claude", "ledger-api", fsstore.Running, 1, 4000, "using Edit", "Upgrade the parser", 2},
	{"codex", "mobile-app", fsstore.Running, 6, 380, "using shell", "Reproduce the crash on rotation", 0},
	{"opencode", "データ基盤", fsstore.Running, 17, 1500, "processing prompt", "Backfill 2025", 0},
	{"claude", "scratch", fsstore.Started, 4, 4, "session started", "", 0},
	{"codex", "website", fsstore.Ended, 130, 8000, "session closed", "Bump dependencies", 0},
}

func fill(state string) error {
	store, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		return err
	}
	defer store.Close()
	now, here := time.Now().Unix(), proc.Root.Host()
	for i, s := range sessions {
		id := fmt.Sprintf("%08x-4f1c-4b7e-9c55-2a6d8e0b7f31", 0x2d5f0127+i*0x5a3c771)
		pid := fmt.Sprint(41_213 + 37*i) // which nobody looks at
		r := &fsstore.Record{
			Key:  fsstore.Key{Harness: s.harness, Session: id, Instance: pid + ":1"},
			Kind: fsstore.KindSession, Identity: fsstore.Identified, PID: pid, ProcessStart: "1",
			Repo: s.repo, Cwd: "/home/u/src/" + s.repo, Status: s.status, Detail: s.detail, Title: s.title,
			TS: now - s.age, Started: now - s.started, Arrival: 1, Source: fsstore.SourceHook, LastEvent: s.harness + ".event",
			Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable}, Terminal: "tmux", TTY: fmt.Sprintf("pts/%d", i+2), Mode: fsstore.Interactive,
			BootID: here.BootID, PIDNamespace: here.PIDNamespace, MachineID: here.MachineID,
			Resume: []string{s.harness, "--resume", id}, Subagents: s.subagents,
		}
		if s.status == fsstore.Waiting {
			r.WaitingFor = &fsstore.Wait{Tool: "Bash"}
			r.AddRecent(fsstore.Recent{Event: "tool-use", Status: fsstore.Running, TS: r.TS - 1})
			r.AddRecent(fsstore.Recent{Event: "permission-request", Status: fsstore.Waiting, TS: r.TS})
		}
		if _, err := store.Import(r, time.Minute); err != nil {
			return err
		}
	}
	return nil
}
