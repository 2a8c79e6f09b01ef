package jsonstream

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// AppendMinimal appends s as a JSON string in which only the quote, the
// backslash and the characters below U+0020 are escaped. It is the form that
// identity digests are computed from.
func AppendMinimal(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			b = append(b, s[from:i]...)
			b = appendEscape(b, rune(c))
			from = i + 1
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// AppendString appends s as a JSON string that is harmless to look at: what a
// terminal or a line reader acts on (C1 controls, DEL, line separators,
// bidirectional controls) is escaped too, and bytes that are no UTF-8 become
// U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); (r != utf8.RuneError || size > 1) && !acts(r) {
				i += size
				continue
			}
		}
		b = append(b, s[from:i]...)
		b = appendEscape(b, r)
		i += size
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// AppendValue appends a value that is JSON text already, without white space
// between its parts and with strings as AppendString writes them. The text is
// valid JSON and valid UTF-8.
func AppendValue(b, text []byte) []byte {
	inString := false
	for i := 0; i < len(text); {
		c, size := text[i], 1
		switch {
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			i++
			continue
		case c == '"':
			inString = !inString
		case c == '\\':
			size = 2
		case c >= 0x7f:
			var r rune
			if r, size = utf8.DecodeRune(text[i:]); acts(r) {
				b = appendEscape(b, r)
				i += size
				continue
			}
		}
		b = append(b, text[i:i+size]...)
		i += size
	}
	return b
}

// acts reports whether a character from U+007F on does something other than
// stand for itself where text is shown.
func acts(r rune) bool {
	switch {
	case r < 0xA0, // DEL, C1 controls
		r == 0x061C, r == 0x200E, r == 0x200F, // bidirectional marks
		0x2028 <= r && r <= 0x202E, // line separators, embeddings, overrides
		0x2066 <= r && r <= 0x2069, // isolates
		r == 0xFEFF:
		return true
	}
	return false
}

func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
