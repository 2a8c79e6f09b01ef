package mcpserver

import (
	"strings"
	"testing"

	"tongs-agents/fsstore"
)

// What became of it is a result, also if nothing did. That it works on real
// terminals is tested by package focus.
func TestFocus(t *testing.T) {
	c := connect(t, makeStore(t,
		record("other", "dead", fsstore.Running, 1, in("/src/app"), identified("1", "1")),
		record("other", "nowhere", fsstore.Running, 1, in("/src/app")),
	), nil)
	for _, test := range []struct{ query, want string }{
		{"dead", `{"state":"failed","reason":"`},
		{"nowhere", `{"state":"unavailable","reason":"no process recorded"`},
		{"app", `{"state":"ambiguous","reason":"2 sessions match \"app\":\n`},
		{"nosuch", `{"state":"not-found","reason":"no session matches \"nosuch\". The sessions are:\n`},
	} {
		got, failed := c.call("fleet_focus", `{"query": "`+test.query+`"}`)
		if failed || !strings.HasPrefix(got, test.want) || !strings.Contains(got, `"selection":{"attempted":false,"succeeded":false,"detail":"`) {
			t.Errorf("%s: %s, want %s", test.query, got, test.want)
		}
	}
	if got, failed := c.call("fleet_focus", `{"query": ""}`); !failed || got != "the query is empty" {
		t.Error(got)
	}
}
