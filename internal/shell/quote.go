// Package shell writes commands as text that a shell reads back, and reads the
// simple ones.
package shell

import (
	"fmt"
	"slices"
	"strings"

	"tongs-agents/internal/text"
)

// Command writes a command so that a shell reads it back word by word, and runs
// the program of that name.
func Command(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = Word(arg)
	}
	if len(words) == 0 {
		return ""
	}
	name := args[0]
	assigns := strings.Contains(name, "=")
	if assigns && words[0] == name {
		words[0] = "'" + name + "'"
	}
	// A job is one in quotes, too. env would assign what looks like that.
	job := strings.HasPrefix(name, "%") && !assigns
	if job || slices.Contains(strings.Fields(ownWords), name) {
		words = append([]string{"env"}, words...)
	}
	return strings.Join(words, " ")
}

// ownWords are words that a shell, be it dash, bash, zsh, mksh or fish, does not
// take for the name of a program: its syntax, and commands of its own, some of
// which run their arguments. Those are missing that do what the program of their
// name does, such as echo.
const ownWords = `
	and begin case coproc do done elif else end esac fi for foreach function if in nocorrect not or repeat
	select switch then time until while
	. : builtin command eval exec noglob source
	abbr alias argparse autoload bg bind bindkey block break breakpoint bye caller cd cdh chdir commandline compadd
	compcall compctl compgen complete compopt contains continue count declare dirh dirs disable disown echotc echoti
	emit emulate enable exit export fc fg fish_config float funced funcsave functions getln getopts hash help history
	integer isatty jobs let limit local log logout mapfile math nextd nameref open path popd prevd print private pushd
	pushln r random read readarray readonly rehash return sched set set_color setenv setopt shift shopt status
	string suspend times trap ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt vared wait
	whence where which zcompile zformat zle zmodload zparseopts zregexparse zstyle`

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
