package main

import (
	"errors"
	"testing"
)

func TestReport(t *testing.T) {
	a, b := &agent{id: "claude", version: "2.1"}, &agent{
		id: "pi", version: "1.6", unnamed: "it has none", unlike: map[string]state{"ask": {"idle", true, "it never asks"}},
	}
	r := newReport([]step{{name: "tool"}, {name: "ask"}})
	r.add(a, step{name: "tool"}, 0, nil)
	r.add(a, step{name: "ask"}, 0, errors.New("no"))
	r.add(b, step{name: "tool"}, 0, nil)
	r.add(b, step{name: "ask"}, 0, nil)
	const want = `
| agent      | tool | ask  |
| ---------- | ---- | ---- |
| claude 2.1 | ok   | FAIL |
| pi 1.6     | ok   | ok   |

- pi, tool: no tool is named: it has none
- pi, ask: idle after cleanup: it never asks
`
	if got := r.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if r.failed != 1 {
		t.Errorf("%d failed, not 1", r.failed)
	}
}

func TestChoose(t *testing.T) {
	name := func(a *agent) string { return a.id }
	got, err := choose("agent", agents, []string{"pi", "claude"}, name)
	if err != nil || len(got) != 2 || got[0].id != "claude" || got[1].id != "pi" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := choose("agent", agents, []string{"claud"}, name); err == nil {
		t.Error("no error for an unknown agent")
	}
}
