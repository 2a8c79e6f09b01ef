package monitor

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"tongs-agents/internal/text"
)

// span is a part of a line. Its text is clean.
type span struct {
	text  string
	style style
}

// pen writes one line of so many cells, and never more.
type pen struct {
	b        strings.Builder
	method   ansi.Method
	cut      string
	left     int
	selected int // 1 on the selected line: the index into a style
}

func (m *model) pen(width int) *pen {
	return &pen{method: m.method, cut: m.signs.cut, left: width}
}

// put writes as much of a text as there is room for.
func (p *pen) put(s string, st style) {
	s = text.Fit(s, p.left, p.cut)
	if s == "" {
		return
	}
	p.left -= p.cells(s)
	if start := st[p.selected]; start != "" {
		p.b.WriteString(start + s + ansi.ResetStyle)
	} else {
		p.b.WriteString(s)
	}
}

// cell writes a text into a column, and the spaces after it.
func (p *pen) cell(s string, width int, st style) {
	width = min(width, p.left)
	after := p.left - width
	p.put(text.Fit(s, width, p.cut), st)
	p.space(p.left-after, st)
}

// right is cell for a text that ends where its column does.
func (p *pen) right(s string, width int, st style) {
	width = min(width, p.left)
	s = text.Fit(s, width, p.cut)
	p.space(width-p.cells(s), st)
	p.put(s, st)
}

// space writes spaces.
func (p *pen) space(n int, st style) {
	n = min(n, p.left)
	if n <= 0 {
		return
	}
	p.left -= n
	spaces := strings.Repeat(" ", n)
	if p.selected == 1 {
		p.b.WriteString(st[1] + spaces + ansi.ResetStyle)
	} else {
		p.b.WriteString(spaces)
	}
}

// full returns the line with spaces up to its end.
func (p *pen) full(st style) string {
	p.space(p.left, st)
	return p.b.String()
}

// cells is how many cells a clean text takes on this terminal.
func (p *pen) cells(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return p.method.StringWidth(s)
		}
	}
	return len(s)
}

// wrap breaks a clean text into at most that many lines, of which the last is
// cut.
func (m *model) wrap(s string, width, most int) []string {
	if width <= 0 || s == "" {
		return nil
	}
	lines := strings.Split(ansi.WcWidth.Wrap(s, width, ""), "\n")
	if len(lines) > most {
		lines[most-1] = strings.Join(lines[most-1:], " ")
		lines = lines[:most]
	}
	for i := range lines {
		lines[i] = text.Fit(strings.TrimSpace(lines[i]), width, m.signs.cut)
	}
	return lines
}
