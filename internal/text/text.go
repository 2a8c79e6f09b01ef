// Package text prepares text from outside for a terminal: nothing in it can
// move the cursor, change colours, reorder the line or make it two, and its
// width is measured in terminal cells.
package text

import (
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Clean returns a text on one line without anything that a terminal acts on.
// Escape sequences go whole, then all other control characters and those that
// reorder text; white space is folded to single spaces.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	s = ansi.Strip(sevenBit(s))
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case isSpace(r):
			space = b.Len() > 0
			continue
		case acts(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isPlain reports whether cleaning would change nothing, as for most texts.
func isPlain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

// sevenBit writes C1 controls as the escape sequences that they stand for, so
// that a sequence begun by one of them is recognised, and makes the text valid.
func sevenBit(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s { // a byte that is no UTF-8 is U+FFFD
		if 0x80 <= r && r < 0xA0 {
			b.WriteByte(0x1b)
			r -= 0x40
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\v', '\f', '\r', 0x2028, 0x2029:
		return true
	}
	return false
}

// acts reports whether a character does something else than stand for itself.
func acts(r rune) bool {
	return r < ' ' || 0x7f <= r && r < 0xA0 || // C0, DEL, C1
		r == 0x061C || r == 0x200E || r == 0x200F || // bidirectional marks
		0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 || // embeddings, overrides, isolates
		0xFFF9 <= r && r <= 0xFFFB || // interlinear annotation
		0xE0000 <= r && r <= 0xE007F || // tags, which are invisible
		r == 0x200B || r == 0x2060 || r == 0xFEFF // zero-width spaces
}

// Width is the number of terminal cells that a clean text takes.
func Width(s string) int { return ansi.StringWidth(s) }

// Fit cuts a clean text to at most width cells; one that was cut ends in tail.
func Fit(s string, width int, tail string) string { return ansi.Truncate(s, width, tail) }

// Pad appends spaces up to width cells.
func Pad(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// UTF8 reports whether the locale of the environment is a UTF-8 one, by the
// precedence of locale(7).
func UTF8() bool {
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
