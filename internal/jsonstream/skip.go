package jsonstream

import (
	"bytes"
	"io"
)

// Skip reads a value and forgets it. It checks the grammar like a parser.
func (s *Scanner) Skip() error {
	var open nesting
	for {
		kind, err := s.Peek()
		if err != nil {
			return err
		}
		switch kind {
		case Object, Array:
			s.pos++
			if s.depth+open.depth == maxDepth {
				return ErrSyntax
			}
			open.push(kind)
			c, err := s.next()
			if err != nil {
				return err
			}
			if c != open.closing() {
				if err := s.skipKey(&open); err != nil {
					return err
				}
				continue
			}
			s.pos++
			open.pop()
		case String:
			err = s.skipString()
		case Number:
			err = s.skipNumber()
		case True:
			err = s.literal("true")
		case False:
			err = s.literal("false")
		case Null:
			err = s.literal("null")
		}
		if err != nil {
			return err
		}
		// A value has ended, and with it perhaps what it stands in.
		for {
			if open.depth == 0 {
				return nil
			}
			more, err := s.more(open.closing())
			if err != nil {
				return err
			}
			if more {
				break
			}
			open.pop()
		}
		if err := s.skipKey(&open); err != nil {
			return err
		}
	}
}

// skipKey skips a key and its colon if the next thing is a member.
func (s *Scanner) skipKey(open *nesting) error {
	if open.kind() == Array {
		return nil
	}
	if err := s.want(String); err != nil {
		if err == ErrType {
			err = ErrSyntax
		}
		return err
	}
	if err := s.skipString(); err != nil {
		return err
	}
	return s.colon()
}

// skipString skips a string, whose opening quote comes next.
func (s *Scanner) skipString() error {
	s.pos++
	quote := -1 // where the next quote stands in buf, or end; kept, since a text of many escapes would be searched anew for each
	for {
		if s.pos == s.end {
			if err := s.fill(); err != nil {
				return unexpected(err)
			}
			quote = -1
		}
		if quote < s.pos {
			if quote = bytes.IndexByte(s.buf[s.pos:s.end], '"'); quote < 0 {
				quote = s.end
			} else {
				quote += s.pos
			}
		}
		part := s.buf[s.pos:quote]
		escape := bytes.IndexByte(part, '\\')
		if escape >= 0 {
			part = part[:escape]
		}
		if s.read == nil && hasControl(part) {
			return ErrSyntax
		}
		s.pos += len(part)
		switch {
		case escape >= 0:
			s.pos++
			fills := s.fills
			if err := s.skipEscape(); err != nil {
				return err
			}
			if s.pos > quote || s.fills != fills {
				quote = -1
			}
		case quote < s.end:
			s.pos++
			return nil
		}
	}
}

// skipEscape skips what follows a backslash.
func (s *Scanner) skipEscape() error {
	c, err := s.byte()
	if err != nil {
		return unexpected(err)
	}
	s.pos++
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		_, err := s.hex4()
		return err
	}
	return ErrSyntax
}

func hasControl(p []byte) bool {
	for _, c := range p {
		if c < 0x20 {
			return true
		}
	}
	return false
}

// skipNumber skips a number by the grammar of RFC 8259.
func (s *Scanner) skipNumber() error {
	c, err := s.byte()
	if err == nil && c == '-' {
		s.pos++
		c, err = s.byte()
	}
	if err == nil && c == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	return s.skipFraction()
}

// skipFraction skips the fraction and the exponent of a number, if there are.
func (s *Scanner) skipFraction() error {
	c, err := s.byte()
	if err == nil && c == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
		c, err = s.byte()
	}
	if err == nil && (c == 'e' || c == 'E') {
		s.pos++
		if c, err = s.byte(); err == nil && (c == '+' || c == '-') {
			s.pos++
		}
		return s.digits()
	}
	if err == io.EOF {
		err = nil
	}
	return err
}

// digits skips one digit or more.
func (s *Scanner) digits() error {
	for n := 0; ; n++ {
		c, err := s.byte()
		if err != nil && (err != io.EOF || n == 0) {
			return unexpected(err)
		}
		if err != nil || !isDigit(c) {
			if n == 0 {
				return ErrSyntax
			}
			return nil
		}
		s.pos++
	}
}

// nesting remembers which objects and arrays are open: a bit each, set for an
// object.
type nesting struct {
	bits  [(maxDepth + 63) / 64]uint64
	depth int
}

func (n *nesting) push(k Kind) {
	bit := uint64(1) << (n.depth % 64)
	if k == Object {
		n.bits[n.depth/64] |= bit
	} else {
		n.bits[n.depth/64] &^= bit
	}
	n.depth++
}

func (n *nesting) pop() { n.depth-- }

func (n *nesting) kind() Kind {
	if n.bits[(n.depth-1)/64]&(1<<((n.depth-1)%64)) != 0 {
		return Object
	}
	return Array
}

func (n *nesting) closing() byte {
	if n.kind() == Object {
		return '}'
	}
	return ']'
}
