//go:build !(386 || arm)

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The judges that are ours see what they are for.
func TestActs(t *testing.T) {
	for _, test := range []struct {
		out      string
		terminal bool
		want     string // in the answer; "": it is text
	}{
		{"AGENT  REPO\nclaude 中文 e\u0301 👩\u200d💻\n", false, ""},
		{"\x1b[1mAGENT\x1b[m\r\n\x1b[32mx\x1b[7Gy\r\n", true, ""},
		{"\x1b[1mAGENT", false, "U+001B"},
		{"\x1b[2J", true, "U+001B"},
		{"a\tb", false, "U+0009"},
		{"\u009b31m", true, "U+009B"},
		{"\u202eabc", false, "U+202E"},
		{"a\u200bb", false, "U+200B"},
		{"a\u2028b", false, "U+2028"},
		{"a\u3164b", false, "U+3164"},
		{"\U000e0041", false, "U+E0041"},
		{"\xff", false, "no UTF-8"},
	} {
		if got := acts(test.out, test.terminal); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("acts(%q, %v) = %q, want %q", test.out, test.terminal, got, test.want)
		}
	}
}

func TestMarkupText(t *testing.T) {
	for markup, want := range map[string]string{"a &lt;b&gt; &#34;&amp;": `a <b> "&`, "": ""} {
		if got, err := markupText(markup); got != want || err != nil {
			t.Errorf("%q: got %q, %v", markup, got, err)
		}
	}
	for _, markup := range []string{"<b>x</b>", "a & b", "<", "</markup>", "<!-- x -->", "\x1b", "<a href='x'/>"} {
		if got, err := markupText(markup); err == nil {
			t.Errorf("%q is %q, want an error", markup, got)
		}
	}
}

// A text comes to the programs as it is, and texts have names of their own.
func TestTexts(t *testing.T) {
	names := map[string]bool{}
	for _, text := range texts {
		if names[text.name] {
			t.Errorf("%s is there twice", text.name)
		}
		names[text.name] = true
		var got string
		if err := json.Unmarshal([]byte(text.payload()), &got); err != nil {
			t.Errorf("%s: %v", text.name, err)
		}
		if want := strings.ToValidUTF8(text.s, "\ufffd"); text.json == "" && strings.Trim(got, "\ufffd") != strings.Trim(want, "\ufffd") && !strings.Contains(got, "\ufffd") {
			t.Errorf("%s: the payload is %q", text.name, got)
		}
	}
}

func TestTree(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir+"/state", 0o700); err != nil {
		t.Fatal(err)
	}
	write("same", "x")
	write("mode", "x")
	write("gone", "x")
	write("state/record", "x")
	before, err := tree(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	write("state/record", "y")
	write("new", "x")
	if err := os.Chmod(dir+"/mode", 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir + "/gone"); err != nil {
		t.Fatal(err)
	}
	after, err := tree(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range differences(before, after) {
		name, _, _ := strings.Cut(d, " ")
		got = append(got, name)
	}
	if want := []string{"/gone", "/mode", "/new"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTrace(t *testing.T) {
	const trace = "12 flock(7</run/user/0/tongs-agents/.fleet.lock>, LOCK_EX|LOCK_NB) = 0\n"
	if got := flocked.FindStringSubmatch(trace); got == nil || got[1] != "/run/user/0/tongs-agents/.fleet.lock" {
		t.Errorf("got %q", got)
	}
	if got := littleEndian(0x6969); got != "6969000000000000" {
		t.Errorf("got %s", got)
	}
	if got := littleEndian(0x01021997); got != "9719020100000000" {
		t.Errorf("got %s", got)
	}
}
