package proc_test

import (
	"strings"
	"testing"

	"tongs-agents/internal/harness"
	"tongs-agents/proc"
)

// Arguments that a process told of itself say of its mode what they say for
// certain: whether it has a terminal they do not know.
func TestModeOf(t *testing.T) {
	tests := []struct{ harness, args, want string }{
		{"opencode", "", ""},
		{"opencode", "opencode", ""},
		{"opencode", "opencode /src/app", ""},
		{"opencode", "bun /$bunfs/root/src/cli/tui/worker.js", ""},
		{"opencode", "bun /$bunfs/root/src/index.js serve --port 4797", "daemon"},
		{"opencode", "opencode web", "daemon"},
		{"opencode", "opencode run serve", "headless"},
		{"opencode", "opencode -- serve", ""},
		{"claude", "claude -p hello", "headless"},
		{"claude", "claude bg-spare", "background"},
		{"other", "make", ""},
	}
	for _, tt := range tests {
		if got := proc.ModeOf(harness.ByID(tt.harness), strings.Fields(tt.args)); got != tt.want {
			t.Errorf("%s: %q: got %q, want %q", tt.harness, tt.args, got, tt.want)
		}
	}
}
