package monitor

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// From which width on a table shows more than where and how long ago: the state
// in words, the agent and the detail; the names of the columns; the title in a
// column of its own.
const (
	wordsWidth  = 48
	titlesWidth = wordsWidth
	titleWidth  = 100
)

// columns are how wide the columns of a table are, without the space between;
// 0 for one that is not there.
type columns struct {
	lead                            int // the selection and the sign, with the space after
	status, agent, repo, age, title int
	detail                          bool
}

// columns are those that fit, by all rows: they stay where they are when the
// table is scrolled.
func (m *model) columns(width int) columns {
	status, agent, repo, age, titled := 6, 5, 4, 3, false
	for _, l := range m.lines {
		if l.row == nil {
			continue
		}
		status, agent = max(status, len(l.row.Status)), max(agent, len(l.row.Harness))
		repo = max(repo, text.MaxWidth(text.Clean(l.row.Repo)))
		age = max(age, len(text.Span(m.now.Sub(time.Unix(l.row.TS, 0)))))
		titled = titled || l.row.Title != ""
	}
	c := columns{lead: 4}
	if m.once {
		c.lead = 2
	} else if width < 24 {
		c.lead = 3
	}
	if width >= 16 {
		c.age = age
	}
	room := width - c.lead - c.age
	if c.age > 0 {
		room--
	}
	if width < wordsWidth || m.Sidebar {
		c.repo = max(room, 0)
		return c
	}
	c.status, c.agent, c.detail = status, agent, true
	room -= status + agent + 2*gap
	if !m.grouped {
		c.repo = min(repo, max(width/5, 8))
		room -= c.repo + gap
	}
	if width >= titleWidth && titled {
		c.title = (room - gap) * 2 / 5
	}
	return c
}

const gap = 2 // cells between columns

// tableLines are the lines of the table that are on the screen, and above them
// the names of the columns. all asks for every row.
func (m *model) tableLines(l layout, all bool) []string {
	if len(m.lines) == 0 {
		return m.emptyLines(l.table.width)
	}
	c := m.columns(l.table.width)
	var lines []string
	if l.titles {
		lines = append(lines, m.titles(c, l.table.width))
	}
	shown := m.lines
	if !all {
		shown = m.lines[m.top:min(m.top+max(l.table.height, 0), len(m.lines))]
	}
	for i, line := range shown {
		if line.row == nil {
			lines = append(lines, m.headingLine(line.heading, l.table.width))
		} else {
			lines = append(lines, m.rowLine(m.aged(line.row), c, l.table.width, m.top+i == m.cursor && !m.once))
		}
	}
	return lines
}

func (m *model) titles(c columns, width int) string {
	p := m.pen(width)
	p.space(c.lead, style{})
	for _, column := range []struct {
		name  string
		width int
	}{{"STATUS", c.status}, {"AGENT", c.agent}, {"REPO", c.repo}} {
		if column.width > 0 {
			p.cell(column.name, column.width, m.theme.faint)
			p.space(gap, style{})
		}
	}
	p.right("AGE", c.age, m.theme.faint)
	p.space(gap, style{})
	if c.title > 0 {
		p.cell("TITLE", c.title, m.theme.faint)
		p.space(gap, style{})
	}
	p.put("DETAIL", m.theme.faint)
	return p.b.String()
}

func (m *model) headingLine(heading string, width int) string {
	p := m.pen(width)
	p.put(heading, m.theme.bold)
	return p.b.String()
}

func (m *model) rowLine(r *fsstore.Annotated, c columns, width int, selected bool) string {
	p := m.pen(width)
	look := m.theme.of(r)
	if selected {
		p.selected = 1
	}
	m.lead(p, r, c.lead, look)
	age := cmp.Or(listing.Age(r), m.signs.none)
	if !c.detail {
		where := cmp.Or(text.Clean(r.Repo), noDirectory)
		if m.grouped {
			where = r.Harness
		}
		name := m.theme.plain
		if r.NeedsAttention {
			name = look
		}
		p.cell(where, c.repo, name)
		if c.age > 0 {
			p.space(1, m.theme.plain)
			p.right(age, c.age, m.theme.faint)
		}
		return p.full(m.theme.plain)
	}
	p.cell(string(r.Status), c.status+gap, look)
	p.cell(r.Harness, c.agent+gap, m.theme.plain)
	if c.repo > 0 {
		p.cell(text.Fit(cmp.Or(text.Clean(r.Repo), m.signs.none), c.repo, m.signs.cut), c.repo+gap, m.theme.bold)
	}
	p.right(age, c.age, m.theme.faint)
	p.space(gap, m.theme.plain)
	title, detail := text.Clean(r.Title), listing.Detail(r)
	if c.title > 0 {
		p.cell(text.Fit(title, c.title, m.signs.cut), c.title+gap, m.theme.plain)
		p.put(detail, m.theme.plain)
		return p.full(m.theme.plain)
	}
	p.put(detail, m.theme.plain)
	if title != "" && p.left > len(m.signs.apart)+8 {
		p.put(m.signs.apart, m.theme.faint)
		p.put(title, m.theme.faint)
	}
	return p.full(m.theme.plain)
}

// lead writes whether the row is selected, and its sign.
func (m *model) lead(p *pen, r *fsstore.Annotated, width int, look style) {
	if !m.once {
		mark := " "
		if p.selected == 1 {
			mark = m.signs.selected
		}
		p.cell(mark, width-2, m.theme.bold)
	}
	p.cell(m.signs.of(r), 2, look)
}

// emptyLines say why there are no rows.
func (m *model) emptyLines(width int) []string {
	var head, more string
	switch {
	case !m.listed:
		head = "reading the store" + m.signs.cut
	case m.storeErr != nil:
		head, more = "no sessions can be read", "This view goes on trying."
	case m.query != "" && len(m.rows) > 0:
		head, more = "nothing matches "+m.query, fmt.Sprintf("Esc shows all %d sessions.", len(m.rows))
	case len(m.listing.Rows) > 0:
		head, more = "no such session", fmt.Sprintf("The flags leave out all %d sessions.", len(m.listing.Rows))
	case !m.listing.Exists:
		head, more = "no store yet", "It comes with the first report of an agent. tongs-agents install enters the hooks; sessions appear here by themselves."
	default:
		head, more = "no sessions", "They appear here once an agent reports. tongs-agents doctor says what is missing if they do not."
	}
	var lines []string
	lines = append(lines, "")
	add := func(s string, look style) {
		for _, part := range m.wrap(s, width-2, 8) {
			p := m.pen(width)
			p.space(2, style{})
			p.put(part, look)
			lines = append(lines, p.b.String())
		}
	}
	add(head, m.theme.bold)
	add(more, m.theme.faint)
	return lines
}

// reset ends a style, if it has to be.
func reset(s style) string {
	if s[0] == "" {
		return ""
	}
	return ansi.ResetStyle
}

// trimmed is a line without the spaces at its end.
func trimmed(s string) string { return strings.TrimRight(s, " ") }
