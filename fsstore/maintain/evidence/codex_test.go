package evidence

import (
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// Ends of rollouts of Codex 0.171.0, their texts cut.
func TestCodexSamples(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"just-started", "16:58:26.712 running "},
		{"complete", "16:58:03.375 idle "},
		{"aborted", `16:58:31.806 idle  "interrupted"`},
		{"approval-open", "16:58:36.509 running "},
		{"approval-refused", `16:58:47.955 idle  "interrupted"`},
		{"failed", `16:59:05.990 error  "turn failed (API error)"`},
		{"compacting", "16:59:13.055 running "}, // the context follows in the middle of it
		{"resumed", "17:00:09.577 running "},
		{"forked", ""}, // refers to the former lines, does not repeat them
		{"review", "17:01:02.175 running  automatic"},
		{"reviewer-changed", "17:03:44.315 running  automatic"}, // for the next turn
	} {
		lines := []byte(read(t, "codex/"+test.name+".jsonl"))
		if got := summary(ParseCodex(lines)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		// Without its end the last line is none, unless it is all there.
		last := strings.LastIndexByte(strings.TrimSuffix(string(lines), "\n"), '\n') + 1
		before := summary(ParseCodex(lines[:last]))
		for n := last; n < len(lines)-1; n++ {
			if got := summary(ParseCodex(lines[:n])); got != before {
				t.Errorf("%s, %d bytes: got %q, want %q", test.name, n, got, before)
				break
			}
		}
		if got := summary(ParseCodex(lines[:len(lines)-1])); got != test.want {
			t.Errorf("%s, no newline at the end: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestParseCodex(t *testing.T) {
	const (
		started  = `{"timestamp":"1970-01-01T00:00:01.000Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}` + "\n"
		user     = `{"timestamp":"1970-01-01T00:00:02.000Z","ordinal":2,"type":"turn_context","payload":{"turn_id":"t","approvals_reviewer":"user"}}` + "\n"
		review   = `{"timestamp":"1970-01-01T00:00:03.000Z","ordinal":3,"type":"turn_context","payload":{"turn_id":"t","approvals_reviewer":"auto_review"}}` + "\n"
		message  = `{"timestamp":"1970-01-01T00:00:04.000Z","ordinal":4,"type":"response_item","payload":{"type":"task_complete"}}` + "\n"
		complete = `{"timestamp":"1970-01-01T00:00:05.000Z","ordinal":5,"type":"event_msg","payload":{"type":"task_complete","turn_id":"t"}}` + "\n"
	)
	edit := strings.Replace
	for _, test := range []struct{ name, lines, want string }{
		{"turn", started + user + message, "00:00:01.000 running "},
		{"reviewed turn", started + review + message, "00:00:03.000 running  automatic"},
		{"reviewed turn, its beginning too far away", review + message, "00:00:03.000 running  automatic"},
		{"turn, its beginning too far away", user + message, ""},
		{"turn without a context", started + message, "00:00:01.000 running "},
		{"former name of the reviewer", edit(review, "auto_review", "guardian_subagent", 1), "00:00:03.000 running  automatic"},
		{"unknown reviewer", started + edit(review, "auto_review", "oracle", 1), "00:00:01.000 running "},
		{"no reviewer", started + edit(review, "approvals_reviewer", "x", 1), "00:00:01.000 running "},
		{"after a reviewed turn", review + complete, "00:00:05.000 idle "},
		{"after a reviewed turn, one that begins", review + complete + started, "00:00:01.000 running "},
		{"no type", edit(complete, `"type":"event_msg",`, "", 1), ""},
		{"only other lines", message + message, ""},

		{"error", edit(complete, `"turn_id"`, `"error":{"message":"x"},"turn_id"`, 1), `00:00:05.000 error  "turn failed (API error)"`},
		{"error as text", edit(complete, `"turn_id"`, `"error":"x","turn_id"`, 1), `00:00:05.000 error  "turn failed (API error)"`},
		{"no error", edit(complete, `"turn_id"`, `"error":null,"turn_id"`, 1), "00:00:05.000 idle "},

		{"other order of the keys", `{"payload":{"turn_id":"t","type":"task_complete"},"type":"event_msg","timestamp":"1970-01-01T00:00:05.000Z"}`, "00:00:05.000 idle "},
		{"white space", edit(complete, ":", " : ", -1), ""}, // in the time, too
		{"white space outside", " " + edit(complete, `,"`, ` , "`, -1), "00:00:05.000 idle "},
		{"carriage returns", edit(started+complete, "\n", "\r\n", -1), "00:00:05.000 idle "},
		{"empty lines", "\n\n" + complete + "\n\n\n", "00:00:05.000 idle "},
		{"of several members the last", edit(complete, `"turn_id"`, `"type":"turn_aborted","turn_id"`, 1), `00:00:05.000 idle  "interrupted"`},
		{"another zone", edit(complete, "05.000Z", "05.000-01:00", 1), "01:00:05.000 idle "},
		{"no fraction", edit(complete, "05.000Z", "05Z", 1), "00:00:05.000 idle "},
		{"nanoseconds", edit(complete, "05.000Z", "05.000999999Z", 1), "00:00:05.000 idle "},

		// Half a line may have been one of those. One that is under way at the
		// end will be whole the next time.
		{"half at the end", started + complete[:90], "00:00:01.000 running "},
		{"half at the beginning", complete[9:] + message, ""},
		{"half in between", started + complete[:90] + "\n" + message, "00:00:01.000 running "},
		{"half and half", complete[:90] + started, ""},
		{"NULs at the end", complete + strings.Repeat("\x00", 4096), "00:00:05.000 idle "},
		{"NULs in between", started + strings.Repeat("\x00", 100) + complete, "00:00:01.000 running "},
		{"garbage", "\xff\xfe\n{}\n[]\nnull\n5\n\"x\"\n{\"type\":5}\n{\"payload\":[]}\n", ""},
		{"deep", strings.Repeat("[", 1<<16) + "\n" + `{"x":` + strings.Repeat(`{"x":`, 1<<16), ""},
		{"two on a line", strings.TrimSuffix(complete, "\n") + complete, ""},

		// The newest says nothing of use, so an older one is no evidence either.
		{"no time", started + edit(complete, "timestamp", "time", 1), ""},
		{"time of another form", started + edit(complete, "1970-01-01T", "Thursday ", 1), ""},
		{"time 0", started + edit(complete, "05.000Z", "00.900Z", 1), ""},
		{"", "", ""},
		{"newline", "\n", ""},
	} {
		if got := summary(ParseCodex([]byte(test.lines))); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

const codexSession = "01a2283d-b719-7b81-a53c-4f18bcfc9b6a"

// codexRecord has a rollout with the given lines.
func codexRecord(t testing.TB, lines string) *fsstore.Record {
	t.Helper()
	r := record("codex", codexSession)
	r.TranscriptPath = filepath.Join(t.TempDir(), "sessions/2026/11/29/rollout-2026-11-29T16-57-43-"+codexSession+".jsonl")
	write(t, r.TranscriptPath, lines)
	return r
}

func TestCodexObserve(t *testing.T) {
	complete := read(t, "codex/complete.jsonl")
	const want = "16:58:03.375 idle 01a2283d"
	// An image of a megabyte in a line, as base64.
	image := func(size int) string {
		return `{"timestamp":"2026-11-29T16:58:04.000Z","type":"response_item","payload":{"image_url":"` + strings.Repeat("A", size) + `"}}` + "\n"
	}
	for _, test := range []struct{ name, lines, want string }{
		{"all", complete, want},
		{"end of a long one", image(1<<20) + complete, want},
		{"end of one line", complete + image(100<<10), want},
		{"too far from the end", complete + image(1<<20), ""},
		{"one line", image(1 << 20), ""},
	} {
		if got := summary(ByHarness("codex", proc.Root).Observe(codexRecord(t, test.lines))); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	for _, test := range []struct {
		name   string
		change func(r *fsstore.Record)
	}{
		{"other session", func(r *fsstore.Record) { r.Session = "01a2283f-9a93-7ee2-966f-b1d613276523" }},
		{"end of the session", func(r *fsstore.Record) { r.Session = r.Session[1:] }},
		{"no transcript", func(r *fsstore.Record) { r.TranscriptPath = "" }},
		{"relative transcript", func(r *fsstore.Record) { r.TranscriptPath = "rollout-" + codexSession + ".jsonl" }},
		{"session in the name of the directory", func(r *fsstore.Record) { r.TranscriptPath += "/x" }},
	} {
		r := codexRecord(t, complete)
		test.change(r)
		if got := summary(ByHarness("codex", proc.Root).Observe(r)); got != "" {
			t.Errorf("%s: got %q, want nothing", test.name, got)
		}
	}
}

// What is read begins with the newline before the line that tells, or in it.
func TestCodexTailBorder(t *testing.T) {
	line := read(t, "codex/complete.jsonl")
	line = line[strings.LastIndexByte(line[:len(line)-1], '\n')+1:]
	for _, before := range []int{0, 1, 2, len(line) / 2, len(line) - 1, len(line), len(line) + 1} {
		padding := strings.Repeat("\n", codexTail-len(line)-1+before)
		r := codexRecord(t, strings.Repeat("x", 100)+"\n"+line+padding)
		want := ""
		if before == 0 {
			want = "16:58:03.375 idle 01a2283d"
		}
		if got := summary(codex{}.Observe(r)); got != want {
			t.Errorf("%d bytes too far: got %q, want %q", before, got, want)
		}
	}
}

func TestCodexHostile(t *testing.T) {
	lines := strings.SplitAfter(read(t, "codex/complete.jsonl"), "\n")
	r := codexRecord(t, lines[len(lines)-2])
	testHostile(t, r.TranscriptPath, func() (Observation, bool) { return codex{}.Observe(r) })
}

func BenchmarkCodex(b *testing.B) {
	lines := read(b, "codex/complete.jsonl")
	others := strings.Repeat(read(b, "codex/forked.jsonl"), codexTail/len(read(b, "codex/forked.jsonl"))+1)
	for _, bench := range []struct {
		name, lines string
		ok          bool
	}{
		{"last line", others + lines, true},
		{"none", lines + others, false},
		{"image", lines + `{"type":"response_item","payload":"` + strings.Repeat("A", 1<<20) + `"}` + "\n", false},
	} {
		r := codexRecord(b, bench.lines)
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(min(len(bench.lines), codexTail)))
			b.ReportAllocs()
			for b.Loop() {
				if o, ok := (codex{}).Observe(r); ok != bench.ok {
					b.Fatal(o, ok)
				}
			}
		})
	}
}
