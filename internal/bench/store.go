package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// fill puts records of other sessions into a store, as importing them does:
// with their locks.
func fill(state string, n int) error {
	store, err := fsstore.Open(state, fsstore.Create)
	if err != nil {
		return err
	}
	defer store.Close()
	host := proc.Root.Host()
	for i := range n {
		if _, err := store.Import(otherRecord(i, host), time.Minute); err != nil {
			return err
		}
	}
	return nil
}

// noProcess is more than any kernel takes for pid_max.
const noProcess = 5_000_000

// otherRecord is a record of 1.5 KB, of a session and a process of its own.
func otherRecord(i int, host proc.Host) *fsstore.Record {
	id := fmt.Sprintf("%08x-1b2c-4d3e-8f4a-5b6c7d8e9f0a", i)
	pid, start := strconv.Itoa(noProcess+i), strconv.Itoa(900_000+i)
	now := time.Now()
	env := []fsstore.Var{
		{Name: "TMUX", Value: "/tmp/tmux-1000/default,3120,0"}, {Name: "TMUX_PANE", Value: "%" + strconv.Itoa(i)},
		{Name: "TERM_PROGRAM", Value: "tmux"}, {Name: "DISPLAY", Value: ":0"},
	}
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: "claude", Session: id, Instance: pid + ":" + start},
		Kind: fsstore.KindSession, Identity: fsstore.Identified, PID: pid, ProcessStart: start,
		Repo: "widget-" + strconv.Itoa(i), Cwd: "/home/me/src/widget-" + strconv.Itoa(i),
		Status: fsstore.Statuses[i%5], Detail: "using Bash", Tool: "Bash",
		TS: now.Unix() - int64(i%600), Started: now.Unix() - int64(i), Arrival: 1,
		Source: "hook", LastEvent: "claude.tool-use",
		Terminal: "tmux", TerminalEnv: env,
		Focus:  fsstore.Focus{Kind: fsstore.FocusTerminal, Terminal: "tmux", Env: env},
		BootID: host.BootID, PIDNamespace: host.PIDNamespace, MachineID: host.MachineID,
		Title: "Fix the failing parser test", Model: "claude-opus-4-5",
		TranscriptPath: "/home/me/.claude/projects/-home-me-src-widget/" + id + ".jsonl",
		Resume:         []string{"claude", "--resume", id},
		Mode:           fsstore.Interactive, TTY: "pts/7", Boottime: int64(i+1) * 1e9,
	}
	for _, event := range []string{"prompt-submit", "tool-use", "tool-done"} {
		r.AddRecent(fsstore.Recent{Event: event, Status: fsstore.Running, TS: r.TS})
	}
	return r
}

// files are the names of what the hook keeps of one session.
type files struct{ identity, lock, record string }

// hookFiles finds them in a store that holds but one session.
func hookFiles(state string) (files, error) {
	entries, err := os.ReadDir(filepath.Join(state, "sessions"))
	if err != nil {
		return files{}, err
	}
	var f files
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, ".fleet-v1-session-"):
			f.identity = name
		case strings.HasPrefix(name, ".fleet-v1-"):
			f.lock = name
		case strings.HasPrefix(name, "fleet-v1-"):
			f.record = name
		}
	}
	if f.identity == "" || f.lock == "" || f.record == "" || len(entries) != 3 {
		return f, fmt.Errorf("the hook left %v", entries)
	}
	return f, nil
}
