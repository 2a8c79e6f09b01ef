package assets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// opencode starts OpenCode, which works in /src/app.
func opencode(t *testing.T, replacements ...string) *agent {
	t.Helper()
	a := start(t, OpenCode, replacements...)
	a.do("place", object{"dir": "/src/app"})
	return a
}

// in has events happen in a directory, at once.
func (a *agent) in(dir string, events ...object) {
	a.t.Helper()
	if took := a.do("events", object{"dir": dir, "events": events}); took > prompt {
		a.t.Errorf("OpenCode had to wait for %v", took)
	}
}

func event(typ string, properties object) object {
	return object{"id": "evt_1", "type": typ, "properties": properties}
}

func (a *agent) event(typ string, properties object) {
	a.t.Helper()
	a.in("/src/app", event(typ, properties))
}

// play plays events, at once, that are written in short:
//
//	s1 created              c1 created s1 (its parent)
//	s1 busy|idle|retry      s1 busy-text|idle-text (as of older releases)
//	s1 asked p1             s1 replied p1
//	s1 error [NAME]
func (a *agent) play(script string) {
	a.t.Helper()
	var events []object
	add := func(typ string, properties object) { events = append(events, event(typ, properties)) }
	for line := range strings.Lines(script) {
		words := append(strings.Fields(line), "", "")
		session, what, arg := words[0], words[1], words[2]
		p := object{"sessionID": session}
		info := object{"id": session, "directory": "/src/app/" + session, "title": "About " + session}
		status, older := strings.CutSuffix(what, "-text")
		switch what {
		case "":
		case "created", "updated":
			p["info"] = info
			if arg != "" {
				info["parentID"] = arg
			}
			add("session."+what, p)
		case "deleted":
			add("session.deleted", object{"info": info})
		case "busy", "idle", "retry", "busy-text", "idle-text":
			p["status"] = object{"type": status}
			if older {
				p["status"] = status
			}
			add("session.status", p)
		case "was-idle":
			add("session.idle", p)
		case "error":
			p["error"] = object{"name": arg, "data": object{}}
			add("session.error", p)
		case "asked", "asks":
			p["id"] = arg
			add(map[string]string{"asked": "permission.asked", "asks": "question.asked"}[what], p)
		case "updated-permission":
			p["id"] = arg
			add("permission.updated", p)
		case "replied", "answered", "rejected":
			p["requestID"] = arg
			add(map[string]string{"replied": "permission.replied", "answered": "question.replied", "rejected": "question.rejected"}[what], p)
		case "responded":
			p["permissionID"] = arg
			add("permission.replied", p)
		default:
			a.t.Fatalf("no event %q", what)
		}
	}
	a.in("/src/app", events...)
}

// A real session of OpenCode: a prompt, a tool, permission.
func TestOpenCodeRecorded(t *testing.T) {
	t.Parallel()
	const session = "ses_dd8ad1b13ffezWzS8J3ftaEo54"
	a := opencode(t)
	asked := false
	for _, e := range recorded(t, "opencode-1.18.jsonl") {
		a.in("/src/app", e)
		switch e["type"] {
		case "session.created":
			a.want(session + ":idle")
		case "session.status":
			if p := e["properties"].(object); p["status"].(object)["type"] == "busy" {
				a.want(session + ":running")
			} else {
				a.want(session + ":idle")
			}
		case "permission.asked":
			asked = true
			a.want(session + ":waiting")
		case "permission.replied":
			a.want(session + ":running")
		}
	}
	a.want(session + ":idle")
	r := a.records()[session]
	if !asked || r.Title != "The stub model has answered." || r.Cwd != "/home/dev/src/app" || r.Source != fsstore.SourcePlugin || r.Harness != "opencode" {
		t.Errorf("got %+v", r)
	}
	a.do("dispose", object{"dir": "/src/app"})
	a.exit()
	if got := a.listed(); got != session+":ended" {
		t.Errorf("after the exit: %s", got)
	}
}

func TestOpenCodeStates(t *testing.T) {
	t.Parallel()
	const turn = "s1 created\ns1 busy\n"
	for _, tt := range []struct {
		name   string
		events []string // each followed by what is listed then
	}{
		{"turn", []string{"s1 created", "s1:idle", "s1 busy", "s1:running", "s1 idle\ns1 was-idle", "s1:idle", "s1 busy", "s1:running"}},
		{"older release", []string{"s1 created\ns1 busy-text", "s1:running", "s1 updated-permission p1", "s1:waiting",
			"s1 responded p1", "s1:running", "s1 was-idle", "s1:idle"}},
		{"retry", []string{turn + "s1 retry", "s1:running", "s1 busy\ns1 idle", "s1:idle"}},
		{"permission", []string{turn + "s1 asked p1", "s1:waiting", "s1 replied p1", "s1:running"}},
		{"two permissions", []string{turn + "s1 asked p1\ns1 asked p2", "s1:waiting", "s1 replied p1\ns1 retry", "s1:waiting",
			"s1 replied p2", "s1:running"}},
		{"question", []string{turn + "s1 asks q1", "s1:waiting", "s1 answered q1", "s1:running", "s1 asks q2", "s1:waiting", "s1 rejected q2", "s1:running"}},
		{"answer that is not told", []string{turn + "s1 asked p1", "s1:waiting", "s1 idle", "s1:idle", "s1 busy", "s1:running"}},
		{"Esc", []string{turn, "s1:running", "s1 error MessageAbortedError\ns1 idle", "s1:idle"}},
		{"API error", []string{turn + "s1 error APIError\ns1 idle\ns1 was-idle", "s1:error", "s1 updated", "s1:error", "s1 busy", "s1:running", "s1 idle", "s1:idle"}},
		{"error without a turn", []string{"s1 created\ns1 error UnknownError", "s1:error"}},
		{"short turn after an error", []string{turn + "s1 error APIError\ns1 idle", "s1:error", "s1 busy\ns1 error MessageAbortedError\ns1 idle", "s1:idle"}},
		{"deleted", []string{turn, "s1:running", "s1 deleted", "s1:ended", "s1 idle", "s1:ended"}},
		{"child", []string{turn + "c1 created s1\nc1 busy", "s1:running", "c1 idle", "s1:running", "c1 error APIError\nc1 deleted", "s1:running", "s1 idle", "s1:idle"}},
		{"child asks", []string{turn + "c1 created s1\nc1 busy\nc1 asked p1", "s1:waiting", "c1 replied p1", "s1:running",
			"g1 created c1\ng1 asks q1", "s1:waiting", "g1 idle", "s1:running"}},
		{"child of an idle session asks", []string{turn + "c1 created s1\nc1 busy\ns1 idle", "s1:idle", "s2 created", "s1:ended s2:idle", "c1 asked p1", "s1:waiting s2:idle"}},
		{"children in bulk", []string{turn + strings.Repeat("c1 created s1\nc1 busy\nc1 idle\nc2 created s1\nc2 busy\n", 20), "s1:running"}},
		{"unknown child is idle", []string{turn + "c9 idle\nc9 was-idle", "s1:running", "s1 idle", "s1:idle"}},
		{"updates are no activity", []string{"s0 updated\n" + turn + "s1 idle\ns0 updated", "s1:idle"}},
		{"new", []string{turn + "s1 idle", "s1:idle", "s2 created", "s1:ended s2:idle", "s1 updated", "s1:ended s2:idle", "s1 busy", "s1:running s2:ended"}},
		{"new while the old one works", []string{turn + "s2 created\ns2 busy", "s1:running s2:running", "s2 idle", "s1:running s2:idle",
			"s1 busy\ns1 idle", "s1:idle s2:idle", "s2 busy", "s1:ended s2:running"}},
		{"new while the old one waits", []string{turn + "s1 asked p1\ns2 created", "s1:waiting s2:idle"}},
		{"new after an error", []string{turn + "s1 error APIError\ns1 idle", "s1:error", "s2 created", "s1:ended s2:idle"}},
		{"asked and answered at once", []string{turn + "s1 asked p1\ns1 replied p1", "s1:running"}},
		{"nothing", []string{"s1 updated\ns2 idle\ns3 deleted\ns4 replied p1\ns5 error MessageAbortedError", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := opencode(t)
			for i := 0; i < len(tt.events); i += 2 {
				a.play(tt.events[i])
				a.want(tt.events[i+1])
			}
		})
	}
}

func TestOpenCodeRecord(t *testing.T) {
	t.Parallel()
	a := opencode(t)
	a.event("session.created", object{"info": object{"id": "s1", "directory": "/src/app/sub", "title": "New session - 2026-11-29T12:41:13.708Z"}})
	a.want("s1:idle")
	r := a.records()["s1"]
	if r.PID != fmt.Sprint(a.cmd.Process.Pid) || r.Cwd != "/src/app/sub" || r.Title != "" {
		t.Errorf("got %+v", r)
	}
	at := r.TS
	a.event("session.updated", object{"info": object{"id": "s1", "directory": "/src/app/sub", "title": strings.Repeat("🙂 long\n", 100_000)}})
	for a.records()["s1"].Title == "" {
		time.Sleep(time.Millisecond)
	}
	if r := a.records()["s1"]; len(r.Title) > fsstore.MaxTitle || !strings.HasPrefix(r.Title, "🙂 long 🙂") || r.TS != at {
		t.Errorf("got %+v", r)
	}
	// What a record could not hold does not keep the rest back.
	a.event("session.created", object{"info": object{"id": "s2", "directory": "/" + strings.Repeat("x", 5000), "title": 7}})
	a.event("session.status", object{"sessionID": strings.Repeat("s", 600), "status": "busy"})
	a.event("session.status", object{"sessionID": "s\x00", "status": "busy"})
	a.event("session.status", object{"sessionID": "s2", "status": "dreaming"})
	a.event("session.status", object{"sessionID": 5, "status": object{"type": "busy"}})
	a.event("session.status", nil)
	a.in("/src/app", nil, event("session.created", object{"info": nil}), object{"type": "session.status"})
	a.want("s1:ended s2:idle")
	a.play("s2 busy")
	a.want("s1:ended s2:running")
}

// A session that was resumed is one that OpenCode did not tell of.
func TestOpenCodeResumed(t *testing.T) {
	t.Parallel()
	a := opencode(t, "LOOKUP_LIMIT = 2000", "LOOKUP_LIMIT = 200")
	a.do("describe", object{"info": object{"id": "s1", "directory": "/src/old", "title": "Old"}})
	a.do("describe", object{"info": object{"id": "c1", "parentID": "s1"}})
	a.play("s1 busy")
	a.want("s1:running")
	if r := a.records()["s1"]; r.Cwd != "/src/old" || r.Title != "Old" {
		t.Errorf("got %+v", r)
	}
	a.play("c1 busy\nc1 asked p1")
	a.want("s1:waiting")
	a.play("c1 idle\nx1 busy") // nobody knows x1: it is a child, for another is at work
	a.want("s1:running")
	a.play("s1 idle\ny1 busy") // and y1 is none
	a.want("s1:ended y1:running")
	a.play("x1 updated") // now it is told of
	a.want("s1:ended x1:running y1:running")
	a.play("x1 idle")
	a.want("s1:ended x1:idle y1:running")
	a.do("describe", object{"info": object{"id": "z1"}})
	a.play("z1 asks q1")
	a.want("s1:ended x1:ended y1:running z1:waiting")
}

// OpenCode loads the plugin once for each directory, and ends each of them.
func TestOpenCodePlaces(t *testing.T) {
	t.Parallel()
	a := opencode(t)
	a.do("place", object{"dir": "/src/lib"})
	a.play("s1 created")
	a.in("/src/lib", event("session.created", object{"info": object{"id": "s2", "directory": "/src/lib"}}))
	a.want("s1:idle s2:idle")
	a.in("/src/lib", event("session.status", object{"sessionID": "s2", "status": "busy"}))
	a.want("s1:idle s2:running")
	a.do("dispose", object{"dir": "/src/app"})
	if got := a.listed(); got != "s1:ended s2:running" {
		t.Errorf("got %s", got)
	}
	a.do("place", object{"dir": "/src/app"}) // as after another setting
	a.do("describe", object{"info": object{"id": "s1", "directory": "/src/app"}})
	a.play("s1 busy")
	a.want("s1:running s2:running")
	a.do("dispose", object{"dir": "/src/app"})
	a.do("dispose", object{"dir": "/src/lib"})
	a.do("dispose", object{"dir": "/src/lib"})
	if got := a.listed(); got != "s1:ended s2:ended" {
		t.Errorf("got %s", got)
	}
	told := len(a.told())
	if got := len(a.quiet()); got != told {
		t.Errorf("%d hooks after the end", got-told)
	}
}

// What comes fast is told in few words, and the last word is right.
func TestOpenCodeBurst(t *testing.T) {
	t.Parallel()
	a := opencode(t)
	a.play("s1 created\ns2 created")
	for i := range 200 {
		a.play(fmt.Sprintf("s%d busy\ns%[1]d asked p%d\ns%[1]d replied p%[2]d\ns%[1]d idle", i%2+1, i))
	}
	a.play("s1 busy\ns2 busy\ns2 asked p")
	a.want("s1:running s2:waiting")
	if n := len(a.told()); n > 150 {
		t.Errorf("%d hooks for 800 events", n)
	}
	a.serial()
}

// Nothing is run for what does not matter, which is nearly everything.
func TestOpenCodeQuiet(t *testing.T) {
	t.Parallel()
	a := opencode(t)
	a.play("s1 created\ns1 busy")
	a.want("s1:running")
	told := len(a.told())
	for range 50 {
		a.event("message.part.updated", object{"sessionID": "s1", "part": object{"text": "x"}})
		a.event("message.updated", object{"info": object{"id": "m1", "sessionID": "s1"}})
		a.event("session.diff", object{"sessionID": "s1", "diff": []int{}})
		a.event("session.compacted", object{"sessionID": "s1"})
		a.play("s1 busy\ns1 updated")
	}
	if got := a.quiet(); len(got) != told {
		t.Errorf("told for nothing: %s", got[told:])
	}
}

func TestOpenCodeHookHangs(t *testing.T) {
	t.Parallel()
	a := opencode(t, "HOOK_LIMIT = 5000", "HOOK_LIMIT = 1000", "END_LIMIT = 2000", "END_LIMIT = 400")
	a.write("hook.hang", "", 0o600)
	a.play("s1 created\ns1 busy")
	time.Sleep(1200 * time.Millisecond)
	a.remove("hook.hang")
	a.want("s1:running") // without another event
	a.write("hook.hang", "", 0o600)
	if took := a.do("dispose", object{"dir": "/src/app"}); took > 4*time.Second {
		t.Errorf("the end took %v", took)
	}
	// One that never ends is not run for ever.
	a.do("place", object{"dir": "/src/app"})
	a.play("s2 created")
	time.Sleep(5 * time.Second)
	told := len(a.told())
	time.Sleep(time.Second)
	if got := len(a.told()); got != told {
		t.Errorf("%d more hooks", got-told)
	}
}

// What a hook that was killed has recorded is made good.
func TestOpenCodeHookKilled(t *testing.T) {
	t.Parallel()
	a := opencode(t, "HOOK_LIMIT = 5000", "HOOK_LIMIT = 1000")
	a.play("s1 created\ns1 busy")
	a.want("s1:running")
	a.quiet() // and that hook is over
	a.write("hook.stay", "", 0o600)
	a.play("s1 asked p1")
	a.want("s1:waiting")
	a.remove("hook.stay")
	a.play("s1 replied p1") // as it was before
	a.want("s1:running")

	a.quiet()
	a.do("place", object{"dir": "/src/lib"})
	a.write("hook.stay", "", 0o600)
	a.in("/src/lib", event("session.created", object{"info": object{"id": "s2"}}))
	a.want("s1:running s2:idle")
	a.remove("hook.stay")
	a.do("dispose", object{"dir": "/src/lib"})
	if got := a.listed(); got != "s1:running s2:ended" {
		t.Errorf("got %s", got)
	}
}

// An end that comes while a hook runs is the last word.
func TestOpenCodeEndOvertakes(t *testing.T) {
	t.Parallel()
	a := opencode(t)
	a.play("s1 created\ns1 busy")
	a.want("s1:running")
	a.write("hook.slow", "", 0o600)
	told := len(a.told())
	a.play("s1 idle")
	for len(a.told()) == told {
		time.Sleep(time.Millisecond)
	}
	a.remove("hook.slow")
	a.do("dispose", object{"dir": "/src/app"})
	time.Sleep(1500 * time.Millisecond)
	a.exit()
	if got := a.listed(); got != "s1:ended" {
		t.Errorf("got %s", got)
	}
}

func TestOpenCodeHookMissing(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"missing": `"/nowhere/hook"`, "directory": `"/"`, "not executable": `"/etc/passwd"`, "empty": `""`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := opencode(t, "const HOOK = ", "const HOOK = "+to+" || ")
			a.play("s1 created\ns1 busy\ns1 asked p1")
			time.Sleep(50 * time.Millisecond)
			a.play("s1 replied p1\ns1 idle")
			a.do("dispose", object{"dir": "/src/app"})
		})
	}
}

func TestOpenCodeDisabled(t *testing.T) {
	t.Parallel()
	a := opencode(t, "process.env", `({ TONGS_AGENTS_DISABLE: "1" })`)
	a.play("s1 created\ns1 busy")
	a.do("dispose", object{"dir": "/src/app"})
	if got := a.quiet(); len(got) > 0 {
		t.Errorf("told: %s", got)
	}
}

// A server that lives for weeks does not remember every session.
func TestOpenCodeForgets(t *testing.T) {
	t.Parallel()
	a := opencode(t, "REMEMBERED = 2000", "REMEMBERED = 10")
	a.play("s1 created\ns1 busy")
	for i := range 50 {
		a.play(fmt.Sprintf("c%d created s1\nc%[1]d busy\nc%[1]d idle", i))
	}
	a.play("c99 created s1\nc99 busy\nc99 asked p1")
	a.want("s1:waiting")
	a.play("c99 replied p1\nc99 idle\ns1 idle")
	a.want("s1:idle")
}
