package install

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/harnesses.md says what is entered, for those who enter it by hand.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/harnesses.md")
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Home: "~", Getenv: func(string) string { return "" }}
	for i := range table {
		a := &table[i]
		want := []string{fmt.Sprintf("`%s`", a.path(a.files[len(a.files)-1], env))}
		if len(a.events) > 0 {
			var names []string
			for _, e := range a.events {
				names = append(names, e.name)
			}
			shown := a.events[0] // the one whose handler is shown
			for _, e := range a.events {
				if a.alias(e) == "tool-use" {
					shown = e
				}
			}
			handler := a.handler(shown, "/path/tongs-agents-hook").render(plain.inOneLine(), "")
			want = append(want, fmt.Sprintf("| `%s` | %s |", a.id, strings.Join(names, ", ")), "`"+strings.ReplaceAll(handler, "|", `\|`)+"`")
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("harnesses.md does not say %s", w)
			}
		}
	}
}

// docs/mcp.md says the same of our MCP server.
func TestServerDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Home: "~", Getenv: func(string) string { return "" }}
	for _, a := range serverAgents() {
		entry := "```toml\n" + tomlBlock("/path/tongs-agents", "\n") + "```\n"
		if !a.mcp.toml {
			entry = "`" + pair{a.mcp.key, object{{serverName, a.mcp.entry("/path/tongs-agents")}}}.render(plain.inOneLine(), "") + "`"
		}
		for _, want := range []string{entry, "`" + a.path(a.mcp.file, env) + "`"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("mcp.md does not say %s", want)
			}
		}
	}
}
