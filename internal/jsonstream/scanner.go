// Package jsonstream reads and writes JSON text without reflection and, when
// reading a stream, in constant memory.
//
// A value of any size can be skipped, and a text of any size can be cut at a
// limit, while no more than the scanner's buffer is held: hook payloads carry
// tool results of many megabytes, of which a record needs a hundred bytes.
// Libraries hold a whole string at least (docs/performance.md has the figures).
package jsonstream

import (
	"errors"
	"io"
)

var (
	ErrSyntax = errors.New("malformed JSON")
	ErrType   = errors.New("JSON value of another type")
)

// maxDepth is how deep values may nest: as deep as encoding/json lets them.
const maxDepth = 10000

// Kind is the first byte of a value; every number has kind Number.
type Kind byte

const (
	Object Kind = '{'
	Array  Kind = '['
	String Kind = '"'
	Number Kind = '0'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
)

// Scanner reads one JSON value, piece by piece.
type Scanner struct {
	read     func([]byte) (int, error) // nil: buf holds the whole text
	buf      []byte
	pos, end int    // the unread bytes are buf[pos:end]
	fills    int    // how often the stream was read, and buf moved
	depth    int    // of the objects and arrays that are being read
	key      []byte // the latest key
	keySpace []byte // for one that does not stand in the text as it is
	keyLimit int
}

// NewReader returns a scanner of a stream. It reads into buf and needs no more
// memory than that; read has the contract of io.Reader. In strings it takes
// control characters as they come. A key that is flawed or longer than 64
// bytes (LimitKeys) is given as the empty key.
func NewReader(read func([]byte) (int, error), buf []byte) *Scanner {
	return &Scanner{read: read, buf: buf, keyLimit: 64}
}

// LimitKeys sets how long a key may be, in bytes.
func (s *Scanner) LimitKeys(max int) { s.keyLimit = max }

// NewBytes returns a scanner of a text in memory. It is strict: a control
// character in a string is ErrSyntax, as RFC 8259 has it.
func NewBytes(text []byte) *Scanner {
	s := new(Scanner)
	s.Reset(text)
	return s
}

// Reset begins a new text in memory, with the space of the former one.
func (s *Scanner) Reset(text []byte) {
	*s = Scanner{buf: text, end: len(text), keyLimit: len(text), keySpace: s.keySpace[:0]}
}

// Peek returns the kind of the next value and leaves the value where it is.
func (s *Scanner) Peek() (Kind, error) {
	c, err := s.next()
	if err != nil {
		return 0, err
	}
	switch k := Kind(c); k {
	case Object, Array, String, True, False, Null:
		return k, nil
	}
	if c == '-' || isDigit(c) {
		return Number, nil
	}
	return 0, ErrSyntax
}

// Object reads an object. For each member it calls member, which must read the
// value with exactly one call. The key is valid until the next one is read.
func (s *Scanner) Object(member func(key []byte) error) error {
	if err := s.enter(Object); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	if c, err := s.next(); err != nil || c == '}' {
		s.pos++
		return err
	}
	for {
		if err := s.readKey(); err != nil {
			return err
		}
		if err := member(s.key); err != nil {
			return err
		}
		if more, err := s.more('}'); err != nil || !more {
			return err
		}
	}
}

// Array reads an array and calls element in front of each element.
func (s *Scanner) Array(element func() error) error {
	if err := s.enter(Array); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	if c, err := s.next(); err != nil || c == ']' {
		s.pos++
		return err
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if more, err := s.more(']'); err != nil || !more {
			return err
		}
	}
}

// Int reads a number without fraction and exponent that fits an int64. Any
// other number is read too, and ErrType.
func (s *Scanner) Int() (int64, error) {
	if err := s.want(Number); err != nil {
		return 0, err
	}
	negative := s.buf[s.pos] == '-'
	if negative {
		s.pos++
	}
	n, digits, zero, fits := int64(0), 0, false, true
	for {
		c, err := s.byte()
		if err != nil && (err != io.EOF || digits == 0) {
			return 0, unexpected(err)
		}
		if err != nil || !isDigit(c) {
			if digits == 0 || zero && digits > 1 {
				return 0, ErrSyntax
			}
			if err == nil && (c == '.' || c == 'e' || c == 'E') {
				fits = false
				if err := s.skipFraction(); err != nil {
					return 0, err
				}
			}
			if !fits {
				return 0, ErrType
			}
			return n, nil
		}
		// Downwards, so that the least int64 fits; negated at the end.
		d := int64(c - '0')
		if negative {
			d = -d
		}
		zero = zero || digits == 0 && c == '0'
		next := n*10 + d
		fits = fits && n <= maxInt/10 && n >= -maxInt/10 && (negative == (next < 0) || next == 0)
		n = next
		digits++
		s.pos++
	}
}

const maxInt = 1<<63 - 1

// Bool reads true or false.
func (s *Scanner) Bool() (bool, error) {
	k, err := s.Peek()
	switch {
	case err != nil:
		return false, err
	case k == True:
		return true, s.literal("true")
	case k == False:
		return false, s.literal("false")
	}
	return false, ErrType
}

// Null reads null if that is the next value, and reports whether it was.
func (s *Scanner) Null() (bool, error) {
	k, err := s.Peek()
	if err != nil || k != Null {
		return false, err
	}
	return true, s.literal("null")
}

// Raw reads a value and returns its text, a part of the scanner's own. Only
// for a scanner of a text in memory.
func (s *Scanner) Raw() ([]byte, error) {
	if s.read != nil {
		panic("jsonstream: Raw of a stream")
	}
	if _, err := s.next(); err != nil {
		return nil, err
	}
	start := s.pos
	if err := s.Skip(); err != nil {
		return nil, err
	}
	return s.buf[start:s.pos], nil
}

// End reports whether nothing but white space is left: nil, or ErrSyntax.
func (s *Scanner) End() error {
	switch _, err := s.next(); err {
	case io.ErrUnexpectedEOF:
		return nil
	case nil:
		return ErrSyntax
	default:
		return err
	}
}

func (s *Scanner) open(k Kind) error {
	if err := s.want(k); err != nil {
		return err
	}
	s.pos++
	return nil
}

// enter opens an object or array.
func (s *Scanner) enter(k Kind) error {
	if err := s.open(k); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return ErrSyntax
	}
	return nil
}

// want moves to the next value and demands its kind.
func (s *Scanner) want(k Kind) error {
	got, err := s.Peek()
	if err == nil && got != k {
		err = ErrType
	}
	return err
}

// readKey reads a key and its colon.
func (s *Scanner) readKey() error {
	if c, err := s.next(); err != nil {
		return err
	} else if c != '"' {
		return ErrSyntax
	}
	if key, ok := s.Span(); ok {
		s.key = key
		return s.colon()
	}
	space, flaws, err := s.Text(s.keySpace[:0], s.keyLimit)
	s.key, s.keySpace = space, space
	if err == nil && flaws != 0 {
		// What is left of a flawed key must not pass for another one.
		s.key = nil
		if s.read == nil {
			err = ErrSyntax
		}
	}
	if err != nil {
		return err
	}
	return s.colon()
}

func (s *Scanner) colon() error {
	c, err := s.next()
	if err == nil && c != ':' {
		err = ErrSyntax
	}
	s.pos++
	return err
}

// more reads what follows a member or element: a comma or the closing bracket.
func (s *Scanner) more(closing byte) (bool, error) {
	c, err := s.next()
	if err == nil && c != ',' && c != closing {
		err = ErrSyntax
	}
	s.pos++
	return c == ',', err
}

// literal reads one of the three names.
func (s *Scanner) literal(name string) error {
	for i := range len(name) {
		c, err := s.byte()
		if err != nil {
			return unexpected(err)
		}
		if c != name[i] {
			return ErrSyntax
		}
		s.pos++
	}
	return nil
}

// next returns the next byte that is not white space and does not read it.
func (s *Scanner) next() (byte, error) {
	for {
		c, err := s.byte()
		if err != nil {
			return 0, unexpected(err)
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, nil
		}
		s.pos++
	}
}

// byte returns the next byte and does not read it.
func (s *Scanner) byte() (byte, error) {
	if s.pos == s.end {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	return s.buf[s.pos], nil
}

// fill reads more of the stream behind the unread bytes.
func (s *Scanner) fill() error {
	if s.read == nil {
		return io.EOF
	}
	s.fills++
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	n, err := s.read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.EOF
	}
	return err
}

// unexpected is the error for an end in the middle of a value.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
