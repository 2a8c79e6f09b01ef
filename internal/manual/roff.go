package manual

import (
	"fmt"
	"regexp"
	"strings"
)

// page is written in the man(7) language, with what groff_man(7) calls its
// extensions only as far as mandoc has them too.
type page struct{ strings.Builder }

func newPage(name, summary string, e Edition) *page {
	p := &page{}
	fmt.Fprintf(p, ".TH \"%s\" 1 \"%s\" \"%s\" \"User Commands\"\n", // mandoc knows no date with \-
		escape(strings.ToUpper(name)), e.Date, escape(strings.TrimSpace("tongs-agents "+e.Version)))
	p.WriteString(".nr HY 0\n.nh\n.ad l\n.ss 12 0\n") // command lines are neither hyphenated nor spread
	p.macro("SH", "NAME")
	p.WriteString(escape(name) + ` \- ` + escape(summary) + "\n")
	return p
}

// macro prints a line that is a macro. The arguments are plain text.
func (p *page) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, arg := range args {
		p.WriteString(` "` + escape(arg) + `"`)
	}
	p.WriteByte('\n')
}

func (p *page) section(heading, text string) {
	p.macro("SH", heading)
	p.prose(text)
}

var (
	termLine   = regexp.MustCompile(`^(\S+) {2,}(\S.*)$`)
	longOption = regexp.MustCompile(`--[a-z][-a-z]*[a-z]`)
	argument   = regexp.MustCompile(`--?[a-z][-a-z]*|[A-Z]+`)
)

// prose prints text for people: paragraphs; indented lines, as they are; and
// terms, each followed on its line by spaces and what it means, which goes on
// in indented lines. The first paragraph needs no macro before it.
func (p *page) prose(text string) {
	first := true
	var term, verbatim bool
	end := func() {
		if verbatim {
			p.WriteString(".EE\n.RE\n")
		}
		term, verbatim = false, false
	}
	inParagraph := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		match := termLine.FindStringSubmatch(line)
		switch indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); {
		case line == "":
			end()
			inParagraph = false
			continue
		case indented && term:
			p.line(mark(strings.TrimSpace(line), longOption))
		case indented:
			if !verbatim {
				if !first {
					p.macro("PP")
				}
				p.WriteString(".RS 2\n.EX\n")
				verbatim, inParagraph = true, false
			}
			line, tab := strings.CutPrefix(line, "\t")
			if !tab {
				line = strings.TrimPrefix(line, "  ")
			}
			p.line(escape(line))
		case match != nil:
			end()
			p.macro("TP")
			p.macro("B", match[1])
			p.line(mark(match[2], longOption))
			term, inParagraph = true, false
		default:
			end()
			if !inParagraph && !first {
				p.macro("PP")
			}
			p.line(mark(strings.TrimLeft(line, "# "), longOption))
			inParagraph = true
		}
		first = false
	}
	end()
}

// usageLine prints how a program is called.
func (p *page) usageLine(name, args string) {
	p.line(`\fB` + escape(name) + `\fR` + mark(args, argument))
}

// flag prints the names of a flag, and that of its value if it takes one.
func (p *page) flag(short, long, value string) {
	if short != "" {
		fmt.Fprintf(p, `\fB\-%s\fR, `, escape(short))
	}
	fmt.Fprintf(p, `\fB\-\-%s\fR`, escape(long))
	if value != "" {
		fmt.Fprintf(p, ` \fI%s\fR`, escape(value))
	}
	p.WriteByte('\n')
}

// line prints a line of text, which is already escaped.
func (p *page) line(text string) {
	if strings.HasPrefix(text, ".") {
		p.WriteString(`\&`) // no macro
	}
	p.WriteString(text + "\n")
}

// mark escapes text, with options in bold and other matches in italics.
func mark(text string, pattern *regexp.Regexp) string {
	var b strings.Builder
	done := 0
	for _, m := range pattern.FindAllStringIndex(text, -1) {
		font := `\fI`
		if text[m[0]] == '-' {
			font = `\fB`
		}
		b.WriteString(escape(text[done:m[0]]) + font + escape(text[m[0]:m[1]]) + `\fR`)
		done = m[1]
	}
	return b.String() + escape(text[done:])
}

// escape makes text print as it is: groff has typographic quotes, accents and
// hyphens for some ASCII characters, which then cannot be pasted.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
