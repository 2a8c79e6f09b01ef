package fuzz

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tongs-agents/internal/text"
)

// Whatever a title holds, what is printed of it is one line of the width asked
// for, on which no terminal acts.
func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"", "plain", "a\x1b[31mred\x1b[0m b", "\x1b]0;t ✓\x07x", "\x1bPq\x1b\\x", "\u009d0;t\u009cb", "\x1b", "\x1b]x",
		"\u202ea\u2066b", "a\u200b\ufeffb", "e\u0301", "中文字", "👨\u200d👩\u200d👧", "🇩🇪🇫", "1\ufe0f\u20e3", "a\r\nb\u2028c", "\xff\xfe",
		"हिन्दी", "\u0600\u0601a", "ᄒ\u1161\u11ab", strings.Repeat("x", 300),
	} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		clean := text.Clean(s)
		if !utf8.ValidString(clean) {
			t.Errorf("Clean(%q) = %q is not UTF-8", s, clean)
		}
		for _, r := range clean {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
				t.Errorf("Clean(%q) = %q has %U", s, clean, r)
			}
		}
		if again := text.Clean(clean); again != clean {
			t.Errorf("Clean(%q) = %q, but cleaned again %q", s, clean, again)
		}
		if clean != strings.TrimSpace(clean) || strings.Contains(clean, "  ") {
			t.Errorf("Clean(%q) = %q has white space to spare", s, clean)
		}
		if text.Width(clean) > text.MaxWidth(clean) {
			t.Errorf("%q is wider than it can be: %d, %d", clean, text.Width(clean), text.MaxWidth(clean))
		}

		width %= 200
		for _, tail := range [...]string{"…", "...", ""} {
			fitsAndPads(t, "Fit", clean, text.Fit(clean, width, tail), width)
			fitsAndPads(t, "FitEnd", clean, text.FitEnd(clean, width, tail), width)
		}
	})
}

func fitsAndPads(t *testing.T, name, clean, fit string, width int) {
	if got := text.MaxWidth(fit); got > max(width, 0) {
		t.Errorf("%s of %q to %d cells is %q, which takes %d", name, clean, width, fit, got)
	}
	if got := text.Width(text.Pad(fit, width)); got != max(width, text.Width(fit)) {
		t.Errorf("%q, padded to %d cells, takes %d", fit, width, got)
	}
	if !utf8.ValidString(fit) {
		t.Errorf("%s of %q to %d cells is %q, not UTF-8", name, clean, width, fit)
	}
}
