//go:build !(386 || arm)

package main

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// text is one that an agent might be made to say.
type text struct {
	name string
	s    string
	json string // as it stands in a payload, if s cannot say it

	blank bool // nothing of it can be seen
}

// canary is the name of the file that exists once anything in a text was run,
// and the word that a terminal shows where it should not.
const canary = "PWNED"

// texts are the hostile ones. The first is not: what the programs do with it is
// what they must do with the others. All but those whose beginning matters
// begin with a word that has to be seen in the end.
var texts = []text{
	{name: "plain", s: "begin plain"},

	// What terminals act on.
	{name: "colour, cursor, erase", s: "begin \x1b[31;7m\x1b[2J\x1b[1;1H\x1b[5A\x1b[KPWNED"},
	{name: "title", s: "begin \x1b]0;PWNED\x07\x1b]2;PWNED\x1b\\\x1bkPWNED\x1b\\\x1b[22t"},
	{name: "title without an end", s: "begin \x1b]0;PWNED"},
	{name: "clipboard, link, notice", s: "begin \x1b]52;c;UFdORUQ=\x07\x1b]8;;http://PWNED/\x1b\\x\x1b]8;;\x1b\\\x1b]9;PWNED\x07\x1b]777;notify;PWNED;x\x07"},
	{name: "passthrough", s: "begin \x1bPtmux;\x1b\x1b]0;PWNED\x07\x1b\\\x1bP$qm\x1b\\"},
	{name: "modes", s: "begin \x1b[?1049h\x1b[?25l\x1b[?1003h\x1b[5;6r\x1b[4h\x1b[?6h\x1b[?7l\x1b=\x1b[?2004h"},
	{name: "reset, charset, shift", s: "begin \x1bc\x1b(0\x0eqqq\x1b#8\x1b[!p"},
	{name: "questions", s: "begin \x1b[c\x1b[6n\x1b[>q\x1b]10;?\x07\x05"},
	{name: "sequence without an end", s: "begin \x1b["},
	{name: "C1", s: "begin \u009b31m\u009b2J\u009d0;PWNED\u009c\u0090q\u009c\u0084\u008d"},
	{name: "C1 in bytes", s: "begin \x9b2J\x9d0;PWNED\x9c"},
	{name: "not UTF-8", s: "begin \xff\xfe\xc0\xaf\xed\xa0\x80\xf5 end"},
	{name: "controls", s: "begin \b\b\b\b\b\bPWNED\x7f\x07\x0b\x0c\x00\x01"},
	{name: "line ends", s: "begin a\nb\rc\r\nd\u2028e\u2029f\u0085g\vh\fi\tj\n\n"},
	{name: "end of a paste", s: "begin \x1b[201~\n touch PWNED\n"},

	// What does not look like what it is.
	{name: "bidi", s: "begin \u202eabc\u202c\u2066d\u2067e\u2069\u200f\u061c שלום"},
	{name: "combining", s: "begin e" + strings.Repeat("\u0301\u0489", 150)},
	{name: "combining first", s: "\u0301\u20ddbegin"},
	{name: "wide", s: "begin 中文字宽 한글 👩\u200d💻 🇩🇪 1\ufe0f\u20e3 ❤\ufe0f 👍🏽 ﷽ 𒐫 ᩧ"},
	{name: "zero-width", s: "begin \u200b\u200c\u200d\ufeff\u2060\u00ad\u034f\u180e\u3164\U000e0041\U000e007f"},
	{name: "joiners", s: "begin a\u200db \u200d👩\u200d x\u200d ن\u200d"},
	{name: "zero-width alone", s: "\u200b\u2060\ufeff", blank: true},
	{name: "no characters", s: "begin \ufffe\uffff\U0010ffff\ufdd0\ue0b0"},
	{name: "lone surrogates", s: "begin \ufffd\ufffdx", json: `"begin \ud800\udfffx"`},
	{name: "NUL", s: "begin ab", json: `"begin a\u0000b"`},
	{name: "escaped twice", s: `begin \u001b[31m\x1b]0;PWNED\x07\n\\`},
	{name: "64 KiB word", s: "begin" + strings.Repeat("x", 64<<10)},
	{name: "64 KiB of spaces", s: "begin " + strings.Repeat(" ", 64<<10) + "end"},
	{name: "64 KiB of ESC [", s: "begin " + strings.Repeat("\x1b[", 32<<10)},

	// What shells act on.
	{name: "substitution", s: "begin $(touch PWNED)`touch PWNED`${x:=y}$((1))<(touch PWNED)$PATH"},
	{name: "substitution first", s: "$(touch PWNED)"},
	{name: "quotes", s: `begin '; touch PWNED; '"; touch PWNED; "\'; touch PWNED; #`},
	{name: "one quote", s: `begin '`},
	{name: "quote and a bang", s: `begin it's!!!$ !touch ^a^b^ don't "!x" \`},
	{name: "backslashes", s: `begin \' \\' \$(touch PWNED) $'\x27;touch PWNED' \`},
	{name: "several commands", s: "begin ; touch PWNED & touch PWNED | touch PWNED || touch PWNED > PWNED"},
	{name: "lines of commands", s: "begin\ntouch PWNED\n#\\\ntouch PWNED\n"},
	{name: "expansion", s: "begin ~root * ? [a-z] {a,b} =ls %1 !! #x"},
	{name: "home first", s: "~root/{a,b}"},
	{name: "option first", s: "--help=$(touch PWNED)"},
	{name: "assignment first", s: "PATH=/PWNED"},
	{name: "zsh first", s: "=ls"},
	{name: "job first", s: "%1"},
	{name: "comment first", s: "# begin"},
	{name: "keyword", s: "if"},
	{name: "tab and control", s: "begin \ttouch PWNED\x04\x03\x1a\x15"},

	// What bars, templates and parsers act on.
	{name: "tmux", s: "begin #(touch PWNED)#{pid}#[fg=red,align=right]%H #{?x,a,b},} ##(touch PWNED) ###(touch PWNED)"},
	{name: "tmux, many", s: "#(touch PWNED)##[bg=red]#########(touch PWNED)#"},
	{name: "template", s: `begin {{.Cwd}}{{printf "PWNED"}}{{range}}{{/*`},
	{name: "verbs", s: "begin %s%n%d%x%!d(%%"},
	{name: "markup", s: `begin <b>PWNED</b>&amp;&#27;<span foreground="red"><a href='x'>]]><!-- & <`},
	{name: "JSON", s: `begin","status":"waiting","title":"PWNED","x":["`},
	{name: "metrics", s: "begin\"} 1\ntongs_agents_sessions{harness=\"PWNED\"} 1\n# TYPE"},
	{name: "path", s: "../../../../../../tmp/PWNED"},
	{name: "help", s: "_activeHelp_ PWNED"},
}

// payload is the text as a JSON string with nothing mended: a harness that does
// not encode its payload well gives it like that.
func (t text) payload() string {
	if t.json != "" {
		return t.json
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(t.s) {
		switch c := t.s[i]; {
		case c == '"', c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			b.WriteString(`\u00` + strconv.FormatInt(int64(c)+0x100, 16)[1:])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// stored is the text as a record of at most so many bytes can hold it.
func (t text) stored(most int) string {
	return cut(strings.ReplaceAll(strings.ToValidUTF8(t.s, "\ufffd"), "\x00", ""), most)
}

// exact reports whether the text could be a name, of which nothing is mended.
func (t text) exact(most int) bool { return t.json == "" && t.stored(most) == t.s }

// word is what has to be seen of the text; "": nothing need be.
func (t text) word() string {
	if strings.HasPrefix(t.s, "begin") {
		return "begin"
	}
	return ""
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
