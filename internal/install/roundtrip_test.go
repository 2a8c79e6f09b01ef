package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// awkward are settings of every kind. EVENT stands for an event that we enter,
// OTHER for what somebody else has entered there, in one line, LINES for many
// lines.
var awkward = []struct {
	name, text string

	// bare is the text after an uninstall that remembers nothing, where that
	// differs: an empty list may be the user's or ours.
	bare string
}{
	{name: "empty object", text: "{}"},
	{name: "empty object and line end", text: "{}\n"},
	{name: "empty object of two lines", text: "{\n}\n", bare: "{}\n"},
	{name: "empty object with a space", text: "{ }\n", bare: "{}\n"},
	{name: "empty object with a comment", text: "{ // nothing yet\n}\n"},
	{name: "empty object with a block comment", text: "{ /* nothing yet */ }\n", bare: "{ /* nothing yet */ \n}\n"},
	{name: "two spaces", text: "{\n  \"model\": \"opus\"\n}\n"},
	{name: "four spaces", text: "{\n    \"model\": \"opus\",\n    \"env\": {\n        \"A\": \"1\"\n    }\n}\n"},
	{name: "tabs", text: "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n"},
	{name: "no indentation", text: "{\n\"model\": \"opus\"\n}\n"},
	{name: "one line", text: `{"model":"opus","env":{"A":"1"}}`},
	{name: "one line with spaces", text: `{ "model": "opus", "env": { "A": "1" } }` + "\n"},
	{name: "no final line end", text: "{\n  \"model\": \"opus\"\n}"},
	{name: "many final line ends", text: "\n\n{\n  \"model\": \"opus\"\n}\n\n\n"},
	{name: "CRLF", text: "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n    \"EVENT\": [\r\n      OTHER\r\n    ]\r\n  }\r\n}\r\n"},
	{name: "byte order mark", text: "\xef\xbb\xbf{\n  \"model\": \"opus\"\n}\n"},
	{name: "byte order mark, one line", text: "\xef\xbb\xbf{\"model\":\"opus\"}"},
	{name: "comments", text: "// settings\n{\n  // first\n  \"model\": \"opus\", // the best\n  /* last */ \"a\": 1 // no comma\n  // end\n}\n// after"},
	{name: "comments in hooks", text: "{\n  \"hooks\": { // mine\n    // before\n    \"EVENT\": [ // one\n      OTHER // two\n      // three\n    ] // four\n    // five\n  } // six\n}\n"},
	{name: "block comments in one line", text: `{"hooks": {/* a */ "EVENT": [OTHER /* b */] /* c */} /* d */}`},
	{name: "trailing commas", text: "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"EVENT\": [\n      OTHER,\n    ],\n  },\n}\n"},
	{name: "trailing commas in one line", text: `{"model": "opus", "hooks": {"EVENT": [OTHER, ], }, }`},
	{name: "trailing commas and comments", text: "{\n  \"hooks\": {\n    \"EVENT\": [\n      OTHER, // x\n    ], /* y */\n  }, // z\n}\n"},
	{name: "comma on the next line", text: "{\n  \"a\": 1\n  , \"hooks\": {\n    \"EVENT\": [ OTHER\n    ]\n  }\n}\n"},
	{name: "URL and comment in a text", text: "{\n  \"url\": \"https://example.org/a,]}/*x*/\",\n  \"b\": \"\\\"// no\"\n}\n"},
	{name: "hooks of others", text: "{\n  \"hooks\": {\n    \"EVENT\": [\n      OTHER\n    ],\n    \"Unknown\": [],\n    \"Other\": [OTHER]\n  },\n  \"z\": null\n}\n"},
	{name: "hooks of others in odd lines", text: "{\n  \"hooks\": {\"EVENT\": [OTHER],\n            \"Other\": [OTHER]}}\n"},
	{name: "brackets close together", text: "{ \"hooks\": { \"EVENT\": [{\n  \"matcher\": \"x\"\n}] } }\n"},
	{name: "hooks empty", text: "{\n  \"hooks\": {}\n}\n", bare: "{}\n"},
	{name: "hooks empty, before another", text: "{\"hooks\": {}, \"a\": 1}", bare: `{"a": 1}`},
	{name: "event empty", text: "{\n  \"hooks\": {\n    \"EVENT\": []\n  },\n  \"a\": 1\n}\n", bare: "{\n  \"a\": 1\n}\n"},
	{name: "event empty, with a comment", text: "{\n  \"hooks\": {\n    \"EVENT\": [\n      // none\n    ]\n  }\n}\n"},
	{name: "odd values in an event", text: "{\n  \"hooks\": {\n    \"EVENT\": [1, null, \"x\", [], {}, {\"hooks\": 7}, {\"hooks\": [null, {\"command\": 3}]}]\n  }\n}\n"},
	{name: "same name elsewhere", text: "{\n  \"a\": {\"hooks\": {\"EVENT\": [1]}},\n  \"hooksConfig\": {},\n  \"a\": 2\n}\n"},
	{name: "our command under an event that we do not enter", text: "{\n  \"hooks\": {\n    \"Mine\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/x/tongs-agents-hook --agent other\"}]}]\n  }\n}\n"},
	{name: "our command for another purpose", text: "{\n  \"hooks\": {\n    \"EVENT\": [{\"command\": \"/x/tongs-agents-hook --agent other\"}, {\"hooks\": [{\"command\": \"/x/tongs-agents-hook --agent other\"}]}]\n  }\n}\n"},
	{name: "escaped names", text: "{\n  \"h\\u006foks\": {\n    \"EVENT\": [OTHER]\n  }\n}\n"},
	{name: "characters", text: "{\n  \"ü\": \"漢字 \\u2028 😀\",\n  // ä\n  \"b\": \"\\ud83d\"\n}\n"},
	{name: "long", text: "{\n  \"a\": [\nLINES    0\n  ]\n}\n"},
	{name: "nested", text: "{\n  \"a\": " + strings.Repeat(`[{"b": `, 500) + "1" + strings.Repeat("}]", 500) + "\n}\n"},

	{name: "empty", text: "", bare: "{}\n"},
	{name: "blank", text: "\n \n", bare: "{}\n"},
	{name: "byte order mark only", text: "\xef\xbb\xbf", bare: "\xef\xbb\xbf{}\n"},
}

// fill makes an awkward text one of an agent.
func fill(a *agent, text string) string {
	other := `{"matcher": "x", "hooks": [{"type": "command", "command": "notify-send done"}]}`
	if !a.form.groups {
		other = `{"command": "notify-send done", "timeout": 3}`
	}
	n := 10
	if a.id == "claude" || a.id == "cursor" { // a megabyte
		n = 1000
	}
	if strings.Contains(text, "LINES") {
		line := "    {\"x\": \"" + strings.Repeat("0123456789", 100) + "\"},\n"
		text = strings.Replace(text, "LINES", strings.Repeat(line, n), 1)
	}
	return strings.NewReplacer("EVENT", a.events[0].name, "OTHER", other).Replace(text)
}

// Install and uninstall leave a file as it was, and in between it has all that
// it had.
func TestRoundTrip(t *testing.T) {
	if len(awkward) < 20 {
		t.Fatalf("only %d files", len(awkward))
	}
	for _, a := range jsonAgents() {
		for _, test := range awkward {
			t.Run(a.id+"/"+test.name, func(t *testing.T) {
				h := newHome(t)
				file := h.settingsFile(a)
				before := fill(a, test.text)
				h.write(file, before)
				if err := os.Chmod(h.path(file), 0o640); err != nil {
					t.Fatal(err)
				}
				want := file + " added\n"
				if got := h.run(Install, a.id); !strings.HasSuffix(got, want) {
					t.Fatalf("install: got %q, want %q", got, want)
				}
				installed := h.read(file)
				checkInstalled(t, h, a, before, installed)
				if got, want := h.run(Install, a.id), file+" unchanged\n"; !strings.HasSuffix(got, want) || h.read(file) != installed {
					t.Errorf("again: got %q, want %q\n%s", got, want, h.read(file))
				}
				if got, want := h.run(Uninstall, a.id), file+" removed\n"; !strings.HasPrefix(got, want) {
					t.Errorf("uninstall: got %q, want %q", got, want)
				}
				if got := h.read(file); got != before {
					t.Errorf("after uninstall:\n%q\nwant:\n%q", got, before)
				}
				if info, err := os.Stat(h.path(file)); err != nil || info.Mode() != 0o640 {
					t.Errorf("mode %v, %v; want 0640", info.Mode(), err)
				}
				checkClean(t, h, file)

				// Without what was remembered.
				h.run(Install, a.id)
				if got := h.read(file); got != installed {
					t.Errorf("the second time:\n%s\nwant:\n%s", got, installed)
				}
				if err := os.RemoveAll(h.env.State); err != nil {
					t.Fatal(err)
				}
				h.run(Uninstall, a.id)
				bare := before
				if test.bare != "" {
					bare = fill(a, test.bare)
				}
				if got, err := os.ReadFile(h.path(file)); !sameButVersion(a, string(got), bare) && !(os.IsNotExist(err) && a.empty([]byte(bare))) {
					t.Errorf("after uninstall without the record:\n%q\nwant:\n%q", got, bare)
				}
			})
		}
	}
}

// sameButVersion compares texts of an agent whose files need a version, which
// stays when it is not remembered that we added it.
func sameButVersion(a *agent, got, want string) bool {
	if got == want {
		return true
	}
	return a.form.version && strings.Contains(got, `"version":`) && !strings.Contains(want, `"version":`)
}

// checkInstalled reports what is missing, and what of before has changed.
func checkInstalled(t *testing.T, h *home, a *agent, before, after string) {
	t.Helper()
	in := h.inspect(a.id)
	file := in.Files[len(in.Files)-1]
	if !file.Complete() || len(file.Entered) != len(a.events) {
		t.Errorf("incomplete: %+v", file)
	}
	if strings.Contains(before, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
		t.Errorf("line ends are mixed:\n%q", after)
	}
	was, is := decode(t, before), decode(t, after)
	for name, v := range was {
		if name != "hooks" && !reflect.DeepEqual(is[name], v) {
			t.Errorf("%q is %v, was %v", name, is[name], v)
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok && name != "hooks" && name != "version" {
			t.Errorf("%q is new", name)
		}
	}
	oldHooks, _ := was["hooks"].(map[string]any)
	newHooks := is["hooks"].(map[string]any)
	for event, v := range oldHooks { // theirs come first
		old, list := v.([]any), newHooks[event].([]any)
		if len(list) < len(old) || !reflect.DeepEqual(list[:len(old)], old) {
			t.Errorf("%s is %v, was %v", event, list, old)
		}
	}
	if !blank([]byte(before)) && !isSubsequence(before, after) {
		t.Errorf("more than inserted:\n%s\nwas:\n%s", after, before)
	}
}

// isSubsequence reports whether a text is what is left of another one without
// some of its bytes.
func isSubsequence(part, whole string) bool {
	for i := 0; i < len(whole) && part != ""; i++ {
		if part[0] == whole[i] {
			part = part[1:]
		}
	}
	return part == ""
}

// decode reads settings, comments and all, independently of the editor.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	if blank([]byte(text)) {
		return nil
	}
	v, err := parse([]byte(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	v.Minimize()
	var m map[string]any
	if err := json.Unmarshal(v.Pack(), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// checkClean reports what an installation left beside a file.
func checkClean(t *testing.T, h *home, file string) {
	t.Helper()
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(h.path(file)), ".*.tmp"))
	records, _ := filepath.Glob(filepath.Join(h.env.State, recordDir, "*.json"))
	if len(left)+len(records) > 0 {
		t.Errorf("left: %v %v", left, records)
	}
}

// A file that was not there is gone again, and the directories with it.
func TestRoundTripAbsent(t *testing.T) {
	for i := range table {
		a := &table[i]
		if a.files[0].byHand {
			continue
		}
		t.Run(a.id, func(t *testing.T) {
			h := newHome(t)
			before := tree(t, h.dir)
			if got := h.run(Install, a.id); strings.Count(got, " added\n") != len(a.files) {
				t.Errorf("install: %s", got)
			}
			installed := tree(t, h.dir)
			if got := h.run(Install, a.id); strings.Count(got, " unchanged\n") != len(a.files) || tree(t, h.dir) != installed {
				t.Errorf("again: %s\n%s", got, tree(t, h.dir))
			}
			for _, f := range h.inspect(a.id).Files {
				if !f.Complete() || len(f.Hooks) > 1 || len(f.Hooks) == 1 && (f.Hooks[0].Error != "" || f.Hooks[0].Other) {
					t.Errorf("incomplete: %+v", f)
				}
			}
			if got := h.run(Uninstall, a.id); strings.Count(got, " removed\n") != len(a.files) {
				t.Errorf("uninstall: %s", got)
			}
			if err := os.RemoveAll(h.env.State); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, h.dir); got != before {
				t.Errorf("left:\n%s\nwant:\n%s", got, before)
			}
		})
	}
}

// tree lists all files with their contents, but for records.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == filepath.Join(dir, "state") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		fmt.Fprintf(&b, "%s %v", path, info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", text)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
