package install

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

func TestRuns(t *testing.T) {
	const path = "/home/me/.local/bin/tongs-agents-hook"
	for _, test := range []struct {
		agent, event, handler string
		want                  string // "": not ours
	}{
		{"claude", "Stop", `{"type": "command", "command": "` + path + `", "args": []}`, path},
		{"claude", "Stop", `{"type": "command", "command": "` + path + `"}`, path},
		{"claude", "Stop", `{"command": "/my home/tongs-agents-hook", "args": ["--agent", "claude"]}`, "/my home/tongs-agents-hook"},
		{"claude", "Stop", `{"command": "tongs-agents-hook stop --agent=claude || true"}`, "tongs-agents-hook"},
		{"claude", "Stop", `{"command": "~/bin/tongs-agents-hook --newer --agent claude || :"}`, "~/bin/tongs-agents-hook"},
		{"claude", "Stop", `{"command": "'/my home/tongs-agents-hook'"}`, "/my home/tongs-agents-hook"},
		{"copilot", "preToolUse", `{"bash": "` + path + ` tool-use --agent copilot || :"}`, path},

		{"claude", "Stop", `{"command": "` + path + ` --agent other"}`, ""},
		{"claude", "Stop", `{"command": "` + path + ` notification"}`, ""},
		{"claude", "Stop", `{"command": "` + path + ` nonsense"}`, ""},
		{"claude", "Stop", `{"command": "` + path + ` && beep"}`, ""},
		{"claude", "Stop", `{"command": "DEBUG=1 ` + path + `"}`, ""},
		{"claude", "Stop", `{"command": "tongs-agents-hooks"}`, ""},
		{"claude", "Stop", `{"command": "tongs-agents"}`, ""},
		{"claude", "Stop", `{"command": ["tongs-agents-hook"]}`, ""},
		{"claude", "Stop", `{"command": "tongs-agents-hook", "args": 1}`, ""},
		{"claude", "Stop", `{"url": "tongs-agents-hook"}`, ""},
		{"claude", "Stop", `{}`, ""},
	} {
		agents, err := selected([]string{test.agent})
		if err != nil {
			t.Fatal(err)
		}
		v, err := hujson.Parse([]byte(test.handler))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := agents[0].runs(event{name: test.event}, v.Value.(*hujson.Object))
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%s %s %s: got %q, %v; want %q", test.agent, test.event, test.handler, got, ok, test.want)
		}
	}
}

// claudeHandler is our entry as a release wrote it that knew neither args nor
// timeouts.
const claudeHandler = `{"type": "command", "command": "/old/bin/tongs-agents-hook"}`

// Older entries of ours, and what becomes of them: one entry, where the first
// one was.
func TestOlderEntries(t *testing.T) {
	const other = `{"type": "command", "command": "notify-send"}`
	for _, test := range []struct {
		name, stop string // the array of Stop
		installed  string // %s is our entry now
		removed    string
	}{
		{"alone", `[{"hooks": [` + claudeHandler + `]}]`, `[{"hooks": [%s]}]`, ""},
		{"twice in a group", `[{"hooks": [` + claudeHandler + `, ` + claudeHandler + `]}]`, `[{"hooks": [%s]}]`, ""},
		{"in two groups", `[{"hooks": [` + claudeHandler + `]}, {"hooks": [` + claudeHandler + `]}]`, `[{"hooks": [%s]}]`, ""},
		{"before another", `[{"hooks": [` + claudeHandler + `, ` + other + `]}]`, `[{"hooks": [%s, ` + other + `]}]`, `[{"hooks": [` + other + `]}]`},
		{"after another", `[{"hooks": [` + other + `, ` + claudeHandler + `]}]`, `[{"hooks": [` + other + `, %s]}]`, `[{"hooks": [` + other + `]}]`},
		{"between others", `[{"hooks": [` + other + `, ` + claudeHandler + `, ` + other + `]}]`, `[{"hooks": [` + other + `, %s, ` + other + `]}]`,
			`[{"hooks": [` + other + `, ` + other + `]}]`},
		{"in a limited group", `[{"matcher": "Bash", "hooks": [` + claudeHandler + `]}]`, `[{"matcher": "Bash", "hooks": []}, {"hooks": [%s]}]`,
			`[{"matcher": "Bash", "hooks": []}]`},
		{"in a group for all", `[{"matcher": "*", "hooks": [` + claudeHandler + `]}]`, `[{"matcher": "*", "hooks": [%s]}]`, ""},
		{"asynchronous", `[{"hooks": [{"type": "command", "command": "/old/tongs-agents-hook", "args": [], "timeout": 5, "async": true}]}]`,
			`[{"hooks": [%s]}]`, ""},
		{"with a comment", `[{"hooks": [/* ours */ ` + claudeHandler + `]}]`, `[{"hooks": [/* ours */ %s]}]`, `[{"hooks": [/* ours */ ]}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHome(t)
			const file = ".claude/settings.json"
			h.write(file, `{"hooks": {"Stop": `+test.stop+`}, "model": "opus"}`)
			if got := h.run(Install, "claude"); got != file+" updated\n" {
				t.Errorf("install: %q", got)
			}
			now := fmt.Sprintf(`{"type": "command", "command": "%s", "args": [], "timeout": 5}`, h.path("bin/"+hookName))
			want := `{"hooks": {"Stop": ` + fmt.Sprintf(test.installed, now)
			if got := h.read(file); !strings.HasPrefix(got, want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
			if in := h.inspect("claude").Files[0]; !in.Complete() {
				t.Errorf("incomplete: %+v", in)
			}
			h.run(Uninstall, "claude")
			want = `{"model": "opus"}`
			if test.removed != "" {
				want = `{"hooks": {"Stop": ` + test.removed + `}, "model": "opus"}`
			}
			if got := h.read(file); got != want {
				t.Errorf("after uninstall: %s\nwant %s", got, want)
			}
		})
	}
}

// An entry that says more than ours does stays as it is.
func TestAdornedEntry(t *testing.T) {
	h := newHome(t)
	const file = ".claude/settings.json"
	h.run(Install, "claude")
	text := strings.Replace(h.read(file), `"timeout": 5`, `"statusMessage": "…", "timeout": 5.0 // mine`, 1)
	h.write(file, text)
	if got := h.run(Install, "claude"); got != file+" unchanged\n" || h.read(file) != text {
		t.Errorf("%s\n%s", got, h.read(file))
	}
}

// Another path to the same program stays.
func TestSameProgram(t *testing.T) {
	h := newHome(t)
	h.run(Install, "codex")
	text := h.read(".codex/hooks.json")
	h.link("../bin/"+hookName, "links/"+hookName)
	h.env.Invoked = h.path("links/tongs-agents")
	if got := h.run(Install, "codex"); got != ".codex/hooks.json unchanged\n" || h.read(".codex/hooks.json") != text {
		t.Errorf("got %q", got)
	}
	if in := h.inspect("codex").Files[0]; !in.Complete() || in.Hooks[0].Other {
		t.Errorf("%+v", in)
	}
}

// Installed from one place, then from another, ten times: one entry each, and
// back to where it began.
func TestUpgradePath(t *testing.T) {
	for _, a := range jsonAgents() {
		t.Run(a.id, func(t *testing.T) {
			h := newHome(t)
			file := h.settingsFile(a)
			before := fill(a, "{\n  // mine\n  \"hooks\": {\n    \"EVENT\": [OTHER],\n  },\n}")
			h.write(file, before)
			for i := range 10 {
				dir := fmt.Sprintf("place%d", i/2)
				h.program(dir + "/" + hookName)
				h.program(dir + "/tongs-agents")
				h.env.Invoked = h.path(dir + "/tongs-agents")
				want := map[bool]string{true: "unchanged", false: "updated"}[i%2 == 1]
				if i == 0 {
					want = "added"
				}
				if got := h.run(Install, a.id); !strings.HasSuffix(got, file+" "+want+"\n") {
					t.Errorf("%d: %s, want %s", i, got, want)
				}
				if got := strings.Count(h.read(file), hookName); got != len(a.events) {
					t.Errorf("%d: %d entries, want %d", i, got, len(a.events))
				}
			}
			h.run(Uninstall, a.id)
			if got := h.read(file); got != before {
				t.Errorf("got %q, want %q", got, before)
			}
		})
	}
}

// What others change after an install stays after uninstall.
func TestChangedSince(t *testing.T) {
	for _, a := range jsonAgents() {
		h := newHome(t)
		file := h.settingsFile(a)
		h.write(file, "{\n  \"hooks\": {}\n}\n")
		h.run(Install, a.id)
		h.write(file, strings.Replace(h.read(file), "{\n", "{\n  \"new\": 1, // mine\n", 1))
		if got := h.run(Uninstall, a.id); !strings.HasPrefix(got, file+" removed\n") {
			t.Errorf("%s: %s", a.id, got)
		}
		if got, want := h.read(file), "{\n  \"new\": 1 // mine\n}\n"; got != want && !a.form.version {
			t.Errorf("%s: got %q, want %q", a.id, got, want)
		}
		checkClean(t, h, file)
	}
}

// A file that we made goes even if an agent has written it anew, unless
// something else is in it.
func TestMadeFile(t *testing.T) {
	h := newHome(t)
	const file = ".claude/settings.json"
	h.run(Install, "claude")
	compact := strings.Join(strings.Fields(h.read(file)), "")
	h.write(file, compact)
	h.run(Uninstall, "claude")
	if _, err := os.Stat(h.path(file)); !os.IsNotExist(err) {
		t.Errorf("%v: %s", err, h.read(file))
	}
	h.run(Install, "claude")
	h.write(file, strings.Replace(h.read(file), "{", `{"model": "x",`, 1))
	h.run(Uninstall, "claude")
	if got, want := h.read(file), `{"model": "x"`; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
}

// A plugin's file that the user wrote is left alone; ours of another release is
// not.
func TestAsset(t *testing.T) {
	h := newHome(t)
	const file = ".pi/agent/extensions/tongs-agents.js"
	h.write(file, "// my own\n")
	want := file + " left alone: is not ours: it does not say that tongs-agents install wrote it\n"
	if got := h.run(Install, "pi"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := h.run(Uninstall, "pi"); got != file+" unchanged\n" || h.read(file) != "// my own\n" {
		t.Errorf("uninstall: %q", got)
	}
	h.write(file, "// tongs-agents install, version 0\nold\n")
	if in := h.inspect("pi").Files[0]; len(in.Outdated) != 1 {
		t.Errorf("%+v", in)
	}
	if got := h.run(Install, "pi"); got != file+" updated\n" {
		t.Errorf("got %q", got)
	}
	if in := h.inspect("pi").Files[0]; !in.Complete() || len(in.Hooks) != 1 || in.Hooks[0].Path != h.path("bin/"+hookName) {
		t.Errorf("%+v", in)
	}
	h.run(Uninstall, "pi")
	if _, err := os.Stat(h.path(file)); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// Droid reads the hooks of settings.json only without a hooks.json.
func TestDroid(t *testing.T) {
	for _, test := range []struct{ settings, hooks, want string }{
		{"", "", ".factory/hooks.json"},
		{"{}", "", ".factory/hooks.json"},
		{`{"hooks": {}}`, "", ".factory/settings.json"},
		{`{"hooks": {}}`, "{}", ".factory/hooks.json"},
		{`{broken`, "", ".factory/settings.json"},
	} {
		h := newHome(t)
		if test.settings != "" {
			h.write(".factory/settings.json", test.settings)
		}
		if test.hooks != "" {
			h.write(".factory/hooks.json", test.hooks)
		}
		before := tree(t, h.dir)
		if got := h.run(Install, "droid"); !strings.HasPrefix(got, test.want+" ") {
			t.Errorf("%+v: %s", test, got)
		}
		h.run(Uninstall, "droid")
		if test.settings != "" { // else the directory was made
			if got := tree(t, h.dir); got != before {
				t.Errorf("%+v: left\n%s\nwant\n%s", test, got, before)
			}
		}
	}
}
