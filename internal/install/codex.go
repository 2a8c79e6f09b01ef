package install

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
)

// codexConfig is the part of Codex's config.toml that is about hooks.
type codexConfig struct {
	Features map[string]any `toml:"features"`
	Hooks    map[string]any `toml:"hooks"` // events, and state: what the user has approved
}

func (a *agent) codexFacts(env Env) []Fact {
	path := filepath.Join(a.dir.in(env), "config.toml")
	var config codexConfig
	if t, err := resolve(path); err == nil {
		c, err := t.read()
		if err == nil {
			err = toml.Unmarshal(c.text, &config)
		}
		if err != nil {
			return []Fact{{Unreadable, fmt.Sprintf("%s cannot be read: %v", path, err), path}}
		}
	}
	var facts []Fact
	for _, key := range []string{"hooks", "codex_hooks"} { // the second one was the name of earlier releases
		if on, ok := config.Features[key].(bool); ok && !on {
			facts = append(facts, Fact{Disabled, fmt.Sprintf("%s switches hooks off: %s = false below [features]", path, key), path})
		}
	}
	for name := range config.Hooks {
		if name != "state" {
			facts = append(facts, Fact{TwoForms, fmt.Sprintf("%s has hooks, too: Codex runs both, and warns at each start", path), path})
			break
		}
	}
	if events := a.untrusted(env, config); len(events) > 0 {
		facts = append(facts, Fact{Untrusted, fmt.Sprintf("Codex passes over hooks that you have not approved: %s. Approve them in codex, with /hooks",
			strings.Join(events, ", ")), path})
	}
	return facts
}

// untrusted returns the events whose entry the user has not approved, as far as
// config.toml tells: it holds a digest of each approved definition by its place.
func (a *agent) untrusted(env Env, config codexConfig) []string {
	path := a.path(a.files[0], env)
	t, err := resolve(path)
	if err != nil {
		return nil
	}
	c, err := t.read()
	if err != nil || blank(c.text) {
		return nil
	}
	s, err := a.read(c.text)
	if err != nil {
		return nil
	}
	state, _ := config.Hooks["state"].(map[string]any)
	names := []string{path}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		names = append(names, filepath.Join(real, filepath.Base(path)))
	}
	var events []string
	for _, e := range a.events {
		for _, en := range s.entries(e) {
			if !approved(state, names, fmt.Sprintf("%s:%d:%d", snake(e.name), en.path[1].index, en.path[2].index)) {
				events = append(events, e.name)
				break
			}
		}
	}
	return events
}

func approved(state map[string]any, files []string, place string) bool {
	for _, file := range files {
		entry, _ := state[file+":"+place].(map[string]any)
		if hash, _ := entry["trusted_hash"].(string); hash != "" {
			on, set := entry["enabled"].(bool)
			return on || !set
		}
	}
	return false
}

// snake writes PreToolUse as pre_tool_use.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
