package shell

import "strings"

// Split reads a simple command: words, plain or quoted. A variable or a tilde
// in a word stays as it is written. Anything that makes it more than one simple
// command, or takes its words from elsewhere, is not ok.
func Split(command string) (words []string, ok bool) {
	var word strings.Builder
	in := false // a word has begun
	end := func() {
		if in {
			words = append(words, word.String())
		}
		word.Reset()
		in = false
	}
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == ' ' || c == '\t':
			end()
			continue
		case c == '\'':
			n := strings.IndexByte(command[i+1:], '\'')
			if n < 0 {
				return nil, false
			}
			word.WriteString(command[i+1 : i+1+n])
			i += n + 1
		case c == '"':
			n, text, ok := doubleQuoted(command[i+1:])
			if !ok {
				return nil, false
			}
			word.WriteString(text)
			i += n
		case c == '\\' && i+1 < len(command) && command[i+1] != '\n':
			i++
			word.WriteByte(command[i])
		case c == '#' && in, c == '$' && isExpansion(command[i+1:]):
			word.WriteByte(c)
		case strings.IndexByte("\\\n#$`;&|<>()*?[", c) >= 0:
			return nil, false
		default:
			word.WriteByte(c)
		}
		in = true
	}
	end()
	return words, true
}

// doubleQuoted reads up to the quote that ends a text, and returns how long it
// is with that quote.
func doubleQuoted(s string) (n int, text string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, b.String(), true
		case c == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == '`', c == '$' && !isExpansion(s[i+1:]):
			return 0, "", false
		default:
			b.WriteByte(c)
		}
	}
	return 0, "", false
}

// isExpansion reports whether what follows a dollar sign is a variable's name.
func isExpansion(s string) bool {
	s = strings.TrimPrefix(s, "{")
	return s != "" && (s[0] == '_' || 'a' <= s[0] && s[0] <= 'z' || 'A' <= s[0] && s[0] <= 'Z')
}
