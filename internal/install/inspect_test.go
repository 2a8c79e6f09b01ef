package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	h := newHome(t)
	h.program("old/" + hookName)
	h.write("old/unexecutable/"+hookName, "")
	h.write(".claude/settings.json", `{"disableAllHooks": true, "hooks": {
		"Stop": [{"hooks": [{"type": "command", "command": "`+h.path("bin/"+hookName)+`", "args": [], "timeout": 5}]}],
		"SessionStart": [{"hooks": [{"type": "command", "command": "`+h.path("old/"+hookName)+`"}, {"type": "command", "command": "~/gone/tongs-agents-hook"}]}],
		"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "`+h.path("old/unexecutable/"+hookName)+`"}]}],
		"PostToolUse": [{"hooks": [{"type": "command", "command": "tongs-agents-hook"}]}]}}`)
	in := h.inspect("claude")
	f := in.Files[0]
	if !in.Found || !in.Observed || in.Why != h.path(".claude") || !f.Present || f.Error != "" || f.Complete() {
		t.Errorf("%+v", in)
	}
	for _, test := range []struct {
		what      string
		got, want []string
	}{
		{"entered", f.Entered, []string{"SessionStart", "PostToolUse", "Stop"}},
		{"outdated", f.Outdated, []string{"SessionStart", "PostToolUse"}},
		{"duplicated", f.Duplicated, []string{"SessionStart"}},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: got %v, want %v", test.what, test.got, test.want)
		}
	}
	if len(f.Missing) != 13 || !slices.Contains(f.Missing, "PreToolUse") {
		t.Errorf("missing %v", f.Missing)
	}
	want := []ProgramInspection{
		{h.path("old/" + hookName), "", true},
		{"~/gone/tongs-agents-hook", "no such file or directory", false},
		{h.path("old/unexecutable/" + hookName), "not executable", false},
		{"tongs-agents-hook", "is no absolute path", false},
		{h.path("bin/" + hookName), "", false},
	}
	if !slices.Equal(f.Hooks, want) {
		t.Errorf("hooks %+v, want %+v", f.Hooks, want)
	}
	if len(in.Facts) != 1 || in.Facts[0].Kind != Disabled || in.Facts[0].File != h.path(".claude/settings.json") {
		t.Errorf("facts %+v", in.Facts)
	}

	list, err := Inspect(h.env)
	if err != nil || len(list) != 1 {
		t.Errorf("found %+v, %v", list, err)
	}
	if text, err := json.Marshal(list); err != nil || strings.Contains(string(text), "null") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := Inspect(h.env, "nosuch"); err == nil {
		t.Error("an unknown agent was inspected")
	}
	if before := tree(t, h.dir); strings.Contains(before, "state") {
		t.Error("Inspect made the state directory")
	}
}

// An agent whose switch is off says so.
func TestDisabled(t *testing.T) {
	for _, test := range []struct{ agent, file, text, want string }{
		{"claude", ".claude/settings.json", `{"disableAllHooks": false}`, ""},
		{"gemini", ".gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "hooksConfig.enabled is false"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig": {"enabled": true}}`, ""},
		{"gemini", ".gemini/settings.json", `{"hooksConfig": 7}`, ""},
		{"qwen", ".qwen/settings.json", `{"disableAllHooks": true}`, "disableAllHooks is true"},
		{"codex", ".codex/config.toml", "[features]\nhooks = false\n", "hooks = false below [features]"},
		{"codex", ".codex/config.toml", "[features]\ncodex_hooks = false\n", "codex_hooks = false"},
		{"codex", ".codex/config.toml", "[[hooks.Stop]]\n", "has hooks, too"},
		{"codex", ".codex/config.toml", "[hooks.state]\n", ""},
		{"codex", ".codex/config.toml", "a = \n", "cannot be read: toml: line 1"},
	} {
		h := newHome(t)
		h.write(test.file, test.text)
		facts := h.inspect(test.agent).Facts
		if test.want == "" && len(facts) > 0 || test.want != "" && (len(facts) != 1 || !strings.Contains(facts[0].Text, test.want)) {
			t.Errorf("%s %q: got %+v, want %q", test.agent, test.text, facts, test.want)
		}
	}
}

// Codex passes over hooks that the user has not approved, by the place of each.
func TestCodexTrust(t *testing.T) {
	h := newHome(t)
	h.write("real/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}`)
	h.link("real", ".codex")
	report, err := Install(h.env, Options{Agents: []string{"codex"}})
	if err != nil {
		t.Fatal(err)
	}
	if todo := report.Agents[0].Todo; len(todo) != 1 || !strings.Contains(todo[0], "trust the 12 hooks of "+h.path(".codex/hooks.json")) {
		t.Errorf("to do: %q", todo)
	}
	untrusted := func() string { return facts(h, Untrusted) }
	if got := untrusted(); !strings.Contains(got, "SessionStart") || !strings.Contains(got, "Stop") {
		t.Errorf("got %q", got)
	}
	config := "[hooks.state]\n"
	hashes := trustHashes(t, h.read("real/hooks.json"))
	for _, a := range jsonAgents() {
		for i, e := range a.events {
			if a.id != "codex" {
				continue
			}
			group := 0
			if e.name == "Stop" {
				group = 1
			}
			dir := []string{".codex", "real"}[i%2] // by the name and by what it leads to
			config += fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", fmt.Sprintf("%s:%s:%d:0", h.path(dir+"/hooks.json"), snake(e.name), group), hashes[e.name])
		}
	}
	h.write("real/config.toml", config)
	if got := untrusted(); got != "" {
		t.Errorf("all are trusted, got %q", got)
	}
	if report, err := Install(h.env, Options{Agents: []string{"codex"}}); err != nil || len(report.Agents[0].Todo) > 0 {
		t.Errorf("to do: %q, %v", report.Agents[0].Todo, err)
	}
	h.write("real/config.toml", strings.Replace(config, hashes["Stop"], hashes["PreCompact"], 1))
	if got := facts(h, Changed); !strings.Contains(got, "approved them: Stop.") || untrusted() != "" {
		t.Errorf("of a hook that has changed: %q, %q", got, untrusted())
	}
	h.write("real/config.toml", strings.Replace(config, "trusted_hash = ", "enabled = false\ntrusted_hash = ", 1))
	if got := untrusted(); !strings.Contains(got, "approved: SessionStart.") {
		t.Errorf("got %q", got)
	}
}

// facts returns the text of a fact of that kind.
func facts(h *home, kind FactKind) string {
	for _, f := range h.inspect("codex").Facts {
		if f.Kind == kind {
			return f.Text
		}
	}
	return ""
}

// trustHashes returns the digests of our entries in a hooks.json.
func trustHashes(t *testing.T, text string) map[string]string {
	t.Helper()
	agents := jsonAgents()
	a := agents[slices.IndexFunc(agents, func(a *agent) bool { return a.id == "codex" })]
	s, err := a.read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	hashes := make(map[string]string)
	for _, e := range a.events {
		for _, en := range s.entries(e) {
			hashes[e.name] = en.trustHash()
		}
	}
	return hashes
}

// The digests are those that Codex 0.171 gave for these definitions, by the
// method hooks/list of its app-server.
func TestCodexTrustHash(t *testing.T) {
	got := trustHashes(t, `{"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "command": "/usr/local/bin/tongs-agents-hook --agent codex || :", "timeout": 5}]}],
		"SessionEnd": [{"hooks": [{"timeout": 3, "type": "command", "command": "/usr/local/bin/tongs-agents-hook --agent codex || :"}]}],
		"Interrupt": [{"hooks": [{"type": "command", "command": "/usr/local/bin/tongs-agents-hook --agent codex || :", "timeout": 3}]}],
		"PreToolUse": [{"hooks": [{"type": "command", "command": "'/home/u/a b&<c>/tongs-agents-hook' --agent codex || :"}]}],
		"Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": "/usr/local/bin/tongs-agents-hook --agent codex || :"}]}],
		"PreCompact": [{"hooks": [{"type": "command", "command": "/usr/local/bin/tongs-agents-hook --agent codex || :", "statusMessage": "x"}]}]
	}}`)
	want := map[string]string{
		"SessionStart": "sha256:6346afc1e8ed92da385009d407f7806a4ccc9715ac49b035616d2205778bfce8",
		"SessionEnd":   "sha256:c77bb4b4cd0075254c532eab6020cabda3b4590850440ac4891ac88adf0f44db",
		"Interrupt":    "sha256:eed1dd4de281516916c20ed7469204dfb3c370f534f5452096fa3ae5f30fd449",
		"PreToolUse":   "sha256:1bfd6876a27b0e1d38d4c332039b2ebe2cd6a64a704b6226ac62fbe695565789",
		"Stop":         "", // not known
		"PreCompact":   "",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
}

// The text of a command is the same in every release: another one is a hook
// that the user has not approved. A change of this test costs every user of
// Codex a confirmation.
func TestCodexCommand(t *testing.T) {
	h := newHome(t)
	h.run(Install, "codex")
	var settings struct {
		Hooks map[string][]struct {
			Hooks []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(h.read(".codex/hooks.json")), &settings); err != nil {
		t.Fatal(err)
	}
	got := settings.Hooks["Stop"][0].Hooks[0]
	if len(got) != 3 || got["type"] != "command" || got["timeout"] != 5.0 || got["command"] != h.path("bin/tongs-agents-hook")+" --agent codex || :" {
		t.Errorf("got %v", got)
	}
	if got := settings.Hooks["SessionEnd"][0].Hooks[0]["timeout"]; got != 3.0 {
		t.Errorf("timeout of the end: %v", got)
	}
}

// A path with spaces and quotes is quoted for the shell, and taken as it is
// where there is none.
func TestQuotedPath(t *testing.T) {
	h := newHome(t)
	const dir = `my  "home"'s $dir`
	h.program(dir + "/" + hookName)
	h.env.Invoked = h.path(dir + "/tongs-agents")
	for _, a := range jsonAgents() {
		for range 2 {
			h.run(Install, a.id)
		}
		f := h.inspect(a.id).Files
		last := f[len(f)-1]
		if !last.Complete() || len(last.Hooks) != 1 || last.Hooks[0] != (ProgramInspection{Path: h.path(dir + "/" + hookName)}) {
			t.Errorf("%s: %+v", a.id, last)
		}
	}
}

func TestFind(t *testing.T) {
	h := newHome(t)
	if _, err := Install(h.env, Options{}); !errors.Is(err, ErrNoAgent) {
		t.Errorf("got %v, want %v", err, ErrNoAgent)
	}
	if _, err := Install(h.env, Options{Agents: []string{"claude", "nosuch"}}); err == nil || !strings.Contains(err.Error(), `unknown agent "nosuch"`) {
		t.Errorf("got %v", err)
	}
	if got := tree(t, h.dir); strings.Contains(got, "settings") {
		t.Errorf("changed:\n%s", got)
	}
	h.program("bin/claude")
	h.program("bin/goose") // any program may be called that
	h.program("node_modules/@earendil-works/pi-coding-agent/dist/cli.js")
	h.link("../node_modules/@earendil-works/pi-coding-agent/dist/cli.js", "bin/pi")
	h.program("bin/crush")
	if err := os.MkdirAll(h.path(".config/crush"), 0o755); err != nil {
		t.Fatal(err)
	}
	report, err := Install(h.env, Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range report.Agents {
		if a.Found || a.Agent == "goose" || a.Agent == "gemini" {
			got[a.Agent] = fmt.Sprint(a.Found, " ", strings.ReplaceAll(a.Why, h.dir+"/", ""), len(a.Files))
		}
	}
	want := map[string]string{
		"claude": "true bin/claude1", "pi": "true bin/pi1", "crush": "true .config/crush1",
		"goose":  "false no directory .config/goose, and bin/goose may be another program0",
		"gemini": "false no program gemini in PATH and no directory .gemini0",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// The directories of the agents' own variables count, relative ones do not, and
// uninstall finds what was installed by them.
func TestVariables(t *testing.T) {
	h := newHome(t)
	vars := map[string]string{}
	h.env.Getenv = func(name string) string { return vars[name] }
	for _, test := range []struct{ agent, variable, value, want string }{
		{"claude", "CLAUDE_CONFIG_DIR", h.path("c"), "c/settings.json"},
		{"claude", "CLAUDE_CONFIG_DIR", "relative", ".claude/settings.json"},
		{"codex", "CODEX_HOME", h.path("x"), "x/hooks.json"},
		{"gemini", "GEMINI_CLI_HOME", h.path("g"), "g/.gemini/settings.json"},
		{"qwen", "QWEN_HOME", h.path("q"), "q/settings.json"},
		{"copilot", "COPILOT_HOME", h.path("co"), "co/hooks/tongs-agents.json"},
		{"opencode", "XDG_CONFIG_HOME", h.path("xdg"), "xdg/opencode/plugin/tongs-agents.js"},
		{"pi", "PI_CODING_AGENT_DIR", h.path("p"), "p/extensions/tongs-agents.js"},
		{"crush", "XDG_CONFIG_HOME", h.path("xdg"), "xdg/crush/crush.json"},
	} {
		vars[test.variable] = test.value
		if got := h.run(Install, test.agent); got != test.want+" added\n" {
			t.Errorf("%+v: got %q", test, got)
		}
		delete(vars, test.variable)
		if got := h.run(Uninstall, test.agent); got != test.want+" removed\n" {
			t.Errorf("%+v: uninstall: %q", test, got)
		}
	}
}

// A dry run says what would be done, and does nothing.
func TestDryRun(t *testing.T) {
	h := newHome(t)
	h.write(".gemini/settings.json", "{\n  \"a\": 1\n}")
	before := tree(t, h.dir)
	report, err := Install(h.env, Options{Agents: []string{"gemini", "claude"}, DryRun: true})
	if err != nil || !report.DryRun {
		t.Fatal(report, err)
	}
	if got, want := h.states(report), ".claude/settings.json added\n.gemini/settings.json added\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	claude, gemini := report.Agents[0].Files[0].Diff, report.Agents[1].Files[0].Diff
	if want := "--- /dev/null\n+++ " + h.path(".claude/settings.json") + "\n@@ -0,0 +1,"; !strings.HasPrefix(claude, want) {
		t.Errorf("got %s", claude)
	}
	if want := "\n-  \"a\": 1\n+  \"a\": 1,\n+  \"hooks\": {\n"; !strings.Contains(gemini, want) ||
		!strings.HasSuffix(gemini, "\n+  }\n }\n\\ No newline at end of file\n") {
		t.Errorf("got %s", gemini)
	}
	if got := tree(t, h.dir); got != before {
		t.Errorf("changed:\n%s", got)
	}
	if _, err := os.Stat(h.env.State); !os.IsNotExist(err) {
		t.Error(err)
	}
	h.run(Install, "gemini")
	before = tree(t, h.dir)
	report, err = Uninstall(h.env, Options{DryRun: true})
	if err != nil || h.states(report) != ".gemini/settings.json removed\n" || tree(t, h.dir) != before {
		t.Errorf("%s, %v", h.states(report), err)
	}
}
