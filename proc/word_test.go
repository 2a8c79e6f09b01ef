package proc_test

import (
	"testing"

	"tongs-agents/proc"
)

func TestWord(t *testing.T) {
	for name, want := range map[string]string{
		"":                                "",
		"claude":                          "claude",
		"/usr/bin/claude":                 "claude",
		"/usr/bin/":                       "",
		".claude-wrapped":                 "claude",
		".claude-wrapped_":                "claude",
		".claude-wrapped__":               "claude",
		".claude-unwrapped":               "claude",
		"/nix/store/x/bin/.codex-wrapped": "codex",
		"..claude-unwrapped-wrapped.exe":  "claude",
		"claude.exe":                      "claude",
		"gemini.js":                       "gemini",
		"gemini.mjs":                      "gemini",
		"gemini.cjs":                      "gemini",
		"claude.md":                       "claude.md",
		"claude.json":                     "claude.json",
		"claude_":                         "claude_",
		"claudewrapped":                   "claudewrapped",
		"Claude":                          "Claude",
		"claude ":                         "claude ",
		"-wrapped":                        "",
		".exe":                            "exe",
		".":                               "",
		"claude\xff":                      "claude\xff",
	} {
		if got := proc.Word(name); got != want {
			t.Errorf("Word(%q): got %q, want %q", name, got, want)
		}
	}
}
