package harness

// Other is the harness of any command that is no known coding agent.
const Other = "other"

// The order is that of help texts. Sources: the programs themselves where
// Observed, else the vendor's documentation (docs/harnesses.md).
var table = []Harness{
	{
		ID: "claude", Observed: true, Single: true,
		Process: Process{
			Names:      []string{"claude"},
			Packages:   []string{"@anthropic-ai/claude-code"},
			Versions:   "claude/versions",
			Scanned:    true,
			Headless:   []string{"-p", "--print"},
			Background: []string{"bg-spare", "--bg-spare"},
			Views:      []string{"agents", "attach", "logs", "--bg", "--background"},
		},
		Resume:       []string{"claude", "--resume", "{}"},
		SignalReason: "other",
		Hooks:        &claudeHooks,
	},
	{
		ID: "codex", Observed: true, Single: true,
		Process: Process{
			Names:    []string{"codex"},
			Packages: []string{"@openai/codex"},
			Scanned:  true,
			Headless: []string{"exec", "e", "review"},
			Daemon:   []string{"app-server"},
			Views:    []string{"agents"},
		},
		Resume: []string{"codex", "resume", "{}"},
		Hooks:  &codexHooks,
	},
	{
		ID: "gemini", Observed: true, Single: true,
		Process: Process{
			Names:    []string{"gemini"},
			Packages: []string{"@google/gemini-cli"},
			Scanned:  true,
			Headless: []string{"-p", "--prompt"},
			Daemon:   []string{"--acp", "--experimental-acp"},
		},
		Resume:       []string{"gemini", "--resume", "{}"},
		SignalReason: "other",
		Hooks:        &geminiHooks,
	},
	{
		ID: "opencode", Observed: true,
		Process: Process{
			Names:    []string{"opencode"},
			Packages: []string{"opencode-ai"},
			Scanned:  true,
			Headless: []string{"run"},
			Daemon:   []string{"serve", "web", "acp"},
		},
		Resume: []string{"opencode", "--session", "{}"},
		Hooks:  &noHooks,
	},
	{
		ID: "pi", Observed: true, Single: true,
		Process: Process{
			Names:    []string{"pi", "pi-rpc"},
			Bare:     true,
			Packages: []string{"@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"},
			Headless: []string{"-p", "--print"},
		},
		Resume: []string{"pi", "--session", "{}"},
		Hooks:  &noHooks,
	},
	{
		ID: "qwen", Observed: true, Single: true,
		Process: Process{
			Names:    []string{"qwen"},
			Packages: []string{"@qwen-code/qwen-code"},
			Scanned:  true,
			Headless: []string{"-p", "--prompt"},
			Daemon:   []string{"--acp", "--experimental-acp"},
		},
		Resume: []string{"qwen", "--resume", "{}"},
		Hooks:  &qwenHooks,
	},
	{
		ID: "copilot", Observed: true, Single: true,
		Process: Process{
			Names:    []string{"copilot"},
			Packages: []string{"@github/copilot"},
			Scanned:  true,
			Headless: []string{"-p", "--prompt"},
			Daemon:   []string{"--acp", "--server"},
		},
		Resume: []string{"copilot", "--resume={}"},
		Hooks:  &copilotHooks,
	},
	{
		ID: "cursor",
		Process: Process{
			Names:    []string{"cursor-agent"},
			Packages: []string{"cursor-agent"},
			Headless: []string{"-p", "--print"},
			Daemon:   []string{"acp"},
		},
		Resume: []string{"cursor-agent", "--resume={}"},
		Hooks:  &cursorHooks,
	},
	{
		ID: "droid",
		Process: Process{
			Names:    []string{"droid"},
			Bare:     true,
			Headless: []string{"exec"},
		},
		Resume:       []string{"droid", "--resume", "{}"},
		SignalReason: "other",
		Hooks:        &droidHooks,
	},
	{
		ID: "goose",
		Process: Process{
			Names:    []string{"goose"},
			Bare:     true,
			Headless: []string{"run"},
			Daemon:   []string{"acp", "serve"},
		},
		Resume: []string{"goose", "session", "--resume", "--session-id", "{}"},
		Hooks:  &gooseHooks,
	},
	{
		ID: "kiro",
		Process: Process{
			Names:    []string{"kiro", "kiro-cli", "kiro-cli-chat"},
			Headless: []string{"--no-interactive"},
			Daemon:   []string{"acp"},
		},
		Hooks: &kiroHooks,
	},
	{
		ID: "crush",
		Process: Process{
			Names:    []string{"crush"},
			Bare:     true,
			Headless: []string{"run"},
		},
		Hooks: &crushHooks,
	},
	{ID: Other, Hooks: &otherHooks},
}
