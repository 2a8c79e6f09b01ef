// Package text prepares text from outside for a terminal: nothing in it can
// move the cursor, change colours, reorder the line or make it two, and its
// width is measured in terminal cells. It also has our own ways to write things.
package text

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Clean returns a text on one line without anything that a terminal acts on.
// Escape sequences go whole, one that does not end with all that follows; then
// all other control characters, those that reorder text and those that cannot
// be seen, but for joiners within words and emoji. White space is folded to
// single spaces.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	state := ground
	space := false
	var before, join rune // the character written last, and a joiner after it
	for _, r := range s { // a byte that is no UTF-8 is U+FFFD
		var seen bool
		if state, seen = state.next(r); !seen {
			continue
		}
		switch {
		case unicode.IsSpace(r):
			space, join = b.Len() > 0, 0
			continue
		case isJoiner(r):
			join = r
			continue
		case acts(r):
			continue
		}
		switch {
		case space:
			b.WriteByte(' ')
			space = false
		case join != 0 && before >= utf8.RuneSelf && r >= utf8.RuneSelf:
			b.WriteRune(join)
		}
		b.WriteRune(r)
		before, join = r, 0
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

// isJoiner reports whether a character is one that makes its neighbours join or
// not. They are parts of words and emoji. Anywhere else some terminals draw what
// follows in the cell before: that may be ours.
func isJoiner(r rune) bool {
	const nonJoiner, joiner = 0x200C, 0x200D
	return r == nonJoiner || r == joiner
}

// acts reports whether a character does something else than stand for itself:
// controls, what cannot be seen, and what is no character and so illegal in XML.
func acts(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// Width is the number of cells that a clean text takes on a terminal that
// draws several characters as one where Unicode says so.
func Width(s string) int {
	if isASCII(s) {
		return len(s)
	}
	width := 0
	for s != "" {
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		width += w
		s = s[len(cluster):]
	}
	return width
}

// MaxWidth is the number of cells that a clean text takes on any terminal:
// many draw each part of an emoji on its own.
func MaxWidth(s string) int {
	if isASCII(s) {
		return len(s)
	}
	width := 0
	for s != "" {
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		width += maxWidth(cluster, w)
		s = s[len(cluster):]
	}
	return width
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func maxWidth(cluster string, width int) int {
	apart := 0
	for _, r := range cluster {
		switch {
		case unicode.Is(unicode.Regional_Indicator, r):
			apart += 2
		case unicode.Is(unicode.Mc, r):
			apart++
		default:
			_, w := ansi.FirstGraphemeCluster(string(r), ansi.GraphemeWidth)
			apart += w
		}
	}
	return max(width, apart)
}

// Fit cuts a clean text to at most width cells of any terminal; one that was
// cut ends in tail.
func Fit(s string, width int, tail string) string {
	if MaxWidth(s) <= width {
		return s
	}
	if width -= MaxWidth(tail); width < 0 {
		return ""
	}
	n := 0
	for n < len(s) {
		cluster, w := ansi.FirstGraphemeCluster(s[n:], ansi.GraphemeWidth)
		if width -= maxWidth(cluster, w); width < 0 {
			break
		}
		n += len(cluster)
	}
	return s[:n] + tail
}

// FitEnd is Fit for a text whose end says more than its beginning, such as a
// path: one that was cut begins with head.
func FitEnd(s string, width int, head string) string {
	if MaxWidth(s) <= width {
		return s
	}
	if MaxWidth(head) > width {
		return ""
	}
	for excess := MaxWidth(head) + MaxWidth(s) - width; excess > 0; {
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		excess -= maxWidth(cluster, w)
		s = s[len(cluster):]
	}
	return head + s
}

// Pad appends spaces up to width cells. A letter that is drawn together with
// the next one, whatever that is, takes the first space to itself.
func Pad(s string, width int) string {
	padded := s + strings.Repeat(" ", max(width-Width(s), 0))
	if n := width - Width(padded); n > 0 {
		padded += strings.Repeat(" ", n)
	}
	return padded
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
