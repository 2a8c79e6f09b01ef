package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/fsstore"
)

var update = flag.Bool("update", false, "write the golden files")

// recordings are of real agents; the processes are as they were there.
var recordings = []struct {
	file  string
	chain [][]string
	shell string
}{
	{"claude-2.1-tool-permission-subagent-esc", [][]string{{"claude", "--model", "claude-sonnet-4-5"}}, `"$@"; exit $?`},
	{"codex-0.171-tool-permission", [][]string{
		{"node", "/home/dev/.npm-global/lib/node_modules/.bin/codex", "-a", "on-request", "-s", "read-only"},
		{"codex", "-a", "on-request", "-s", "read-only"},
	}, ``},
	{"codex-0.171-interrupt-deny", [][]string{
		{"node", "/home/dev/.npm-global/lib/node_modules/.bin/codex", "-a", "on-request", "-s", "read-only"},
		{"codex", "-a", "on-request", "-s", "read-only"},
	}, ``},
	{"gemini-0.61-headless", [][]string{
		{"node", "/home/dev/.npm-global/lib/node_modules/.bin/gemini", "-y", "-m", "gemini-2.5-flash", "-p", "please use TOOL"},
		{"node", "--max-old-space-size=12052", "/home/dev/.npm-global/lib/node_modules/.bin/gemini", "-y", "-m", "gemini-2.5-flash", "-p", "please use TOOL"},
	}, `bash -c '"$@"; exit $?' bash "$@"; exit $?`},
}

// Each recording goes line by line through the hook. The golden files have the
// record after every line.
func TestReplay(t *testing.T) {
	const captures = "../../internal/hook/testdata/captures"
	all, err := filepath.Glob(filepath.Join(captures, "*.jsonl"))
	if err != nil || len(all) != len(recordings) {
		t.Errorf("%d recordings are played, %d are there: %v", len(recordings), len(all), err)
	}
	for _, rec := range recordings {
		t.Run(rec.file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(captures, rec.file+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			id, _, _ := strings.Cut(rec.file, "-")
			got := replay(t, id, rec.chain, rec.shell, text)
			golden := filepath.Join("testdata", "replay", rec.file+".txt")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant, as in %s:\n%s", got, golden, want)
			}
		})
	}
}

func replay(t *testing.T, id string, processes [][]string, shell string, recording []byte) []byte {
	t.Helper()
	var chain []link
	for _, args := range processes {
		chain = append(chain, process(t, args...))
	}
	pts, _ := openTerminal(t)
	a := start(t, pts, nil, chain...)
	state := t.TempDir()
	var out bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(recording))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Note, Event string
			Stdin       json.RawMessage
			Env         map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Stdin == nil {
			fmt.Fprintf(&out, "# %s\n", line.Note)
			continue
		}
		c := hookCall(state, "--agent "+id, string(line.Stdin))
		for name, value := range line.Env {
			c.Env = append(c.Env, name+"="+value)
		}
		c.Env = append(c.Env, "PATH="+os.Getenv("PATH"))
		if shell != "" {
			c = c.inShell(shell)
		}
		before := records(t, state)
		quiet(t, a.run(c))
		after := records(t, state)
		fmt.Fprintf(&out, "%-19s %s\n", line.Event, change(before, after))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, r := range records(t, state) {
		if r.PID != fmt.Sprint(a.self.PID) {
			t.Errorf("pid: got %s, want %d", r.PID, a.self.PID)
		}
		var events []string
		for _, e := range r.Recent {
			events = append(events, e.Event)
		}
		fmt.Fprintf(&out, "\nmode %s, model %s, end_reason %s, resume %s\nrecent %s\n",
			r.Mode, r.Model, r.EndReason, strings.Join(r.Resume, " "), strings.Join(events, " "))
	}
	return out.Bytes()
}

// change says what an event made of the store, which holds at most one record.
func change(before, after []*fsstore.Record) string {
	if len(after) == 0 {
		return "nothing"
	}
	r := after[0]
	if len(before) > 0 && before[0].Arrival == r.Arrival {
		return "nothing"
	}
	text := string(r.Status)
	if w := r.WaitingFor; w != nil {
		text += " for " + w.Tool
	}
	if r.Subagents > 0 {
		text += fmt.Sprintf(", subagents %d", r.Subagents)
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}
