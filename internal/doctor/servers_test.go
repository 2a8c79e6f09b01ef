package doctor

import (
	"os"
	"testing"

	"tongs-agents/internal/install"
)

func TestServers(t *testing.T) {
	h := newHome(t)
	h.write(".claude/x", "", 0o644)
	h.write(".codex/x", "", 0o644)
	h.write(".gemini/x", "", 0o644)
	h.write(".qwen/x", "", 0o644) // for which there is none
	h.wants("nowhere", h.patient().servers(), `
ok: claude: ~/.claude.json has no MCP server of ours
  ~/bin/tongs-agents install --agent claude
ok: codex: ~/.codex/config.toml has no MCP server of ours
  ~/bin/tongs-agents install --agent codex
ok: gemini: ~/.gemini/settings.json has no MCP server of ours
  ~/bin/tongs-agents install --agent gemini
`)

	// One that the user has a use for in one agent should be in the others.
	h.write("dotfiles/claude.json", "{}", 0o644)
	if err := os.Symlink("dotfiles/claude.json", h.path(".claude.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Install(h.env(), install.Options{Agents: []string{"claude"}, Server: true}); err != nil {
		t.Fatal(err)
	}
	h.write(".codex/config.toml", "a = 1\nb\n", 0o644)
	h.wants("in one", h.patient().servers(), `
ok: claude: MCP server in ~/.claude.json -> ~/dotfiles/claude.json
warn: codex: ~/.codex/config.toml: line 2: expected '.' or '=', but got '\n' instead
  vi ~/.codex/config.toml
warn: gemini: ~/.gemini/settings.json has no MCP server of ours
  ~/bin/tongs-agents install --agent gemini
`)

	h.write(".codex/config.toml", "[mcp_servers.tongs-agents]\ncommand = \"npx\"\nargs = [\"a b\"]\n", 0o644)
	h.write(".gemini/settings.json", `{"mcpServers": {"tongs-agents": {"command": "/gone/tongs-agents", "args": ["mcp"]}}}`, 0o644)
	h.write("other/tongs-agents", "#!/bin/sh\n", 0o755)
	h.write("dotfiles/claude.json", `{"mcpServers": {"tongs-agents": {"command": "`+h.path("other/tongs-agents")+`", "args": ["mcp"]}}}`, 0o644)
	h.wants("of others", h.patient().servers(), `
warn: claude: ~/.claude.json -> ~/dotfiles/claude.json names for the MCP server ~/other/tongs-agents, another program than this
  ~/bin/tongs-agents install --agent claude
warn: codex: ~/.codex/config.toml has another MCP server of our name, which runs npx 'a b'
  vi ~/.codex/config.toml
warn: gemini: ~/.gemini/settings.json names for the MCP server /gone/tongs-agents: no such file or directory
  ~/bin/tongs-agents install --agent gemini
`)
}
