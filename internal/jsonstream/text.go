package jsonstream

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Flaws are what is not as it should be in a text. The text is usable all the
// same: whoever reads it decides which flaws it accepts.
type Flaws uint8

const (
	Cut       Flaws = 1 << iota // longer than the limit, and cut there
	HasNUL                      // with NUL, dropped
	Surrogate                   // with a lone surrogate, now U+FFFD
	Malformed                   // with bytes that are no UTF-8, each now U+FFFD
)

// Text reads a string and appends at most limit bytes of it to dst, cut
// between characters. The result is valid UTF-8 without NUL if dst is.
func (s *Scanner) Text(dst []byte, limit int) ([]byte, Flaws, error) {
	if err := s.open(String); err != nil {
		return dst, 0, err
	}
	var flaws Flaws
	limit += len(dst)
	for {
		c, err := s.byte()
		if err != nil {
			return dst, flaws, unexpected(err)
		}
		switch {
		case c == '"':
			s.pos++
			return dst, flaws, nil
		case c < 0x20 && s.read == nil:
			return dst, flaws, ErrSyntax
		case c == 0:
			s.pos++
			flaws |= HasNUL
			continue
		case c < utf8.RuneSelf && c != '\\':
			plain := s.plain()
			if len(dst)+len(plain) > limit {
				dst = append(dst, plain[:limit-len(dst)]...)
				return s.cut(dst, flaws)
			}
			dst = append(dst, plain...)
			s.pos += len(plain)
			continue
		}
		r, flaw, err := s.rune(c)
		if err != nil {
			return dst, flaws, err
		}
		flaws |= flaw
		if flaw == HasNUL {
			continue
		}
		if len(dst)+utf8.RuneLen(r) > limit {
			return s.cut(dst, flaws)
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// Span reads a string of plain ASCII without an escape and returns the part of
// the text that it is. Of any other it reads nothing, nor of a stream.
func (s *Scanner) Span() ([]byte, bool) {
	if c, err := s.next(); err != nil || c != '"' || s.read != nil {
		return nil, false
	}
	from := s.pos + 1
	for i := from; i < s.end; i++ {
		switch c := s.buf[i]; {
		case c == '"':
			s.pos = i + 1
			return s.buf[from:i], true
		case c == '\\' || c < 0x20 || c >= utf8.RuneSelf:
			return nil, false
		}
	}
	return nil, false
}

// cut skips the rest of a string, of which dst is the beginning.
func (s *Scanner) cut(dst []byte, flaws Flaws) ([]byte, Flaws, error) {
	s.pos-- // skipString begins by passing the opening quote
	return dst, flaws | Cut, s.skipString()
}

// plain returns the run of unread bytes that stand for themselves.
func (s *Scanner) plain() []byte {
	i := s.pos
	for i < s.end && s.buf[i] >= 0x20 && s.buf[i] < utf8.RuneSelf && s.buf[i] != '"' && s.buf[i] != '\\' {
		i++
	}
	if i == s.pos { // a control character in a stream
		i++
	}
	return s.buf[s.pos:i]
}

// rune reads an escape or a character of several bytes, whose first is c.
func (s *Scanner) rune(c byte) (rune, Flaws, error) {
	if c == '\\' {
		s.pos++
		return s.escape()
	}
	for !utf8.FullRune(s.buf[s.pos:s.end]) {
		if s.fill() != nil {
			break
		}
	}
	r, size := utf8.DecodeRune(s.buf[s.pos:s.end])
	s.pos += size
	if r == utf8.RuneError && size == 1 {
		return r, Malformed, nil
	}
	return r, 0, nil
}

// escape reads what follows a backslash.
func (s *Scanner) escape() (rune, Flaws, error) {
	c, err := s.byte()
	if err != nil {
		return 0, 0, unexpected(err)
	}
	s.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), 0, nil
	case 'b':
		return '\b', 0, nil
	case 'f':
		return '\f', 0, nil
	case 'n':
		return '\n', 0, nil
	case 'r':
		return '\r', 0, nil
	case 't':
		return '\t', 0, nil
	case 'u':
		return s.unicode()
	}
	return 0, 0, ErrSyntax
}

// unicode reads the digits of a \u escape, and a second one after the first
// half of a surrogate pair.
func (s *Scanner) unicode() (rune, Flaws, error) {
	r, err := s.hex4()
	if err != nil {
		return 0, 0, err
	}
	if r == 0 {
		return 0, HasNUL, nil
	}
	if !utf16.IsSurrogate(r) {
		return r, 0, nil
	}
	if r >= 0xDC00 {
		return utf8.RuneError, Surrogate, nil
	}
	low, ok := s.lowSurrogate()
	if !ok {
		return utf8.RuneError, Surrogate, nil
	}
	s.pos += len(`\uDC00`)
	return utf16.DecodeRune(r, low), 0, nil
}

// lowSurrogate looks for the second half of a pair and does not read it. It
// waits for no byte more than it takes to tell: the stream may stay open.
func (s *Scanner) lowSurrogate() (rune, bool) {
	var r rune
	for i := range len(`\uDC00`) {
		for s.pos+i >= s.end {
			if s.fill() != nil {
				return 0, false // the caller meets the end itself
			}
		}
		c := s.buf[s.pos+i]
		d, hex := hexDigit(c)
		if i == 0 && c != '\\' || i == 1 && c != 'u' || i > 1 && !hex {
			return 0, false
		}
		r = r<<4 | d
	}
	r &= 0xFFFF
	return r, 0xDC00 <= r && r <= 0xDFFF
}

func (s *Scanner) hex4() (rune, error) {
	var r rune
	for range 4 {
		c, err := s.byte()
		if err != nil {
			return 0, unexpected(err)
		}
		d, ok := hexDigit(c)
		if !ok {
			return 0, ErrSyntax
		}
		r = r<<4 | d
		s.pos++
	}
	return r, nil
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case isDigit(c):
		return rune(c - '0'), true
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}
