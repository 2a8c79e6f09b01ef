package main

import "regexp"

var agents = []*agent{
	{
		id: "claude", pkg: "@anthropic-ai/claude-code", version: "2.1.332",
		files: map[string]string{
			".claude.json": `{"hasCompletedOnboarding": true, "theme": "dark",
				"customApiKeyResponses": {"approved": ["sk-not-a-real-key"], "rejected": []},
				"projects": {"{work}": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}`,
			".claude/settings.json": `{"permissions": {"defaultMode": "default", "allow": ["Bash(./allowed)"]}}`,
		},
		env: []string{
			"ANTHROPIC_BASE_URL={url}", "ANTHROPIC_API_KEY=sk-not-a-real-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		},
		interactive: []string{"claude"},
		headless:    []string{"claude", "-p", "{prompt}"},
		ready:       regexp.MustCompile(`\? for shortcuts|❯`),
		question:    regexp.MustCompile(`Do you want to proceed`),
		grant:       []string{"Enter"},
		refuse:      []string{"Escape"},
		interrupt:   []string{"Escape"},
		clear:       "/clear",
		exit:        "/exit",
		unlike: map[string]state{
			"grant":     {"running", true, "no hook runs before the tool has ended; its own file tells"},
			"refuse":    {"idle", true, "no hook runs at Esc; its own file tells"},
			"interrupt": {"idle", true, "no hook runs at Esc; its own file tells"},
		},
	},
	{
		id: "codex", pkg: "@openai/codex", version: "0.171.0",
		files: map[string]string{
			".codex/config.toml": `model = "{model}"
model_provider = "local"
check_for_update_on_startup = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "NO_KEY"
wire_api = "responses"
[projects."{work}"]
trust_level = "trusted"
`,
		},
		env:         []string{"NO_KEY=none"},
		interactive: []string{"codex", "--no-daemon"},
		headless:    []string{"codex", "exec", "{prompt}"},
		dialogs: []dialog{
			{regexp.MustCompile(`Hooks need review`), []string{"Down", "Enter"}},
		},
		ready:     regexp.MustCompile(modelName + ` \S+ · `),
		question:  regexp.MustCompile(`Would you like to run`),
		grant:     []string{"Enter"},
		refuse:    []string{"Escape"},
		interrupt: []string{"Escape"},
		clear:     "/clear",
		exit:      "/quit",
		lazy:      true,
		unlike: map[string]state{
			"grant": {"waiting", false, "nothing tells before the tool has ended"},
			"error": {"error", true, "no hook runs; its rollout tells"},
		},
	},
	{
		id: "gemini", pkg: "@google/gemini-cli", version: "0.61.0",
		files: map[string]string{
			".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
				"privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false},
				"model": {"name": "gemini-2.5-flash"}}`,
			".gemini/policies/allowed.toml": `[[rule]]
toolName = "run_shell_command"
commandPrefix = "./allowed"
decision = "allow"
priority = 100
`,
		},
		env:         []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL={url}", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		interactive: []string{"gemini"},
		headless:    []string{"gemini", "-p", "{prompt}"},
		ready:       regexp.MustCompile(`Type your message`),
		question:    regexp.MustCompile(`Allow execution`),
		grant:       []string{"Enter"},
		refuse:      []string{"Escape"},
		interrupt:   []string{"Escape"},
		clear:       "/clear",
		exit:        "/quit",
		unlike: map[string]state{
			"grant":  {"waiting", false, "nothing tells before the tool has ended"},
			"refuse": {"waiting", false, "no hook runs, and nothing tells before the next prompt"},
			"error":  {"idle", false, "its hook says the end of a turn, whatever it was"},
		},
	},
	{
		id: "opencode", pkg: "opencode-ai", version: "1.18.33",
		files: map[string]string{
			".config/opencode/opencode.json": `{"provider": {"local": {"npm": "@ai-sdk/openai-compatible", "name": "local",
					"options": {"baseURL": "{url}/v1", "apiKey": "none"}, "models": {"{model}": {"name": "{model}"}}}},
				"model": "local/{model}", "autoupdate": false, "share": "disabled",
				"permission": {"bash": {"*": "ask", "./allowed": "allow"}}}`,
		},
		env:         []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
		prepare:     []string{"opencode", "run", "hello"}, // the packages that plugins may import
		interactive: []string{"opencode"},
		headless:    []string{"opencode", "run", "{prompt}"},
		ready:       regexp.MustCompile(`Ask anything`),
		question:    regexp.MustCompile(`Permission required`),
		grant:       []string{"Enter"},
		refuse:      []string{"Escape"},
		interrupt:   []string{"Escape", "Escape"},
		clear:       "/new",
		exit:        "/exit",
		lazy:        true,
		unnamed:     "its snapshots have no tools",
	},
	{
		id: "pi", pkg: "@earendil-works/pi-coding-agent", version: "1.6.0",
		files: map[string]string{
			".pi/agent/models.json": `{"providers": {"local": {"baseUrl": "{url}/v1", "api": "openai-completions", "apiKey": "none",
				"models": [{"id": "{model}", "name": "{model}", "reasoning": false, "input": ["text"], "contextWindow": 128000,
					"maxTokens": 4096, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}`,
			// Pi itself asks for nothing; extensions do.
			".pi/agent/extensions/gate.js": `export default (pi) => pi.on("tool_call", async (event, ctx) => {
				if (event.input.command !== "./guarded" || await ctx.ui.confirm("Run it?", "./guarded")) return;
				return { block: true, reason: "refused" };
			});`,
		},
		env:         []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"},
		interactive: []string{"pi", "--provider", "local", "--model", "{model}"},
		headless:    []string{"pi", "--provider", "local", "--model", "{model}", "-p", "{prompt}"},
		ready:       regexp.MustCompile(modelName),
		question:    regexp.MustCompile(`Run it\?`),
		grant:       []string{"Enter"},
		refuse:      []string{"Escape"},
		interrupt:   []string{"Escape"},
		clear:       "/new",
		exit:        "/quit",
	},
	{
		id: "qwen", pkg: "@qwen-code/qwen-code", version: "0.24.4",
		files: map[string]string{
			".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": false},
				"general": {"enableAutoUpdate": false}, "permissions": {"allow": ["Bash(./allowed)"]}}`,
		},
		env:         []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL={url}/v1", "OPENAI_MODEL={model}"},
		interactive: []string{"qwen"},
		headless:    []string{"qwen", "--yolo", "-p", "{prompt}"}, // without it there is no shell tool
		ready:       regexp.MustCompile(`Type your message`),
		question:    regexp.MustCompile(`Allow execution`),
		grant:       []string{"Enter"},
		refuse:      []string{"Escape"},
		interrupt:   []string{"Escape"},
		clear:       "/clear",
		exit:        "/quit",
		unlike:      map[string]state{"headless": {gone, true, "no hook runs at the end of -p"}},
	},
	{
		id: "copilot", pkg: "@github/copilot", version: "1.0.102",
		files: map[string]string{
			".copilot/config.json": `{"trustedFolders": ["{work}"]}`,
		},
		env: []string{
			"COPILOT_OFFLINE=true", "COPILOT_MODEL={model}", "COPILOT_PROVIDER_TYPE=openai",
			"COPILOT_PROVIDER_API_KEY=none", "COPILOT_PROVIDER_BASE_URL={url}/v1",
		},
		interactive: []string{"copilot", "--allow-tool", "shell(./allowed)"},
		headless:    []string{"copilot", "--allow-tool", "shell(./allowed)", "-p", "{prompt}"},
		ready:       regexp.MustCompile(`❯`),
		question:    regexp.MustCompile(`Do you want to run`),
		grant:       []string{"Enter"},
		refuse:      []string{"Escape"},
		interrupt:   []string{"Escape", "Escape"},
		clear:       "/clear",
		exit:        "/exit",
		lazy:        true,
		unlike: map[string]state{
			"grant":     {"waiting", false, "nothing tells before the tool has ended"},
			"refuse":    {"waiting", false, "no hook runs, and nothing tells before the next prompt"},
			"interrupt": {"running", false, "no hook runs, and nothing tells before the next prompt"},
		},
	},
}
