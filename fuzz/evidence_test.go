package fuzz

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/maintain/evidence"
)

// FuzzClaudeFile reads any text as the file of a Claude Code process. What it
// says stands in the text, as encoding/json reads it.
func FuzzClaudeFile(f *testing.F) {
	addSamples(f, "claude/*.json")
	f.Add([]byte(`{"pid":32098,"procStart":1027744,"sessionId":"s","status":"waiting","waitingFor":"\u0000","statusUpdatedAt":1}`))
	f.Add([]byte(`{"pid":32098,"procStart":"1027744","sessionId":"s","sessionId":"\ud800","status":"idle","statusUpdatedAt":-1}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		o, ok := evidence.ParseClaude(file, 32098, "1027744")
		if !ok {
			if o != (evidence.Observation{}) {
				t.Errorf("nothing, but %+v", o)
			}
			return
		}
		var in map[string]json.RawMessage
		if err := json.Unmarshal(file, &in); err != nil {
			t.Fatalf("got %+v of what is no JSON: %v", o, err)
		}
		var start any
		if err := json.Unmarshal(in["procStart"], &start); err != nil || start != "1027744" && start != 1027744.0 {
			t.Errorf("got %+v, but it started at %s", o, in["procStart"])
		}
		if pid := as[int64](t, in["pid"]); pid != 32098 {
			t.Errorf("got %+v of process %d", o, pid)
		}
		if at := as[int64](t, in["statusUpdatedAt"]); o.At.UnixMilli() != at || at <= 0 {
			t.Errorf("got %v, want %d", o.At, at)
		}
		if session := as[string](t, in["sessionId"]); o.Session != session || session == "" {
			t.Errorf("got session %q, want %q", o.Session, session)
		}
		want := map[string]fsstore.Status{"idle": fsstore.Idle, "busy": fsstore.Running, "waiting": fsstore.Waiting}[as[string](t, in["status"])]
		if o.Status != want || o.Automatic {
			t.Errorf("got %+v, want %q", o, want)
		}
		checkTexts(t, o)
	})
}

// FuzzRollout reads any text as the end of a Codex rollout. A status is one of
// those that a line can tell, and its time is the timestamp of a line that
// tells it.
func FuzzRollout(f *testing.F) {
	addSamples(f, "codex/*.jsonl")
	f.Add([]byte(`{"payload":{"error":{},"type":"task_complete"},"timestamp":"1970-01-01T00:00:01Z","type":"event_msg"}` + "\n\x00"))
	f.Add([]byte("\n\n{\n}\n" + `{"timestamp":"2026-11-29T16:58:03.087+23:59","type":"turn_context","payload":{"approvals_reviewer":"auto_review"}}` + "\r\n{"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		o, ok := evidence.ParseCodex(lines)
		if !ok {
			if o != (evidence.Observation{}) {
				t.Errorf("nothing, but %+v", o)
			}
			return
		}
		switch {
		case o.Status != fsstore.Running && o.Status != fsstore.Idle && o.Status != fsstore.Error:
			t.Errorf("got %+v", o)
		case o.Automatic && o.Status != fsstore.Running:
			t.Errorf("automatic: got %+v", o)
		case o.Session != "" || o.Cwd != "" || o.Mode != "" || o.At.Unix() <= 0:
			t.Errorf("got %+v", o)
		}
		checkTexts(t, o)
		for line := range bytes.SplitSeq(lines, []byte("\n")) {
			var in map[string]json.RawMessage
			if json.Unmarshal(line, &in) != nil {
				continue
			}
			var stamp, kind string
			if json.Unmarshal(in["timestamp"], &stamp) != nil || json.Unmarshal(in["type"], &kind) != nil {
				continue
			}
			at, err := time.Parse(time.RFC3339, stamp)
			if err == nil && at.Equal(o.At) && (kind == "turn_context") == o.Automatic {
				return
			}
		}
		t.Errorf("got %+v of no line", o)
	})
}

func checkTexts(t *testing.T, o evidence.Observation) {
	t.Helper()
	for _, text := range []struct {
		text string
		max  int
	}{{o.Session, fsstore.MaxSession}, {o.Detail, fsstore.MaxDetail}, {o.Cwd, fsstore.MaxCwd}} {
		if len(text.text) > text.max || !utf8.ValidString(text.text) || bytes.IndexByte([]byte(text.text), 0) >= 0 {
			t.Errorf("no record can hold %q", text.text)
		}
	}
}

func addSamples(f *testing.F, pattern string) {
	f.Helper()
	names, err := filepath.Glob("../fsstore/maintain/evidence/testdata/" + pattern)
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}
