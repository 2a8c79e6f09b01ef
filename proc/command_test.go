package proc_test

import (
	"path"
	"strings"
	"testing"

	"tongs-agents/proc"
)

// A command is the harness that its process will be.
func TestCommand(t *testing.T) {
	for _, test := range []struct {
		line string // argv
		exe  string // if not argv[0]
		want string
	}{
		{"claude", "", "claude"},
		{"/x/y/claude --resume s1", "", "claude"},
		{"claude", "/home/u/.local/share/claude/versions/2.1.332", "claude"},
		{"cc", "/home/u/.local/share/claude/versions/2.1.332", "claude"},
		{"my-agent", "/usr/bin/codex", "codex"},
		{"g", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js", "gemini"},
		{"node --no-warnings /usr/bin/gemini -p x", "/usr/bin/node", "gemini"},
		{"node /usr/lib/node_modules/@qwen-code/qwen-code/cli.js", "/usr/bin/node", "qwen"},
		{"n cli/gemini.js", "/usr/bin/node-22", "gemini"},
		{"env A=1 claude", "/usr/bin/env", "claude"},
		{"bash /usr/bin/claude", "/usr/bin/bash", "claude"},
		{"/opt/.claude-wrapped", "", "claude"},
		{"goose session", "/usr/bin/goose", "goose"},

		{"bash -c claude", "/usr/bin/bash", "none"},
		{"make claude", "/usr/bin/make", "none"},
		{"claude-usage", "", "none"},
		{"/home/claude/bin/make", "", "none"},
		{"vim /home/u/.claude", "/usr/bin/vim.basic", "none"},
		{"rg x", "/usr/lib/node_modules/@anthropic-ai/claude-code/vendor/ripgrep/rg", "none"},
		{"a-name-of-15-ch-and-more", "", "none"},
	} {
		argv := strings.Fields(test.line)
		exe := test.exe
		if exe == "" {
			exe = path.Join("/usr/bin", argv[0])
		}
		h, err := proc.Command(argv, path.Join("/bin", argv[0]), exe).Harness(false)
		if got := name(h, err); got != test.want {
			t.Errorf("%s, %s: got %s, want %s", test.line, exe, got, test.want)
		}
	}
}
