package hook

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine returns at most max characters of a text on one line: every run of
// white space and line separators is one space.
func oneLine(text string, max int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' {
			space = n > 0
			continue
		}
		if space {
			if n+1 >= max {
				break
			}
			b.WriteByte(' ')
			n, space = n+1, false
		}
		if n == max {
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// cut returns the beginning of a text of at most max bytes, cut between
// characters.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max]
}
