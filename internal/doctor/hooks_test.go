package doctor

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/install"
	"tongs-agents/proc"
)

const manyEvents = "SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest Elicitation " +
	"ElicitationResult Notification Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact"

func TestHooks(t *testing.T) {
	entry := func(command string) string {
		return `{"hooks": [{"type": "command", "command": "` + command + `", "args": [], "timeout": 5}]}`
	}
	const hook = "@/bin/tongs-agents-hook"
	for _, test := range []struct{ name, settings, want string }{
		{"no hooks", `{}`, `
error: claude: ~/.claude/settings.json has no hooks: its sessions do not report
  ~/bin/tongs-agents install --agent claude
`},
		{"broken", "{\n\"a\": }", `
error: claude: ~/.claude/settings.json: line 2, column 6: invalid character '}' at start of value
  vi ~/.claude/settings.json
`},
		{"incomplete", `{"hooks": {"SessionStart": [` + entry(hook) + `]}}`, `
error: claude: ~/.claude/settings.json lacks hooks for ` + manyEvents + `
  ~/bin/tongs-agents install --agent claude
`},
		{"of a program that is gone, twice", `{"hooks": {"SessionStart": [` + entry("@/gone/tongs-agents-hook") + `,` + entry(hook) + `]}}`, `
error: claude: ~/.claude/settings.json lacks hooks for ` + manyEvents + `
  ~/bin/tongs-agents install --agent claude
error: claude: ~/.claude/settings.json names the hook ~/gone/tongs-agents-hook: no such file or directory
  ~/bin/tongs-agents install --agent claude
warn: claude: ~/.claude/settings.json has several hooks for SessionStart
  ~/bin/tongs-agents install --agent claude
`},
	} {
		h := newHome(t)
		h.write(".claude/settings.json", strings.ReplaceAll(test.settings, "@", h.dir), 0o644)
		h.wants(test.name, h.patient().hooks(), test.want)
	}
}

func TestHooksInstalled(t *testing.T) {
	h := newHome(t)
	h.wants("no agent", h.patient().hooks(), "warn: no coding agent was found in PATH or by its configuration directory\n")
	h.write("dotfiles/settings.json", "{}", 0o644)
	h.write(".claude/x", "", 0o644)
	if err := os.Symlink("../dotfiles/settings.json", h.path(".claude/settings.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Install(h.env(), install.Options{Agents: []string{"claude", "codex", "droid"}}); err != nil {
		t.Fatal(err)
	}
	h.write(".gemini/settings.json", "{}", 0o644)
	h.write(".codex/config.toml", "[features]\nhooks = false\n", 0o644)
	got := h.lines(h.patient().hooks())
	for _, want := range []string{
		"ok: claude: hooks in ~/.claude/settings.json -> ~/dotfiles/settings.json; found by ~/.claude\n",
		"error: codex: ~/.codex/config.toml switches hooks off: hooks = false below [features]\n  vi ~/.codex/config.toml\n",
		"error: codex: Codex passes over hooks that you have not approved: ",
		"\n  codex\n",
		"ok: droid: hooks in ~/.factory/hooks.json; found by ~/.factory; by its documentation, not tried on the real program\n",
		"warn: gemini: ~/.gemini/settings.json has no hooks: its sessions do not report\n  ~/bin/tongs-agents install --agent gemini\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}

	// The hook moves: what the settings name still runs.
	h.write("new/tongs-agents", "#!/bin/sh\n", 0o755)
	h.write("new/tongs-agents-hook", "#!/bin/sh\n", 0o755)
	env := h.env()
	env.Invoked = h.path("new/tongs-agents")
	p, err := admit(Options{Env: env, Agents: []string{"claude"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.discharge()
	h.wants("another", p.hooks(), `
warn: claude: ~/.claude/settings.json -> ~/dotfiles/settings.json names the hook ~/bin/tongs-agents-hook, another program than ~/new/tongs-agents-hook
  ~/new/tongs-agents install --agent claude
`)
}

// The user's editor may have arguments.
func TestEdit(t *testing.T) {
	h := newHome(t)
	h.vars["EDITOR"] = "code --wait"
	if got := h.patient().edit("/a b"); got != "code --wait '/a b'" {
		t.Error(got)
	}
}

// An agent that only cleanup has found does not report.
func TestSilent(t *testing.T) {
	h := newHome(t)
	h.write(".claude/settings.json", "{}", 0o644)
	if _, err := install.Install(h.env(), install.Options{Agents: []string{"claude"}}); err != nil {
		t.Fatal(err)
	}
	const healthy = "ok: claude: hooks in ~/.claude/settings.json; found by ~/.claude\n"
	found := func(pid int, start string) *fsstore.Record {
		r := record("proc")
		r.Kind, r.Status, r.Source = fsstore.KindProcess, fsstore.Discovered, fsstore.SourceProcess
		r.Identity, r.PID, r.ProcessStart = fsstore.Identified, strconv.Itoa(pid), start
		r.Instance = "found" + r.PID // a test is no claude, by its name
		return r
	}
	h.put(found(1, "1"))
	h.wants("over", h.patient().hooks(), healthy)
	self, err := proc.Root.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	h.put(found(self.PID, self.Start))
	h.wants("alive", h.patient().hooks(), healthy+
		"warn: claude: 1 process runs whose hooks have not reported: started before they were there, or without them\n")
}

// record is a valid record.
func record(session string) *fsstore.Record {
	now := time.Now().Unix()
	here := proc.Root.Host()
	return &fsstore.Record{
		Key:  fsstore.Key{Harness: "claude", Session: session, Instance: fsstore.Unresolved},
		Kind: fsstore.KindSession, Identity: fsstore.Unresolved, Status: fsstore.Idle,
		TS: now, Started: now, Arrival: 1, Source: fsstore.SourceHook, LastEvent: "claude.test",
		Focus:  fsstore.Focus{Kind: fsstore.FocusUnavailable},
		BootID: here.BootID, PIDNamespace: here.PIDNamespace, MachineID: here.MachineID,
	}
}

// put writes a record into the store.
func (h *home) put(r *fsstore.Record) {
	h.t.Helper()
	s, err := fsstore.Open(h.path("state"), fsstore.Create)
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Import(r, time.Second); err != nil {
		h.t.Fatal(err)
	}
}
