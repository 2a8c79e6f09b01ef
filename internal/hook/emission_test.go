package hook

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// emitted is a fleet-event that is as it should be. Its emitter is this
// process.
func emitted(changes map[string]any) []byte {
	body := map[string]any{
		"schema_version": 1, "event_id": "pi.turn-start", "session_id": "s1", "instance_id": "e1",
		"sequence": 1, "pid": os.Getpid(), "cwd": "/home/dana/src/ledger-api", "status": "running",
	}
	maps.Copy(body, changes)
	for key, value := range body {
		if value == absent {
			delete(body, key)
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return text
}

const absent = "(absent)"

func emit(t *testing.T, changes map[string]any) (*fsstore.Record, error) {
	t.Helper()
	return run(t, 0, []string{"fleet-event"}, emitted(changes))
}

func TestEmission(t *testing.T) {
	noEnvironment(t)
	now := clock
	if _, err := emit(t, map[string]any{
		"detail": "turn\n1", "tool": "bash", "title": "a  title", "ts": now - 5, "unknown": []int{1}, "model": nil,
	}); err != nil {
		t.Fatal(err)
	}
	r := stored(t)
	if r.Harness != "pi" || r.Session != "s1" || r.Instance != "e1" || r.PID != strconv.Itoa(os.Getpid()) || r.ProcessStart == "" ||
		r.Identity != fsstore.Identified || r.Status != fsstore.Running || r.Detail != "turn 1" || r.Tool != "bash" ||
		r.Title != "a title" || r.TS != now-5 || r.Started != now-5 || r.Sequence != 1 || !r.HasSequence || r.Arrival != 1 ||
		r.LastEvent != "pi.turn-start" || r.Cwd != "/home/dana/src/ledger-api" || r.Repo != "ledger-api" ||
		strings.Join(r.Resume, " ") != "pi --session s1" {
		t.Errorf("got %+v", r)
	}
}

func TestEmissionRefused(t *testing.T) {
	tests := []struct {
		name    string
		changes map[string]any
	}{
		{"no schema_version", map[string]any{"schema_version": absent}},
		{"schema_version null", map[string]any{"schema_version": nil}},
		{"schema_version 2", map[string]any{"schema_version": 2}},
		{"schema_version text", map[string]any{"schema_version": "1"}},
		{"no event_id", map[string]any{"event_id": absent}},
		{"event_id without harness", map[string]any{"event_id": "turn-start"}},
		{"event_id of no harness", map[string]any{"event_id": "emacs.turn-start"}},
		{"event_id without event", map[string]any{"event_id": "pi."}},
		{"event_id number", map[string]any{"event_id": 1}},
		{"no session_id", map[string]any{"session_id": absent}},
		{"session_id empty", map[string]any{"session_id": ""}},
		{"session_id number", map[string]any{"session_id": 1}},
		{"session_id too long", map[string]any{"session_id": strings.Repeat("s", fsstore.MaxSession+1)}},
		{"session_id with NUL", map[string]any{"session_id": "a\x00b"}},
		{"no instance_id", map[string]any{"instance_id": absent}},
		{"instance_id empty", map[string]any{"instance_id": ""}},
		{"instance_id unresolved", map[string]any{"instance_id": "unresolved"}},
		{"instance_id too long", map[string]any{"instance_id": strings.Repeat("e", fsstore.MaxInstance+1)}},
		{"no sequence", map[string]any{"sequence": absent}},
		{"sequence negative", map[string]any{"sequence": -1}},
		{"sequence fraction", map[string]any{"sequence": 1.5}},
		{"sequence text", map[string]any{"sequence": "1"}},
		{"sequence too large", map[string]any{"sequence": json.RawMessage("9223372036854775808")}},
		{"no pid", map[string]any{"pid": absent}},
		{"pid zero", map[string]any{"pid": 0}},
		{"pid negative", map[string]any{"pid": -1}},
		{"pid of no process", map[string]any{"pid": noProcess}},
		{"pid beyond pid_t", map[string]any{"pid": 1<<32 + int64(os.Getpid())}},
		{"pid text of no number", map[string]any{"pid": "self"}},
		{"pid boolean", map[string]any{"pid": true}},
		{"no cwd", map[string]any{"cwd": absent}},
		{"cwd number", map[string]any{"cwd": 1}},
		{"cwd too long", map[string]any{"cwd": strings.Repeat("/", fsstore.MaxCwd+1)}},
		{"no status", map[string]any{"status": absent}},
		{"status unknown", map[string]any{"status": "busy"}},
		{"status discovered", map[string]any{"status": "discovered"}},
		{"status number", map[string]any{"status": 1}},
		{"ts in the future", map[string]any{"ts": clock + 1000}},
		{"ts negative", map[string]any{"ts": -1}},
		{"ts text", map[string]any{"ts": "1"}},
		{"detail number", map[string]any{"detail": 1}},
		{"tool list", map[string]any{"tool": []string{"bash"}}},
		{"title object", map[string]any{"title": map[string]any{}}},
	}
	noEnvironment(t)
	for _, tt := range tests {
		if r, err := emit(t, tt.changes); err == nil {
			t.Errorf("%s: got %s", tt.name, show(r))
		}
	}
	for _, text := range []string{`[]`, `"x"`, `null`, `1`, `{`, ``, `{"schema_version":1,`} {
		if r, err := run(t, 0, []string{"fleet-event"}, []byte(text)); err == nil {
			t.Errorf("%q: got %s", text, show(r))
		}
	}
	if r := stored(t); r != nil {
		t.Errorf("a refused event left %s", show(r))
	}
}

func TestEmissionPIDAsText(t *testing.T) {
	noEnvironment(t)
	if _, err := emit(t, map[string]any{"pid": strconv.Itoa(os.Getpid())}); err != nil {
		t.Error(err)
	}
}

func TestEmissionAgent(t *testing.T) {
	noEnvironment(t)
	if r, err := run(t, 0, []string{"fleet-event", "--agent", "claude"}, emitted(nil)); err == nil {
		t.Errorf("event of pi for claude: got %s", show(r))
	}
	if r, err := run(t, 0, []string{"fleet-event", "--agent", "pi"}, emitted(nil)); err != nil {
		t.Errorf("event of pi for pi: got %s, %v", show(r), err)
	}
}

// Events with a sequence are ordered by it alone, whatever time they have.
func TestEmissionOrder(t *testing.T) {
	noEnvironment(t)
	for _, step := range []struct {
		sequence int
		status   string
		ts       int64
		stale    bool
		want     string
	}{
		{5, "started", 900, false, "started"},
		{7, "running", 800, false, "running"},
		{6, "idle", 950, true, "running"},
		{7, "idle", 950, true, "running"},
		{8, "waiting", 700, false, "waiting()"},
		{9, "idle", 700, false, "idle"},
	} {
		_, err := emit(t, map[string]any{"sequence": step.sequence, "status": step.status, "ts": step.ts})
		if errors.Is(err, fsstore.ErrStale) != step.stale || err != nil && !step.stale {
			t.Errorf("sequence %d: %v; want stale: %t", step.sequence, err, step.stale)
		}
		if got := showState(stored(t)); got != step.want {
			t.Errorf("sequence %d: got %s, want %s", step.sequence, got, step.want)
		}
	}
}

// After its end a session is revived by started or running alone, with a
// greater sequence.
func TestEmissionRevival(t *testing.T) {
	noEnvironment(t)
	step := func(sequence int, status, want string) {
		t.Helper()
		emit(t, map[string]any{"sequence": sequence, "status": status, "ts": 100 + sequence})
		if got := showState(stored(t)); got != want {
			t.Errorf("sequence %d, %s: got %s, want %s", sequence, status, got, want)
		}
	}
	step(1, "ended", "none") // makes no record
	step(2, "started", "started")
	step(3, "ended", "ended")
	for i, status := range []string{"idle", "waiting", "error", "ended"} {
		step(4+i, status, "ended")
	}
	step(3, "running", "ended")
	if got := stored(t).Started; got != 102 {
		t.Errorf("started: got %d, want 102", got)
	}
	step(10, "running", "running")
	if got := stored(t).Started; got != 110 {
		t.Errorf("started anew: got %d, want 110", got)
	}
	step(11, "ended", "ended")
	// Another program may have said why it ended.
	dir, err := fsstore.StateDir()
	if err != nil {
		t.Fatal(err)
	}
	s, err := fsstore.Open(dir, fsstore.Write)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	contents, err := s.Contents()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Amend(contents.Records[0], time.Second, func(r *fsstore.Record) { r.EndReason = "superseded" }); err != nil {
		t.Fatal(err)
	}
	step(12, "started", "started")
	if got := stored(t).EndReason; got != "" {
		t.Errorf("started anew: end_reason %q", got)
	}
}

// The idle event of a failed turn does not clear the error, but counts in the
// order.
func TestEmissionError(t *testing.T) {
	noEnvironment(t)
	emit(t, map[string]any{"sequence": 1, "status": "error", "detail": "429"})
	emit(t, map[string]any{"sequence": 2, "status": "idle", "detail": "settled"})
	if got := show(stored(t)); got != "error: 429" {
		t.Errorf("got %s", got)
	}
	if _, err := emit(t, map[string]any{"sequence": 2, "status": "running"}); !errors.Is(err, fsstore.ErrStale) {
		t.Errorf("same sequence: %v", err)
	}
	emit(t, map[string]any{"sequence": 3, "status": "running"})
	emit(t, map[string]any{"sequence": 4, "status": "idle"})
	if got := show(stored(t)); got != "idle" {
		t.Errorf("got %s", got)
	}
}

// A record is of one process: an emitter of another pid does not get it.
func TestEmissionOtherProcess(t *testing.T) {
	noEnvironment(t)
	emit(t, map[string]any{"sequence": 1})
	if _, err := emit(t, map[string]any{"sequence": 2, "pid": os.Getppid()}); !errors.Is(err, fsstore.ErrOtherProcess) {
		t.Errorf("got %v", err)
	}
}

func TestEmissionPrivate(t *testing.T) {
	noEnvironment(t)
	t.Setenv("TONGS_AGENTS_PRIVATE", "1")
	emit(t, map[string]any{"detail": "secret", "title": "secret", "tool": "bash", "status": "waiting"})
	if r := stored(t); r.Detail != "" || r.Title != "" || r.Tool != "bash" || showState(r) != "waiting(bash)" {
		t.Errorf("got %s, title %q, tool %q", show(r), r.Title, r.Tool)
	}
}

func TestEmissionLongTexts(t *testing.T) {
	noEnvironment(t)
	long := strings.Repeat("é", 3000)
	if _, err := emit(t, map[string]any{"event_id": "pi." + long, "detail": long, "title": long, "tool": long}); err != nil {
		t.Fatal(err)
	}
	if r := stored(t); len(r.Detail) != fsstore.MaxDetail || len(r.Title) != fsstore.MaxTitle || len(r.Tool) != fsstore.MaxTool ||
		len(r.LastEvent) > fsstore.MaxEvent {
		t.Errorf("got detail %d, title %d, tool %d, last_event %d bytes", len(r.Detail), len(r.Title), len(r.Tool), len(r.LastEvent))
	}
}
