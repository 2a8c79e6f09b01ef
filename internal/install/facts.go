package install

import (
	"fmt"

	"github.com/tailscale/hujson"
)

// Fact is something beside the entries that keeps the hooks of an agent from
// running, or from being what they seem.
type Fact struct {
	Kind FactKind `json:"kind"`
	Text string   `json:"text"` // for the user, without a full stop
	File string   `json:"file"` // where it stands
}

// FactKind is a kind of Fact.
type FactKind string

const (
	Untrusted  FactKind = "untrusted"  // Codex: the user has not approved the hooks
	Changed    FactKind = "changed"    // Codex: the hooks were others when the user approved them
	Disabled   FactKind = "disabled"   // the agent's settings switch hooks off
	TwoForms   FactKind = "two forms"  // Codex: config.toml has hooks, too
	Unreadable FactKind = "unreadable" // a file that would tell cannot be read
)

// off says where an agent's settings switch all hooks off.
type off struct {
	file string   // of the agent's directory
	path []string // of names
	when string   // the value, as JSON
}

// switches are the agents that have such a switch.
var switches = map[string]off{
	"claude": {"settings.json", []string{"disableAllHooks"}, "true"},
	"gemini": {"settings.json", []string{"hooksConfig", "enabled"}, "false"},
	"qwen":   {"settings.json", []string{"disableAllHooks"}, "true"},
}

// facts returns what beside the entries matters.
func (a *agent) facts(env Env) []Fact {
	if a.id == "codex" {
		return a.codexFacts(env)
	}
	s, ok := switches[a.id]
	if !ok {
		return nil
	}
	path := a.path(file{name: s.file}, env)
	t, err := resolve(path)
	if err != nil {
		return nil // which is said of the entries
	}
	c, err := t.read()
	if err != nil || blank(c.text) {
		return nil
	}
	v, err := parse(c.text)
	if err != nil {
		return nil
	}
	name := ""
	for _, step := range s.path {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		m, err := member(object, step)
		if err != nil || m == nil {
			return nil
		}
		v, name = &m.Value, name+"."+step
	}
	if literal(*v) != s.when {
		return nil
	}
	return []Fact{{Disabled, fmt.Sprintf("%s switches hooks off: %s is %s", path, name[1:], s.when), path}}
}
