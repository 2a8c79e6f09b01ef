package harness_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

func TestByID(t *testing.T) {
	var got []string
	for _, h := range harness.All() {
		got = append(got, h.ID)
		if p := harness.ByID(h.ID); p == nil || p.ID != h.ID {
			t.Errorf("ByID(%s) = %v", h.ID, p)
		}
	}
	want := "claude codex gemini opencode pi qwen copilot cursor droid goose kiro crush other"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, id := range []string{"", "Claude", "claude ", "amp"} {
		if h := harness.ByID(id); h != nil {
			t.Errorf("ByID(%q) = %s", id, h.ID)
		}
	}
}

// Names that several rows had would make the order of the rows decide.
func TestNames(t *testing.T) {
	names, packages := make(map[string]string), make(map[string]string)
	for _, h := range harness.All() {
		p := h.Process
		if len(p.Names) == 0 && h.ID != harness.Other {
			t.Errorf("%s has no name", h.ID)
		}
		for _, name := range p.Names {
			if other := names[name]; other != "" {
				t.Errorf("%s is a name of %s and %s", name, other, h.ID)
			}
			names[name] = h.ID
			if word := proc.Word(name); word != name {
				t.Errorf("%s: name %s is compared as %s and fits nothing", h.ID, name, word)
			}
		}
		for _, pkg := range p.Packages {
			if other := packages[pkg]; other != "" || strings.Trim(pkg, "/") != pkg || pkg == "" {
				t.Errorf("%s: package %q, also of %q", h.ID, pkg, other)
			}
			packages[pkg] = h.ID
		}
		if p.Bare && p.Scanned {
			t.Errorf("%s: a common word is not scanned for", h.ID)
		}
	}
}

// A scan of all processes looks for the harnesses that it can tell by name or
// path.
func TestScanned(t *testing.T) {
	var got []string
	for _, h := range harness.All() {
		if h.Process.Scanned {
			got = append(got, h.ID)
		}
	}
	if want := "claude codex gemini opencode qwen copilot"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestResumeCommand(t *testing.T) {
	const id = "872de908-a5e1-4c70-ab5a-4b92dfdb8275"
	for harnessID, want := range map[string]string{
		"claude":   "claude --resume " + id,
		"codex":    "codex resume " + id,
		"gemini":   "gemini --resume " + id,
		"opencode": "opencode --session " + id,
		"pi":       "pi --session " + id,
		"qwen":     "qwen --resume " + id,
		"copilot":  "copilot --resume=" + id,
		"cursor":   "cursor-agent --resume=" + id,
		"droid":    "droid --resume " + id,
		"goose":    "goose session --resume --session-id " + id,
		"kiro":     "",
		"crush":    "",
		"other":    "",
	} {
		if got := strings.Join(harness.ByID(harnessID).ResumeCommand(id), " "); got != want {
			t.Errorf("%s: got %q, want %q", harnessID, got, want)
		}
	}
}

func TestResumeCommandBadInput(t *testing.T) {
	h := harness.ByID("claude")
	for _, id := range []string{
		"", "-", "--help", "-rf", ".", "..", ".a", "_a", ":1", "a b", "a/b", "../a", "a;b", "a$b", "$(a)", "a`b`", "a&b", "a|b", "a>b",
		"a\nb", "a\x00b", "a'b", `a"b`, `a\b`, "a*b", "a?b", "a~b", "a=b", "a%b", "a#b", "é", "a\u202eb",
	} {
		if got := h.ResumeCommand(id); got != nil {
			t.Errorf("%q: got %q", id, got)
		}
	}
	for _, id := range []string{"a", "0", "ses_d9a1", "20261127_3", "313909e", "a.b:c-d_e", strings.Repeat("a", 512)} {
		if got := h.ResumeCommand(id); len(got) != 3 || got[2] != id {
			t.Errorf("%q: got %q", id, got)
		}
	}
	// The table itself is not written to.
	if got := h.Resume; !slices.Equal(got, []string{"claude", "--resume", "{}"}) {
		t.Errorf("the row is now %q", got)
	}
}

// Where it says how to read a payload, the table is without contradiction.
func TestHooks(t *testing.T) {
	for _, h := range harness.All() {
		hooks := h.Hooks
		if hooks == nil {
			t.Errorf("%s: no hooks", h.ID)
			continue
		}
		fields, keys, events := make(map[harness.Field]int), make(map[string]int), make(map[string]int)
		for _, k := range hooks.Keys {
			fields[k.Field]++
			keys[k.Name]++
			if got := hooks.Field([]byte(k.Name)); got != k.Field {
				t.Errorf("%s: key %s is field %d, want %d", h.ID, k.Name, got, k.Field)
			}
			if len(k.Name) == 0 || len(k.Name) > 64 {
				t.Errorf("%s: key %q is longer than the scanner reads keys", h.ID, k.Name)
			}
		}
		for _, e := range hooks.Events {
			events[e.Name]++
			if got := hooks.Event(e.Name); got != e || e.Event == harness.NoEvent || e.Name == "" {
				t.Errorf("%s: event %+v is found as %+v", h.ID, e, got)
			}
			if e.Kind != "" && (e.Event != harness.Notification || hooks.Notification(e.Kind) == harness.Nothing) {
				t.Errorf("%s: event %s of kind %s means nothing", h.ID, e.Name, e.Kind)
			}
			if e.Event == harness.Notification && !hooks.Kindless && len(hooks.Notifications) == 0 {
				t.Errorf("%s: event %s means nothing, since no kind does", h.ID, e.Name)
			}
		}
		for name, n := range keys {
			if n > 1 {
				t.Errorf("%s: key %s %d times", h.ID, name, n)
			}
		}
		for name, n := range events {
			if n > 1 {
				t.Errorf("%s: event %s %d times", h.ID, name, n)
			}
		}
		if hooks.Kindless && len(hooks.Notifications) > 0 {
			t.Errorf("%s: kinds of notification without a kind", h.ID)
		}
		if len(hooks.Keys) > 0 && (fields[harness.SessionID] == 0) != hooks.NoSession {
			t.Errorf("%s: session id by key: %t, by process: %t", h.ID, fields[harness.SessionID] > 0, hooks.NoSession)
		}
		if len(hooks.Events) > 0 && fields[harness.EventName] == 0 {
			t.Errorf("%s: events without a key that names them", h.ID)
		}
		for _, m := range hooks.Modes {
			if m.Variable == "" || m.Prefix == "" || m.Mode == "" {
				t.Errorf("%s: mode %+v", h.ID, m)
			}
		}
		if got, want := hooks.Proves(), h.ID == "cursor"; got != want {
			t.Errorf("%s: payloads prove whose they are: %t, want %t", h.ID, got, want)
		}
	}
}

// A harness whose sessions begin with an event needs no other one for it.
func TestNoStart(t *testing.T) {
	for _, h := range harness.All() {
		starts := false
		for _, e := range h.Hooks.Events {
			starts = starts || e.Event == harness.SessionStart || e.Event == harness.PromptSubmit
		}
		if len(h.Hooks.Events) > 0 && starts == h.Hooks.NoStart {
			t.Errorf("%s: start event: %t, NoStart: %t", h.ID, starts, h.Hooks.NoStart)
		}
	}
}

func TestAliases(t *testing.T) {
	names := strings.Fields(`session-start prompt-submit tool-use tool-done stop stop-failure permission-request elicitation
		notification interrupt subagent-start subagent-stop compact compact-done session-end`)
	seen := make(map[harness.Event]bool)
	for _, name := range names {
		e := harness.EventByAlias(name)
		if e == harness.NoEvent || e.String() != name || seen[e] {
			t.Errorf("%s: got event %d %q", name, e, e)
		}
		seen[e] = true
	}
	if len(seen) != int(harness.SessionEnd) {
		t.Errorf("%d aliases of %d events", len(seen), harness.SessionEnd)
	}
	for _, name := range []string{"", "Stop", "stop ", "fleet-event", "snapshot"} {
		if e := harness.EventByAlias(name); e != harness.NoEvent {
			t.Errorf("EventByAlias(%q) = %s", name, e)
		}
	}
}

func TestNotification(t *testing.T) {
	for _, test := range []struct {
		id, kind string
		want     harness.Meaning
	}{
		{"claude", "permission_prompt", harness.Waits},
		{"claude", "agent_needs_input", harness.Waits},
		{"claude", "elicitation_dialog", harness.Waits},
		{"claude", "elicitation_url_dialog", harness.Waits},
		{"claude", "idle_prompt", harness.Idles},
		{"claude", "elicitation_complete", harness.Answered},
		{"claude", "elicitation_response", harness.Answered},
		{"claude", "agent_completed", harness.Nothing},
		{"claude", "auth_success", harness.Nothing},
		{"claude", "", harness.Nothing},
		{"qwen", "permission_prompt", harness.Waits},
		{"qwen", "idle_prompt", harness.Idles},
		{"qwen", "auth_success", harness.Nothing},
		{"gemini", "ToolPermission", harness.Waits},
		{"gemini", "permission_prompt", harness.Nothing},
		{"copilot", "permission_prompt", harness.Waits},
		{"copilot", "elicitation_dialog", harness.Waits},
		{"copilot", "agent_idle", harness.Nothing},
		{"copilot", "shell_completed", harness.Nothing},
		{"droid", "", harness.Waits},
		{"droid", "anything", harness.Waits},
		{"codex", "permission_prompt", harness.Nothing},
	} {
		if got := harness.ByID(test.id).Hooks.Notification(test.kind); got != test.want {
			t.Errorf("%s, %q: got %d, want %d", test.id, test.kind, got, test.want)
		}
	}
}

func TestAsksUser(t *testing.T) {
	for tool, want := range map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true, "": false, "Bash": false, "askuserquestion": false} {
		if got := harness.AsksUser(tool); got != want {
			t.Errorf("%q: got %t", tool, got)
		}
	}
}

// The package is data: it imports nothing at all, so that linking it costs a
// hook no start-up work.
func TestImportsNothing(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			t.Errorf("%s imports %s", name, spec.Path.Value)
		}
	}
}
