package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
)

// samplePayload is the payload of a finished tool with a result of about the
// given size.
func samplePayload(size int) []byte {
	const head = `{"session_id":"3f0c9a52-7d1e-4b86-9c35-0a6f2d84e117","transcript_path":"/home/dana/.claude/projects/-home-dana-src-ledger-api/s.jsonl",` +
		`"cwd":"/home/dana/src/ledger-api","hook_event_name":"PostToolUse","tool_name":"Read","tool_response":{"content":"`
	const line = `     1\tfunc main() {\n`
	return []byte(head + strings.Repeat(line, max(size-len(head), 0)/len(line)) + `"}}`)
}

func BenchmarkDecodePayload(b *testing.B) {
	hooks := harness.ByID("claude").Hooks
	for _, bench := range []struct {
		name string
		size int
	}{{"300B", 300}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}} {
		b.Run(bench.name, func(b *testing.B) {
			text := samplePayload(bench.size)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				p, err := decodePayload(jsonstream.NewReader(bytes.NewReader(text).Read, input.space[:]), hooks)
				if err != nil || p.tool != "Read" {
					b.Fatal(p, err)
				}
			}
		})
	}
}

// BenchmarkApply is what an event costs apart from reading and writing: a tool
// event of a session whose process is known.
func BenchmarkApply(b *testing.B) {
	m := newMachine(b, "claude").in(fsstore.Running)
	e := m.event("tool-use Bash at=5000")
	b.ReportAllocs()
	for b.Loop() {
		if e.apply(nil, m.r) == nil {
			b.Fatal("no change")
		}
	}
}

// BenchmarkSnapshot is a snapshot that changes nothing, and one that changes
// one session, apart from the process: in a store with few other records, and
// with many.
func BenchmarkSnapshot(b *testing.B) {
	for _, bench := range []struct {
		sessions, others int
		changes          bool
	}{{1, 10, false}, {10, 10, false}, {100, 10, false}, {10, 5000, false}, {10, 10, true}, {10, 5000, true}} {
		name := fmt.Sprintf("%dOf%d", bench.sessions, bench.sessions+bench.others)
		if bench.changes {
			name += "Changed"
		}
		b.Run(name, func(b *testing.B) {
			noEnvironment(b)
			dir, err := fsstore.StateDir()
			if err != nil {
				b.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "sessions"), 0o700); err != nil {
				b.Fatal(err)
			}
			for i := range bench.others {
				name := filepath.Join(dir, "sessions", fmt.Sprintf("fleet-v1-%064x.json", i))
				if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			rest := manySessions(bench.sessions, 30, `":"idle"`)
			texts := [2]string{`{"id":"$PID","status":{` + rest + `}}`, strings.Replace(`{"id":"$PID","status":{`+rest+`}}`, "idle", "busy", 1)}
			shot(b, texts[0])
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if bench.changes {
					shot(b, texts[i%2])
				} else {
					shot(b, texts[0])
				}
			}
		})
	}
}
