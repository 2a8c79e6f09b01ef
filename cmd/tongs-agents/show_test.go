package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tongs-agents/internal/text"
)

func TestShellWord(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"", "''"},
		{"claude", "claude"},
		{"--resume=872de908-a5e1", "--resume=872de908-a5e1"},
		{"/usr/bin/a_b:c@d%e+f,g", "/usr/bin/a_b:c@d%e+f,g"},
		{"=ls", "'=ls'"}, // zsh would look for ls
		{"a b", "'a b'"},
		{"$HOME `id` \"x\" \\", "'$HOME `id` \"x\" \\'"},
		{"it's", `'it'\''s'`},
		{"~", "'~'"},
		{"漢字", "'漢字'"},
		{"a  b", `$'a\040\040b'`}, // two spaces would be shown as one
		{"a\nb", `$'a\012b'`},
		{"\x1b[31m'\\", `$'\033[31m\'\\'`},
		{"a\u202eb", `$'a\342\200\256b'`},
	} {
		got := shellWord(test.word)
		if got != test.want {
			t.Errorf("shellWord(%q) = %s, want %s", test.word, got, test.want)
		}
		if clean := text.Clean("x " + got); clean != "x "+got {
			t.Errorf("shellWord(%q) = %q is shown as %q", test.word, got, clean)
		}
	}
}

// What is printed as a command, a shell reads as the same words.
func TestShellCommand(t *testing.T) {
	args := []string{
		"", "plain", "two words", "two  spaces", "it's", `back\slash`, "$HOME", "`id`", "*", "~root", "#", "a;b", "a\nb\tc",
		"\x1b[2J", "\x7f\u0085\u202e\u2028", "漢字", "'", "''", `\'`, "!x", "=ls", "-n", "{a,b}", "1\u00a02",
	}
	out, err := exec.Command("bash", "-c", `printf '%s\0' `+shellCommand(args)).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if !slices.Equal(got, args) {
		t.Errorf("bash reads %s as\n%q, want\n%q", shellCommand(args), got, args)
	}
}
