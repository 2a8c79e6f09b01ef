package fuzz

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tailscale/hujson"

	"tongs-agents/internal/install"
)

// FuzzInstall takes any text for an agent's settings. Installed, it holds all
// that it held, and our hooks; uninstalled, it is the same text, unless it had
// entries of ours.
func FuzzInstall(f *testing.F) {
	for _, text := range []string{
		"", "{}", "\xef\xbb\xbf{\r\n\t\"a\": 1\r\n}", `{"hooks":{}}`, `{"hooks":{"Stop":[],"PreToolUse":[{"matcher":"x","hooks":[]},]},}`,
		"{ // a\n \"hooks\": /* b */ {\"Stop\" /* c */ : [ {\"hooks\": [1]} // d\n , /* e */ ] /* f */ } }// g",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"tongs-agents-hook"},{"command":"x"}]}]}}`,
		`{"version": 1, "hooks": {"stop": [{"command": "y"}, {"command": "/a/tongs-agents-hook --agent cursor || :"}]}}`,
		`{"hooks":null}`, `[]`, `{"a":1,"a":2}`, "{\"a\":\n[\n1\n,]\n,}\n//",
	} {
		for agent := range byte(3) {
			f.Add([]byte(text), agent)
		}
	}
	home := f.TempDir()
	hook := filepath.Join(home, "tongs-agents-hook")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\n"), 0o700); err != nil {
		f.Fatal(err)
	}
	env := install.Env{Home: home, State: filepath.Join(home, "state"), Invoked: filepath.Join(home, "tongs-agents"),
		Getenv: func(string) string { return "" }}
	agents := []struct{ name, file string }{
		{"claude", ".claude/settings.json"}, {"gemini", ".gemini/settings.json"}, {"cursor", ".cursor/hooks.json"},
	}
	f.Fuzz(func(t *testing.T, text []byte, agent byte) {
		a := agents[int(agent)%len(agents)]
		path := filepath.Join(home, a.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		report := must(t, install.Install, env, a.name)
		installed := read(t, path)
		if report.State == install.LeftAlone {
			if !bytes.Equal(installed, text) {
				t.Errorf("left alone, but %q became %q", text, installed)
			}
			return
		}
		was, is := settings(text), settings(installed)
		if is == nil {
			t.Fatalf("%q became %q, which cannot be read", text, installed)
		}
		for name, v := range was {
			if name != "hooks" && !reflect.DeepEqual(is[name], v) {
				t.Errorf("%q: %q was %v, is %v", text, name, v, is[name])
			}
		}
		state, err := install.Inspect(env, a.name)
		if err != nil || !state[0].Files[0].Complete() {
			t.Errorf("%q became %q, which is not complete: %+v, %v", text, installed, state, err)
		}
		if again := must(t, install.Install, env, a.name); again.State != install.Unchanged || !bytes.Equal(read(t, path), installed) {
			t.Errorf("%q became %q, and then %q: %+v", text, installed, read(t, path), again)
		}
		must(t, install.Uninstall, env, a.name)
		if got := read(t, path); report.State == install.Added && !bytes.Equal(got, text) {
			t.Errorf("%q became %q", text, got)
		} else if bytes.Contains(got, []byte(hook)) && !bytes.Contains(text, []byte(hook)) {
			t.Errorf("%q still names the hook", got)
		}

		// Without what was remembered, the text may be laid out otherwise.
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		must(t, install.Install, env, a.name)
		if err := os.RemoveAll(env.State); err != nil {
			t.Fatal(err)
		}
		must(t, install.Uninstall, env, a.name)
		left := settings(read(t, path))
		if left == nil {
			t.Fatalf("%q became %q", text, read(t, path))
		}
		for name, v := range was {
			if name != "hooks" && !reflect.DeepEqual(left[name], v) {
				t.Errorf("%q: %q was %v, is %v", text, name, v, left[name])
			}
		}
		hooks, _ := was["hooks"].(map[string]any)
		leftHooks, _ := left["hooks"].(map[string]any)
		for event, v := range hooks {
			list, _ := v.([]any)
			if len(list) > 0 && report.State == install.Added && !reflect.DeepEqual(leftHooks[event], v) {
				t.Errorf("%q: %s was %v, is %v", text, event, v, leftHooks[event])
			}
		}
		if state, err := install.Inspect(env, a.name); err != nil || len(state[0].Files[0].Entered) > 0 {
			t.Errorf("%q became %q, which has entries: %+v, %v", text, read(t, path), state, err)
		}
	})
}

func must(t *testing.T, do func(install.Env, install.Options) (install.Report, error), env install.Env, agent string) install.FileReport {
	t.Helper()
	report, err := do(env, install.Options{Agents: []string{agent}})
	if err != nil || len(report.Agents) != 1 || len(report.Agents[0].Files) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	return report.Agents[0].Files[0]
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// settings reads the members of settings, nil if they are none.
func settings(text []byte) map[string]any {
	standard, err := hujson.Standardize(append(bytes.TrimPrefix(bytes.Clone(text), []byte("\xef\xbb\xbf")), '\n'))
	if err != nil {
		return nil
	}
	var m map[string]any
	json.Unmarshal(standard, &m)
	return m
}
