package text

// sequence is where in an escape sequence a text is: the part of the parser of
// a VT500 that says what belongs to one, see vt100.net/emu/dec_ansi_parser.
type sequence int

const (
	ground       sequence = iota
	escape                // after ESC
	intermediate          // after ESC and a character such as ( or #
	control               // CSI: parameters, up to a final character
	command               // OSC: a string up to BEL or ST
	deviceText            // DCS, SOS, PM, APC: a string up to ST
)

// next returns where the text is after r, and whether r is no part of a
// sequence.
func (s sequence) next(r rune) (sequence, bool) {
	const bel, can, sub, esc = 0x07, 0x18, 0x1A, 0x1B
	switch {
	case r == esc: // also ends a string: ST is ESC \
		return escape, false
	case r == can, r == sub:
		return ground, false
	case 0x80 <= r && r < 0xA0 && r != 0x85: // C1 controls, but for the line end NEL
		return s.after(r - 0x40)
	}
	switch s {
	case escape, intermediate:
		switch {
		case r < ' ': // acts as if it stood before the sequence
			return s, true
		case r < '0':
			return intermediate, false
		case r == 0x7f:
			return s, false
		case r < 0x7f && s == intermediate:
			return ground, false
		case r < 0x7f:
			return s.after(r)
		}
	case control:
		switch {
		case r < ' ':
			return control, true
		case r < '@', r == 0x7f:
			return control, false
		case r < 0x7f:
			return ground, false
		}
	case command, deviceText:
		if s == command && r == bel {
			return ground, false
		}
		return s, false
	}
	return ground, true
}

// after returns where the text is after ESC and a final character. Within a
// string a C1 control that is not ST is a part of it.
func (s sequence) after(final rune) (sequence, bool) {
	switch {
	case s == command || s == deviceText:
		if final != '\\' {
			return s, false
		}
	case final == '[':
		return control, false
	case final == ']':
		return command, false
	case final == 'P', final == 'X', final == '^', final == '_':
		return deviceText, false
	}
	return ground, false
}
