package install

import "tongs-agents/internal/install/assets"

// The agents, in the order of their help texts. What each reads was seen on
// the real program where its row of package harness is Observed, else it is the
// vendor's documentation (docs/harnesses.md).
//
// The events are those by which the state of a session changes, and no other:
// each costs the agent a process. Claude Code's PermissionDenied and
// UserPromptExpansion come between others that say the same.
var table = []agent{
	{
		id:    "claude",
		dir:   place{variable: "CLAUDE_CONFIG_DIR", home: ".claude"},
		files: []file{{name: "settings.json"}},
		// Without a shell, which args is for. An older release passes it over and
		// runs the same path by a shell.
		form: form{groups: true, typed: true, args: true, timeoutKey: "timeout", timeout: 5},
		events: events("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
			"PermissionRequest", "Elicitation", "ElicitationResult", "Notification", "Stop", "StopFailure",
			"SubagentStart", "SubagentStop", "PreCompact", "PostCompact"),
		// Beside its directory, unless the variable says where that is.
		mcp: &mcp{file: file{dir: place{variable: "CLAUDE_CONFIG_DIR"}, name: ".claude.json", lock: ".lock"},
			key: "mcpServers", kind: "stdio", env: true},
	},
	{
		id:    "codex",
		dir:   place{variable: "CODEX_HOME", home: ".codex"},
		files: []file{{name: "hooks.json"}},
		form:  form{groups: true, typed: true, timeoutKey: "timeout", timeout: 5},
		// It cuts the last two after 3 s, whatever the timeout is.
		events: append(events("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop",
			"SubagentStart", "SubagentStop", "PreCompact", "PostCompact"),
			event{name: "Interrupt", timeout: 3}, event{name: "SessionEnd", timeout: 3}),
		mcp: &mcp{file: file{name: "config.toml"}, toml: true},
	},
	{
		id:    "gemini",
		dir:   place{variable: "GEMINI_CLI_HOME", below: ".gemini", home: ".gemini"},
		files: []file{{name: "settings.json"}},
		form:  form{groups: true, typed: true, timeoutKey: "timeout", timeout: 5000}, // milliseconds
		events: events("SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool",
			"Notification"),
		mcp: &mcp{file: file{name: "settings.json"}, key: "mcpServers"},
	},
	{
		id:    "opencode",
		dir:   place{variable: "XDG_CONFIG_HOME", below: "opencode", home: ".config/opencode"},
		files: []file{{name: "plugin/tongs-agents.js", asset: assets.OpenCode}},
		mcp:   &mcp{file: file{name: "opencode.json", unless: "opencode.jsonc"}, key: "mcp", kind: "local", list: true, enabled: true},
	},
	{
		id:    "pi",
		dir:   place{variable: "PI_CODING_AGENT_DIR", home: ".pi/agent"},
		files: []file{{name: "extensions/tongs-agents.js", asset: assets.Pi}},
	},
	{
		id:    "qwen",
		dir:   place{variable: "QWEN_HOME", home: ".qwen"},
		files: []file{{name: "settings.json"}},
		// From 1000 on every release counts in milliseconds.
		form: form{groups: true, typed: true, timeoutKey: "timeout", timeout: 5000},
		events: events("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
			"PermissionRequest", "Notification", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
			"PreCompact", "PostCompact"),
	},
	{
		id:    "copilot",
		dir:   place{variable: "COPILOT_HOME", home: ".copilot"},
		files: []file{{name: "hooks/tongs-agents.json", ours: true}},
		// In camel case, of which the payloads have no event's name.
		form: form{version: true, typed: true, command: "bash", alias: true, timeoutKey: "timeoutSec", timeout: 5},
		events: events("sessionStart", "sessionEnd", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure",
			"notification", "agentStop", "errorOccurred", "subagentStart", "subagentStop", "preCompact"),
	},
	{
		id:    "cursor",
		dir:   place{home: ".cursor"},
		files: []file{{name: "hooks.json"}},
		// One event that it does not know voids the file.
		form: form{version: true, timeoutKey: "timeout", timeout: 5},
		events: events("sessionStart", "sessionEnd", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure",
			"stop", "subagentStart", "subagentStop", "preCompact"),
	},
	{
		id:  "droid",
		dir: place{home: ".factory"},
		// The hooks of settings.json count only without a hooks.json.
		files: []file{{name: "hooks.json", unless: "settings.json"}},
		form:  form{groups: true, typed: true, timeoutKey: "timeout", timeout: 5},
		events: events("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification",
			"Stop", "SubagentStop", "PreCompact"),
	},
	{
		id:  "goose",
		dir: place{variable: "XDG_CONFIG_HOME", below: "goose", home: ".config/goose"},
		files: []file{
			{dir: place{home: ".agents/plugins/tongs-agents"}, name: "plugin.json", asset: assets.Goose},
			{dir: place{home: ".agents/plugins/tongs-agents"}, name: "hooks/hooks.json", ours: true},
		},
		form: form{groups: true, typed: true, timeoutKey: "timeout", timeout: 5},
		events: events("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
			"Stop"),
	},
	{
		id:  "kiro",
		dir: place{home: ".kiro"},
		// Its hooks are part of the definition of an agent, and which one the user
		// runs is not ours to say.
		files:  []file{{name: "agents/NAME.json", byHand: true}},
		form:   form{timeoutKey: "timeout_ms", timeout: 5000},
		events: events("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"),
	},
	{
		id:     "crush",
		dir:    place{variable: "XDG_CONFIG_HOME", below: "crush", home: ".config/crush"},
		files:  []file{{name: "crush.json"}},
		form:   form{timeoutKey: "timeout", timeout: 5},
		events: events("PreToolUse"),
	},
}

func events(names ...string) []event {
	list := make([]event, len(names))
	for i, name := range names {
		list[i].name = name
	}
	return list
}
