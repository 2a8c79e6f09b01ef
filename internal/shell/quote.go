// Package shell writes commands as text that a shell reads back, and reads the
// simple ones.
package shell

import (
	"fmt"
	"strings"

	"tongs-agents/internal/text"
)

// Command writes a command so that a shell reads it back word by word.
func Command(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = Word(arg)
	}
	// A first word like these is an assignment, or a job.
	if len(words) > 0 && words[0] == args[0] && strings.ContainsAny(args[0], "=%") {
		words[0] = "'" + args[0] + "'"
	}
	return strings.Join(words, " ")
}

// Quote writes a word so that every POSIX shell, and fish, read it back.
func Quote(s string) string {
	plain := s != "" && s[0] != '=' // which zsh expands
	for _, c := range []byte(s) {
		plain = plain && isPlain(c)
	}
	if plain {
		return s
	}
	return singleQuoted(s)
}

// Word writes a word so that bash and zsh read it back, and sh and fish
// too as long as a terminal shows it as it is. To any of them it is no more
// than a word.
func Word(s string) string {
	if quoted := Quote(s); text.Clean(quoted) == quoted {
		return quoted
	}
	// What a terminal would not show as it is, and the rest. A shell that does
	// not know $'…' finds no end of the quotes in it but the last.
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(s) {
		if isPlain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	return b.String() + "'"
}

// isPlain reports whether a byte means nothing to any shell.
func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:=@%+,", c) >= 0
}

// singleQuoted quotes a text. Its quotes and backslashes stand outside of the
// quotes: to fish, a backslash means something in them.
func singleQuoted(s string) string {
	var b strings.Builder
	quoted := false
	quote := func(want bool) {
		if quoted != want {
			b.WriteByte('\'')
			quoted = want
		}
	}
	for _, c := range []byte(s) {
		escaped := c == '\'' || c == '\\'
		quote(!escaped)
		if escaped {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	quote(false)
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}
