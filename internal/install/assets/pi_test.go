package assets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// pi starts Pi with its extension loaded.
func pi(t *testing.T, replacements ...string) *agent {
	t.Helper()
	a := start(t, Pi, replacements...)
	a.do("extension", nil)
	return a
}

// older makes the waiting for what older releases do not tell short.
var older = []string{"SETTLE = 500", "SETTLE = 50", "COMPACTION = 120_000", "COMPACTION = 2000"}

// handle has Pi handle an event in a session and returns how long that took.
func (a *agent) handle(session string, event object, more object) time.Duration {
	a.t.Helper()
	s := object{"id": session, "cwd": "/src/app"}
	for k, v := range more {
		s[k] = v
	}
	return a.do("pi", object{"event": event, "session": s})
}

// emit emits events that are written in short: NAME, of the session s1, and
//
//	session_start|session_shutdown REASON [SESSION]
//	tool_execution_start TOOL
//	ui_prompt_start [TITLE…]
//	agent_end STOP-REASON [TEXT…], agent_end-busy: while something goes on
//	agent_settled [aborted]
func (a *agent) emit(script string) {
	a.t.Helper()
	for line := range strings.Lines(script) {
		words := append(strings.Fields(line), "", "", "")
		name, busy := strings.CutSuffix(words[0], "-busy")
		event, session := object{"type": name}, "s1"
		switch name {
		case "":
			continue
		case "session_start", "session_shutdown":
			event["reason"] = words[1]
			if words[2] != "" {
				session = words[2]
			}
		case "tool_execution_start":
			event["toolName"], event["toolCallId"] = words[1], "call_1"
		case "ui_prompt_start":
			event["kind"], event["title"] = "confirm", strings.TrimSpace(strings.TrimPrefix(line, name))
		case "agent_end":
			text := strings.Join(words[2:], " ")
			event["messages"] = []object{
				{"role": "assistant", "stopReason": "error"},
				{"role": "user", "content": "secret"},
				{"role": "assistant", "stopReason": words[1], "content": []object{{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}}},
				{"role": "toolResult"},
			}
		case "agent_settled":
			event["aborted"] = words[1] == "aborted"
		}
		if took := a.handle(session, event, object{"busy": busy}); took > prompt && name != "session_shutdown" {
			a.t.Errorf("%s kept Pi waiting for %v", name, took)
		}
	}
}

// shows waits until the record of s1 says "STATUS DETAIL [TOOL]".
func (a *agent) shows(want string) {
	a.t.Helper()
	got := ""
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if r := a.records()["s1"]; r != nil {
			got = strings.TrimSpace(string(r.Status) + " " + r.Detail)
			if r.Tool != "" {
				got += " [" + r.Tool + "]"
			}
		}
		if got == want {
			return
		}
	}
	a.t.Fatalf("got %q, want %q; told: %s", got, want, a.told())
}

// A real run of Pi with -p.
func TestPiRecorded(t *testing.T) {
	t.Parallel()
	a := pi(t)
	shows := map[any]string{
		"session_start": "started session started", "agent_start": "running processing prompt",
		"tool_execution_start": "running using bash [bash]", "turn_start": "running processing prompt",
		"session_shutdown": "ended session closed",
	}
	for _, e := range recorded(t, "pi-1.6.jsonl") {
		a.handle("s1", e, nil)
		if want := shows[e["type"]]; want != "" {
			a.shows(want)
		}
	}
	a.exit()
	var told []string
	sequence := 0.0
	for _, line := range a.told() {
		var m object
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		told = append(told, fmt.Sprint(m["event_id"], " ", m["status"]))
		if n := m["sequence"].(float64); n <= sequence {
			t.Errorf("sequence %v after %v", n, sequence)
		} else {
			sequence = n
		}
	}
	want := "pi.session-start started, pi.agent-start running, pi.tool-execution-start running, pi.turn-start running, pi.session-shutdown ended"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r := a.records()["s1"]
	if r == nil || r.Status != fsstore.Ended || r.Harness != "pi" || r.Cwd != "/src/app" || r.PID != fmt.Sprint(a.cmd.Process.Pid) {
		t.Errorf("got %+v", r)
	}
}

func TestPiStates(t *testing.T) {
	t.Parallel()
	const (
		run     = "session_start startup\nagent_start\nturn_start\n"
		prompt  = "running processing prompt"
		failed  = "error turn failed (API error)"
		settled = "agent_settled\n"
	)
	for _, tt := range []struct {
		name   string
		events []string // each followed by what the record says then
	}{
		{"start", []string{"session_start startup", "started session started"}},
		{"turn", []string{run, prompt, "tool_execution_start bash", "running using bash [bash]", "tool_execution_end\nturn_end\nturn_start", prompt,
			"turn_end\nagent_end stop It is  done.\n" + settled, "idle It is done.", "agent_start", prompt}},
		{"Esc", []string{run, prompt, "agent_end aborted\nagent_settled aborted", "idle interrupted"}},
		{"Esc before anything", []string{run, prompt, "agent_settled aborted", "idle interrupted"}},
		{"API error", []string{run + "agent_end error\n" + settled, failed, "agent_start\nagent_end stop\n" + settled, "idle"}},
		{"retry", []string{run + settled + run + "agent_end-busy error", prompt, "agent_start\nagent_end stop Better.\n" + settled, "idle Better."}},
		{"dialog", []string{run + "tool_execution_start bash\nui_prompt_start Allow rm?", "waiting Allow rm? [bash]", "ui_prompt_end", "running using bash [bash]"}},
		{"dialog without a title", []string{run + "ui_prompt_start\nturn_start", "waiting waiting for user input", "ui_prompt_end", prompt}},
		{"dialog of a command", []string{run + "agent_end stop\n" + settled + "ui_prompt_start Which?", "waiting Which?", "ui_prompt_end", "idle"}},
		{"dialog that the end of a turn closes", []string{run + "ui_prompt_start Which?\nagent_end aborted\nui_prompt_end\nagent_settled aborted", "idle interrupted"}},
		{"compaction", []string{run + "agent_end stop Done.\n" + settled + "session_before_compact", "running compacting", "session_compact", "idle Done."}},
		{"compaction that fails", []string{run + "agent_end error\n" + settled + "session_before_compact", "running compacting", "session_compact_failed", failed}},
		{"compaction in a run", []string{run + "session_before_compact", "running compacting", "session_compact", prompt, "agent_end stop\n" + settled, "idle"}},
		{"reload", []string{run + "agent_end stop Done.\n" + settled + "session_shutdown reload", "idle Done.", "session_start reload", "idle Done."}},
		{"reload that brings the extension", []string{"session_start reload", "started session started"}},
		{"resume of the same", []string{run, prompt, "session_shutdown resume", "ended session closed", "session_start resume", "started session started"}},
		{"late end of a run", []string{run, prompt, "session_shutdown quit\nagent_end aborted\nagent_settled aborted", "ended session closed"}},
		{"long text", []string{run + "agent_end stop " + strings.Repeat("é", 5000) + "\n" + settled, "idle " + strings.Repeat("é", 120)}},
		{"older: turn", []string{run + "agent_end stop Done.", "idle Done."}},
		{"older: error", []string{run + "agent_end error", failed, "agent_start\nagent_end stop", "idle"}},
		{"older: retry", []string{run + "agent_end-busy error", prompt, "agent_start\nagent_end stop", "idle"}},
		{"older: compaction after a run", []string{run + "agent_end stop Done.\nsession_before_compact", "running compacting", "session_compact", "idle Done."}},
		{"older: compaction without an end", []string{run + "agent_end stop Done.", "idle Done.", "session_before_compact", "running compacting", "", "idle Done."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var waits []string
			if strings.HasPrefix(tt.name, "older") {
				waits = older
			}
			a := pi(t, waits...)
			for i := 0; i < len(tt.events); i += 2 {
				a.emit(tt.events[i])
				a.shows(tt.events[i+1])
			}
		})
	}
}

// Pi loads the extension anew for another session.
func TestPiSessions(t *testing.T) {
	t.Parallel()
	a := pi(t)
	a.emit("session_start startup\nagent_start")
	a.want("s1:running")
	a.emit("session_shutdown new")
	if got := a.listed(); got != "s1:ended" {
		t.Errorf("got %s", got)
	}
	a.do("extension", nil)
	a.emit("session_start new s2")
	a.want("s1:ended s2:started")
	a.emit("session_shutdown fork s2")
	a.do("extension", nil)
	a.emit("session_start fork s3")
	a.want("s1:ended s2:ended s3:started")
	a.emit("session_shutdown resume s3")
	a.do("extension", nil)
	a.emit("session_start resume")
	a.want("s1:started s2:ended s3:ended")
	a.emit("session_shutdown quit")
	a.exit()
	if got := a.listed(); got != "s1:ended s2:ended s3:ended" {
		t.Errorf("got %s", got)
	}
}

func TestPiTitle(t *testing.T) {
	t.Parallel()
	a := pi(t)
	a.emit("session_start startup")
	a.shows("started session started")
	at := a.records()["s1"].TS
	time.Sleep(1100 * time.Millisecond)
	a.handle("s1", object{"type": "session_info_changed"}, object{"name": strings.Repeat("🙂 long\n", 100_000)})
	for a.records()["s1"].Title == "" {
		time.Sleep(time.Millisecond)
	}
	if r := a.records()["s1"]; len(r.Title) > fsstore.MaxTitle || !strings.HasPrefix(r.Title, "🙂 long 🙂") || r.TS != at {
		t.Errorf("got %+v", r)
	}
}

// What comes fast is told in few words, in order, and the last word is right.
func TestPiBurst(t *testing.T) {
	t.Parallel()
	a := pi(t)
	a.emit("session_start startup")
	for i := range 200 {
		a.emit(fmt.Sprintf("turn_start\ntool_execution_start tool%d", i))
	}
	a.shows("running using tool199 [tool199]")
	if n := len(a.told()); n > 150 {
		t.Errorf("%d hooks for 400 events", n)
	}
	for range 100 {
		a.emit("agent_start\nui_prompt_start\nui_prompt_end\nagent_end stop\nagent_settled")
	}
	a.emit("agent_start\nagent_end error\nagent_settled")
	a.shows("error turn failed (API error)")
	a.serial()
}

// An end does not wait for what is still to be told, nor is it lost.
func TestPiEndInBurst(t *testing.T) {
	t.Parallel()
	a := pi(t)
	a.emit("session_start startup\nagent_start")
	a.shows("running processing prompt")
	for i := range 30 {
		a.emit(fmt.Sprintf("tool_execution_start tool%d\nui_prompt_start\nui_prompt_end", i))
	}
	a.emit("session_shutdown quit")
	a.exit()
	if got := a.listed(); got != "s1:ended" {
		t.Errorf("got %s", got)
	}
}

// An end that comes while a hook runs is the last word.
func TestPiEndOvertakes(t *testing.T) {
	t.Parallel()
	a := pi(t)
	a.write("hook.slow", "", 0o600)
	a.emit("session_start startup")
	for len(a.told()) == 0 {
		time.Sleep(time.Millisecond)
	}
	a.remove("hook.slow")
	a.emit("session_start startup s2\nsession_shutdown quit s2") // s1 has the hook
	a.emit("session_shutdown quit")
	time.Sleep(1500 * time.Millisecond)
	a.exit()
	if got := a.listed(); got != "" { // an end makes no record
		t.Errorf("got %s", got)
	}
}

func TestPiHookHangs(t *testing.T) {
	t.Parallel()
	a := pi(t, "HOOK_LIMIT = 5000", "HOOK_LIMIT = 1000", "END_LIMIT = 2000", "END_LIMIT = 400")
	a.emit("session_start startup")
	a.shows("started session started")
	a.write("hook.hang", "", 0o600)
	a.emit("agent_start")
	for len(a.told()) < 2 {
		time.Sleep(time.Millisecond)
	}
	a.emit("agent_end stop Done.\nagent_settled")
	time.Sleep(1200 * time.Millisecond)
	a.remove("hook.hang")
	a.shows("idle Done.") // without another event
	a.write("hook.hang", "", 0o600)
	a.emit("agent_start")
	began := time.Now()
	a.emit("session_shutdown quit")
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the end took %v", took)
	}
}

func TestPiHookMissing(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"missing": `"/nowhere/hook"`, "directory": `"/"`, "not executable": `"/etc/passwd"`, "empty": `""`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := pi(t, "const HOOK = ", "const HOOK = "+to+" || ")
			a.emit("session_start startup\nagent_start\nui_prompt_start")
			time.Sleep(50 * time.Millisecond)
			a.emit("ui_prompt_end\nagent_end stop\nagent_settled\nsession_shutdown quit")
		})
	}
}

// Whatever an event has, Pi goes on.
func TestPiOddEvents(t *testing.T) {
	t.Parallel()
	a := pi(t, older...)
	a.do("pi", object{"event": object{"type": "agent_end", "messages": 5}, "session": object{"id": "s1"}})
	a.do("pi", object{"event": object{"type": "tool_execution_start", "toolName": 5}, "session": object{"id": "s1"}})
	a.shows("running using")
	a.do("pi", object{"event": object{"type": "agent_end"}, "session": object{"id": "s1"}})
	a.shows("idle")
}

// Pi also loads extensions where there is no session: nothing may happen then.
func TestPiDisabled(t *testing.T) {
	t.Parallel()
	const events = "session_start startup\nagent_start\nsession_shutdown quit"
	a := pi(t, "process.env", `({ TONGS_AGENTS_DISABLE: "1" })`)
	a.emit(events)
	idle := pi(t)
	for _, a := range []*agent{a, idle} {
		if got := a.quiet(); len(got) > 0 {
			t.Errorf("told: %s", got)
		}
	}
}
