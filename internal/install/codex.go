package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
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
	unapproved, changed := a.untrusted(env, config)
	if len(unapproved) > 0 {
		facts = append(facts, Fact{Untrusted, fmt.Sprintf("Codex passes over hooks that you have not approved: %s. Approve them in codex, with /hooks",
			strings.Join(unapproved, ", ")), path})
	}
	if len(changed) > 0 {
		facts = append(facts, Fact{Changed, fmt.Sprintf("Codex passes over hooks that have changed since you approved them: %s. Approve them again in codex, with /hooks",
			strings.Join(changed, ", ")), path})
	}
	return facts
}

// untrusted returns the events whose entry the user has not approved, and those
// whose entry was another one then. config.toml holds a digest of each approved
// definition by its place.
func (a *agent) untrusted(env Env, config codexConfig) (unapproved, changed []string) {
	path := a.path(a.files[0], env)
	t, err := resolve(path)
	if err != nil {
		return nil, nil
	}
	c, err := t.read()
	if err != nil || blank(c.text) {
		return nil, nil
	}
	s, err := a.read(c.text)
	if err != nil {
		return nil, nil
	}
	state, _ := config.Hooks["state"].(map[string]any)
	names := []string{path}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		names = append(names, filepath.Join(real, filepath.Base(path)))
	}
	for _, e := range a.events {
		for _, en := range s.entries(e) {
			hash := approved(state, names, fmt.Sprintf("%s:%d:%d", snake(e.name), en.path[1].index, en.path[2].index))
			if hash == "" {
				unapproved = append(unapproved, e.name)
				break
			}
			if now := en.trustHash(); now != "" && now != hash {
				changed = append(changed, e.name)
				break
			}
		}
	}
	return unapproved, changed
}

// approved returns the digest of the definition that the user has approved in a
// place, empty if there is none.
func approved(state map[string]any, files []string, place string) string {
	for _, file := range files {
		entry, _ := state[file+":"+place].(map[string]any)
		if hash, _ := entry["trusted_hash"].(string); hash != "" {
			if on, set := entry["enabled"].(bool); set && !on {
				return ""
			}
			return hash
		}
	}
	return ""
}

// trustHash is the digest by which Codex knows an entry of ours: SHA-256 of its
// normalized definition as JSON with sorted keys. So it is in release 0.171,
// codex-rs/hooks/src/engine/discovery.rs. It is empty for an entry that says
// more than ours do: what of that counts is not known.
func (en entry) trustHash() string {
	group := en.path[1].in.Value.(*hujson.Array).Elements[en.path[1].index].Value.(*hujson.Object)
	if len(group.Members) > 1 {
		return ""
	}
	definition := map[string]any{"async": false, "timeout": 600}
	for _, m := range en.handler.Value.(*hujson.Object).Members {
		switch name := literal(m.Name); name {
		case "type", "command", "timeout":
			value := m.Value.Clone()
			value.Minimize()
			var v any
			if json.Unmarshal(value.Pack(), &v) != nil {
				return ""
			}
			definition[name] = v
		default:
			return ""
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if e.Encode(map[string]any{"event_name": snake(en.event.name), "hooks": []any{definition}}) != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(bytes.TrimSpace(text.Bytes())))
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
