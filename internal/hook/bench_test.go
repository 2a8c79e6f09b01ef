package hook

import (
	"bytes"
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
				p, err := decodePayload(jsonstream.NewReader(bytes.NewReader(text).Read, space[:]), hooks)
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
