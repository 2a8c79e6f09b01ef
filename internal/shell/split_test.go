package shell

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		command string
		want    []string
	}{
		{"", nil},
		{"  a  b\tc ", []string{"a", "b", "c"}},
		{`'a b'c "d e" f\ g ''`, []string{"a bc", "d e", "f g", ""}},
		{`"a\"b\\c\d" 'e\'`, []string{`a"b\c\d`, `e\`}},
		{`'it'\''s'`, []string{"it's"}},
		{"~/bin/x $HOME/y ${HOME}/z \"$HOME/w\"", []string{"~/bin/x", "$HOME/y", "${HOME}/z", "$HOME/w"}},
		{"a#b", []string{"a#b"}},
	} {
		got, ok := Split(test.command)
		if !ok || !slices.Equal(got, test.want) {
			t.Errorf("Split(%q) = %q, %v; want %q", test.command, got, ok, test.want)
		}
	}
}

func TestSplitBadInput(t *testing.T) {
	for _, command := range []string{
		"a;b", "a && b", "a|b", "a >b", "(a)", "`a`", "$(a)", "a $1", `"$(a)"`, "\"`a`\"", "'a", `"a`, `a\`, "a\nb", "a # b", "a *", "$'a'",
	} {
		if got, ok := Split(command); ok {
			t.Errorf("Split(%q) = %q, want none", command, got)
		}
	}
}

// What Quote writes, Split reads.
func TestSplitQuote(t *testing.T) {
	words := []string{"", "plain", "two  words", "it's", `back\slash`, `end\`, "$HOME", "`id`", "*", "~root", "#", "a;b", "漢字", "'", "=ls"}
	for _, word := range words {
		if got, ok := Split(Quote(word)); !ok || len(got) != 1 || got[0] != word {
			t.Errorf("Split(%q) = %q, %v", Quote(word), got, ok)
		}
	}
}
