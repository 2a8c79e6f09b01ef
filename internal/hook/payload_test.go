package hook

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
)

// decodeStream decodes a payload as it comes from a pipe, a few bytes a read.
func decodeStream(text string, hooks *harness.Hooks) (*payload, error) {
	r := strings.NewReader(text)
	read := func(p []byte) (int, error) { return r.Read(p[:min(len(p), 7)]) }
	return decodePayload(jsonstream.NewReader(read, make([]byte, 64)), hooks)
}

func TestDecodePayload(t *testing.T) {
	claude := harness.ByID("claude").Hooks
	tests := []struct {
		name, text string
		check      func(*payload) bool
	}{
		{"empty", `{}`, func(p *payload) bool { return *p == payload{} }},
		{"null is none", `{"session_id":null,"cwd":null,"background_tasks":null,"agent_id":null,"last_assistant_message":null}`,
			func(p *payload) bool { return *p == payload{} }},
		{"unknown keys", `{"x":{"session_id":"no"},"session_id":"s","y":[[{"cwd":"no"}],1e9,true,null],"":"","session_id ":"no"}`,
			func(p *payload) bool { return *p == payload{session: "s"} }},
		{"keys of an inner object", `{"tool_input":{"session_id":"no","agent_id":"no","hook_event_name":"Stop"},"session_id":"s"}`,
			func(p *payload) bool { return *p == payload{session: "s"} }},
		{"the last of equal keys", `{"session_id":"a","session_id":"b"}`, func(p *payload) bool { return p.session == "b" }},
		{"white space", " \r\n\t{ \"session_id\" :\n\"s\" } ", func(p *payload) bool { return p.session == "s" }},
		{"escaped key", `{"\u0073ession_id":"s"}`, func(p *payload) bool { return p.session == "s" }},
		{"key in other case", `{"Session_ID":"s"}`, func(p *payload) bool { return p.session == "" }},
		{"longest exact texts", `{"session_id":"` + strings.Repeat("s", fsstore.MaxSession) + `","cwd":"` + strings.Repeat("/", fsstore.MaxCwd) + `"}`,
			func(p *payload) bool { return len(p.session) == fsstore.MaxSession && len(p.cwd) == fsstore.MaxCwd }},
		{"texts are cut", `{"tool_name":"` + strings.Repeat("é", 300) + `"}`, func(p *payload) bool { return p.tool == strings.Repeat("é", 128) }},
		{"texts are mended", `{"message":"a\u0000b\ud800c` + "\xff" + `d"}`, func(p *payload) bool { return p.message == "ab\ufffdc\ufffdd" }},
		{"tasks", `{"background_tasks":[{"status":"running"},{"status":"done"},{"x":{"status":"running"}},{"status":"running","status":"done"},{"id":1,"status":"running"}]}`,
			func(p *payload) bool { return p.tasks == 2 }},
		{"tasks with null", `{"background_tasks":[{"status":null},{"status":"running","id":null}]}`, func(p *payload) bool { return p.tasks == 1 }},
		{"no tasks", `{"background_tasks":[]}`, func(p *payload) bool { return p.tasks == 0 }},
		{"what follows", `{"session_id":"s"}{"session_id":"t"}`, func(p *payload) bool { return p.session == "s" }},
		{"proof of another harness", `{"cursor_version":"1"}`, func(p *payload) bool { return !p.proof }},
	}
	for _, tt := range tests {
		for kind, decode := range map[string]func() (*payload, error){
			"stream": func() (*payload, error) { return decodeStream(tt.text, claude) },
			"bytes": func() (*payload, error) {
				return decodePayload(jsonstream.NewReader(strings.NewReader(tt.text).Read, make([]byte, 1<<16)), claude)
			},
		} {
			if p, err := decode(); err != nil || !tt.check(p) {
				t.Errorf("%s, %s: got %+v, %v", tt.name, kind, p, err)
			}
		}
	}
}

func TestDecodePayloadOfCursor(t *testing.T) {
	cursor := harness.ByID("cursor").Hooks
	p, err := decodeStream(`{"workspace_roots":["/first","/second"],"cwd":"/tool","cursor_version":null,"conversation_id":"c"}`, cursor)
	if err != nil || p.cwd != "/first" || p.session != "c" || p.proof {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = decodeStream(`{"workspace_roots":[],"cursor_version":"1"}`, cursor)
	if err != nil || p.cwd != "" || !p.proof {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestDecodePayloadBadInput(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	claude, cursor := harness.ByID("claude").Hooks, harness.ByID("cursor").Hooks
	tests := []struct {
		name, text string
		hooks      *harness.Hooks
	}{
		{"nothing", ``, claude},
		{"white space", " \n", claude},
		{"array", `[{"session_id":"s"}]`, claude},
		{"text", `"session_id"`, claude},
		{"number", `12`, claude},
		{"null", `null`, claude},
		{"no JSON", `session_id=s`, claude},
		{"UTF-8 mark", "\ufeff{}", claude},
		{"half", `{"session_id":"s"`, claude},
		{"half a text", `{"session_id":"s`, claude},
		{"comma at the end", `{"session_id":"s",}`, claude},
		{"single quotes", `{'session_id':'s'}`, claude},
		{"broken after what counts", `{"session_id":"s","x":[1,}`, claude},
		{"session_id number", `{"session_id":1}`, claude},
		{"session_id list", `{"session_id":["s"]}`, claude},
		{"session_id boolean", `{"session_id":true}`, claude},
		{"session_id object, then text", `{"session_id":{},"session_id":"s"}`, claude},
		{"session_id too long", `{"session_id":"` + long(fsstore.MaxSession+1) + `"}`, claude},
		{"session_id too long in bytes", `{"session_id":"` + strings.Repeat("é", fsstore.MaxSession/2) + `x"}`, claude},
		{"session_id with NUL", `{"session_id":"a\u0000"}`, claude},
		{"session_id with a lone surrogate", `{"session_id":"a\udc00"}`, claude},
		{"session_id of no UTF-8", "{\"session_id\":\"a\xff\"}", claude},
		{"cwd number", `{"session_id":"s","cwd":1}`, claude},
		{"cwd too long", `{"session_id":"s","cwd":"` + long(fsstore.MaxCwd+1) + `"}`, claude},
		{"cwd with NUL", `{"session_id":"s","cwd":"/a\u0000b"}`, claude},
		{"cwd with a lone surrogate", `{"session_id":"s","cwd":"/\ud83d"}`, claude},
		{"event number", `{"session_id":"s","hook_event_name":1}`, claude},
		{"tool object", `{"session_id":"s","tool_name":{}}`, claude},
		{"agent_id number", `{"session_id":"s","agent_id":7}`, claude},
		{"agent_type false", `{"session_id":"s","agent_type":false}`, claude},
		{"model object", `{"session_id":"s","model":{"id":"opus"}}`, claude},
		{"message list", `{"session_id":"s","message":["a"]}`, claude},
		{"tasks object", `{"session_id":"s","background_tasks":{}}`, claude},
		{"tasks of texts", `{"session_id":"s","background_tasks":["a"]}`, claude},
		{"task status number", `{"session_id":"s","background_tasks":[{"status":1}]}`, claude},
		{"roots text", `{"conversation_id":"s","workspace_roots":"/a"}`, cursor},
		{"roots of numbers", `{"conversation_id":"s","workspace_roots":[1]}`, cursor},
		{"roots with NUL", `{"conversation_id":"s","workspace_roots":["/a\u0000"]}`, cursor},
		{"too deep", `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `,"session_id":"s"}`, claude},
	}
	for _, tt := range tests {
		if p, err := decodeStream(tt.text, tt.hooks); err == nil {
			t.Errorf("%s: got %+v", tt.name, p)
		}
	}
}

// A payload of a wrong type is read to its end all the same: a harness whose
// write fails may take the hook for broken.
func TestReadToTheEnd(t *testing.T) {
	for _, text := range []string{
		`[` + strings.Repeat(`{"a":1},`, 9000) + `0]`,
		`{"session_id":1,"x":"` + strings.Repeat("y", 99000) + `"}`,
	} {
		r := strings.NewReader(text)
		_, err := decodePayload(jsonstream.NewReader(r.Read, make([]byte, 64)), harness.ByID("claude").Hooks)
		if err == nil || r.Len() != 0 {
			t.Errorf("%.20s: %v, %d bytes left", text, err, r.Len())
		}
	}
}

// Nor does it matter how the reading ends.
func TestReadError(t *testing.T) {
	want := errors.New("reset")
	r := io.MultiReader(strings.NewReader(`{"session_id":"s`), failing{want})
	if _, err := decodePayload(jsonstream.NewReader(r.Read, make([]byte, 64)), harness.ByID("claude").Hooks); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestParseArgs(t *testing.T) {
	tests := []struct {
		args  string
		event string
		agent string
		named bool
	}{
		{"", "", "claude", false},
		{"stop", "stop", "claude", false},
		{"stop --agent codex", "stop", "codex", true},
		{"--agent codex stop", "stop", "codex", true},
		{"--agent=gemini", "", "gemini", true},
		{"fleet-event", "fleet-event", "claude", false},
		{"--agent codex --agent=qwen", "", "qwen", true},
		{"--newer-option stop --x=y -z", "stop", "claude", false},
		{"stop session-end", "stop", "claude", false},
		{"--agent", "", "claude", false},
	}
	for _, tt := range tests {
		c, err := parseArgs(strings.Fields(tt.args))
		if err != nil || c.event != tt.event || c.agent.ID != tt.agent || c.named != tt.named {
			t.Errorf("%q: got %+v, %v", tt.args, c, err)
		}
	}
	for _, args := range []string{"stopp", "Stop", "--agent emacs", "--agent=", "--agent=Claude", "stop --agent emacs", "hook stop"} {
		var drop dropped
		if c, err := parseArgs(strings.Fields(args)); !errors.As(err, &drop) {
			t.Errorf("%q: got %+v, %v", args, c, err)
		}
	}
}

// Every alias of the usage text is one, and every harness.
func TestUsage(t *testing.T) {
	for e := harness.SessionStart; e <= harness.SessionEnd; e++ {
		if name := e.String(); name == "" || !strings.Contains(Usage, name) {
			t.Errorf("the usage text does not name event %d %q", e, name)
		}
	}
	for _, h := range harness.All() {
		if !strings.Contains(Usage, h.ID) {
			t.Errorf("the usage text does not name %s", h.ID)
		}
	}
}

// Of a session that belongs to no process that can be found there is a record
// all the same, made by a start or a prompt alone.
func TestUnresolved(t *testing.T) {
	noEnvironment(t)
	for _, event := range []string{"tool-use", "tool-done", "stop", "permission-request", "session-end"} {
		run(t, 0, []string{event}, []byte(`{"session_id":"s1","tool_name":"Bash"}`))
	}
	if r := stored(t); r != nil {
		t.Fatalf("got %s", show(r))
	}
	if _, err := run(t, 0, []string{"prompt-submit"}, []byte(`{"session_id":"s1"}`)); err != nil {
		t.Fatal(err)
	}
	run(t, 0, []string{"tool-use"}, []byte(`{"session_id":"s1","tool_name":"Bash"}`))
	if r := stored(t); r.Instance != fsstore.Unresolved || r.Identity != fsstore.Unresolved || r.PID != "" || r.ProcessStart != "" ||
		r.Focus.Kind != fsstore.FocusUnavailable || r.Mode != "" || r.TTY != "" || r.Cwd != "" || show(r) != "running: using Bash" {
		t.Errorf("got %+v", r)
	}
	// The process is found: the record goes on under its name.
	parent := standIn(t, harness.ByID("claude"))
	if _, err := run(t, parent, []string{"stop"}, []byte(`{"session_id":"s1","cwd":"/c"}`)); err != nil {
		t.Fatal(err)
	}
	if r := stored(t); r.Identity != fsstore.Identified || show(r) != "idle" || r.Arrival != 3 || r.Cwd != "/c" {
		t.Errorf("got %s, arrival_sequence %d, %+v", show(r), r.Arrival, r)
	}
}

// A Kiro session is its process; without one there is none.
func TestSessionIsProcess(t *testing.T) {
	noEnvironment(t)
	var drop dropped
	if _, err := run(t, 0, []string{"--agent", "kiro"}, []byte(`{"hook_event_name":"agentSpawn"}`)); !errors.As(err, &drop) {
		t.Errorf("without a process: %v", err)
	}
	run(t, standIn(t, harness.ByID("kiro")), []string{"--agent", "kiro"}, []byte(`{"hook_event_name":"agentSpawn"}`))
	if r := stored(t); r == nil || r.Session != r.Instance || r.Resume != nil {
		t.Errorf("got %+v", r)
	}
}

// No message and no title is stored in private mode. What the session does is.
func TestPrivate(t *testing.T) {
	noEnvironment(t)
	t.Setenv("TONGS_AGENTS_PRIVATE", "1")
	for _, payload := range []string{
		`"hook_event_name":"SessionStart","session_title":"secret","model":"opus"`,
		`"hook_event_name":"UserPromptSubmit","prompt":"secret","session_title":"secret"`,
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"secret"}`,
		`"hook_event_name":"PermissionRequest","tool_name":"Bash","message":"secret"`,
		`"hook_event_name":"Notification","notification_type":"permission_prompt","message":"secret","title":"secret"`,
		`"hook_event_name":"Notification","notification_type":"elicitation_complete","message":"secret"`,
		`"hook_event_name":"Notification","notification_type":"idle_prompt","message":"secret"`,
		`"hook_event_name":"Stop","last_assistant_message":"secret"`,
		`"hook_event_name":"StopFailure","last_assistant_message":"secret","error_details":"secret"`,
	} {
		if _, err := run(t, 0, nil, []byte(`{"session_id":"s1","cwd":"/c",`+payload+`}`)); err != nil {
			t.Errorf("%s: %v", payload, err)
		}
		r := stored(t)
		if text := string(r.AppendJSON(nil)); strings.Contains(text, "secret") || r.Model != "opus" || r.Cwd != "/c" {
			t.Errorf("%s: got %s", payload, text)
		}
	}
}

// Nor is a prompt ever stored, private or not.
func TestPromptIsNotStored(t *testing.T) {
	for _, h := range harness.All() {
		noEnvironment(t)
		event := []string{"prompt-submit", "--agent", h.ID}
		run(t, 0, event, []byte(`{"session_id":"s1","sessionId":"s1","conversation_id":"s1","prompt":"secret","message":"secret",
			"matcher_context":"secret","initial_prompt":"secret","initialPrompt":"secret","submitted_prompt":"secret"}`))
		if r := stored(t); r != nil && strings.Contains(string(r.AppendJSON(nil)), "secret") {
			t.Errorf("%s: got %s", h.ID, r.AppendJSON(nil))
		}
	}
}

// An error is counted where doctor looks for it; what the rules drop is none.
func TestHookErrors(t *testing.T) {
	noEnvironment(t)
	run(t, 0, nil, []byte(`{"session_id":"s1","hook_event_name":"SessionStart"}`)) // makes the directory
	count := func() int64 {
		dir, _ := fsstore.StateDir()
		s, err := fsstore.Open(dir, fsstore.Read)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, _ := s.HookErrors()
		return e.Count
	}
	noted(dropped("by the rules"))
	noted(fsstore.ErrStale)
	if n := count(); n != 0 {
		t.Errorf("got %d", n)
	}
	noted(errors.New("broken"))
	noted(errors.New("again\xff" + strings.Repeat("é", 600)))
	if n := count(); n != 2 {
		t.Errorf("got %d, want 2", n)
	}
	dir, _ := fsstore.StateDir()
	if fi, err := os.Stat(dir + "/hook-errors"); err != nil || fi.Mode().Perm() != 0o600 || fi.Size() > 2000 {
		t.Errorf("got %v, %v", fi, err)
	}
}
