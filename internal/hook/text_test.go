package hook

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	tests := []struct {
		text string
		max  int
		want string
	}{
		{"", 5, ""},
		{"abc", 5, "abc"},
		{"abcdef", 5, "abcde"},
		{"  a \t\r\n b  ", 9, "a b"},
		{"a\u2028b\u2029c\u0085d\u00a0e\u3000f", 99, "a b c d e f"},
		{"abcde fgh", 5, "abcde"},
		{"abcd efgh", 5, "abcd"}, // no space at the end
		{"ééééé", 3, "ééé"},
		{"a b", 0, ""},
		{strings.Repeat(" ", 9000) + "x", 1, "x"},
		{"a\x1b[31mb", 99, "a\x1b[31mb"}, // cleaned where it is shown
	}
	for _, tt := range tests {
		if got := oneLine(tt.text, tt.max); got != tt.want {
			t.Errorf("oneLine(%q, %d) = %q, want %q", tt.text, tt.max, got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, text := range []string{"", "abc", "aéb", "漢字", "a😀b", "e\u0301e\u0301"} {
		for max := range len(text) + 2 {
			got := cut(text, max)
			if len(got) > max || !strings.HasPrefix(text, got) || !utf8.ValidString(got) || len(text) <= max && got != text ||
				len(text) > max && len(got) < max-utf8.UTFMax+1 {
				t.Errorf("cut(%q, %d) = %q", text, max, got)
			}
		}
	}
}

func TestLastElement(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "/": "/", "//": "/", "/a": "a", "/a/b": "b", "/a/b/": "b", "/a/b//": "b", "a": "a", "a/": "a", "/a b/c d": "c d",
	} {
		if got := lastElement(path); got != want {
			t.Errorf("lastElement(%q) = %q, want %q", path, got, want)
		}
	}
}
