package monitor

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

// area is a part of the screen.
type area struct{ y, width, height int }

// layout is what is where: the header, the banners, then the body, which is the
// table and the details at its right or below, and the footer.
type layout struct {
	banners []string
	body    area
	titles  bool // a line above the table names its columns
	table   area
	pane    area // height 0: there is none
	beside  bool // it is at the right
	footer  []string
}

func (m *model) layout() layout {
	l := layout{banners: m.banners()}
	room := max(m.height-1, 0) // after the header
	if m.height >= 3 {
		l.footer = m.footer()
		room -= len(l.footer)
	}
	l.banners = l.banners[:min(len(l.banners), max(room-1, 0))]
	room -= len(l.banners)
	l.body = area{1 + len(l.banners), m.width, room}
	l.table = l.body
	if m.showsPane() && m.selected() != nil {
		switch {
		case m.width >= besideWidth:
			l.beside = true
			l.pane = area{l.body.y, min(max(m.width*2/5, 44), 76), room}
			l.table.width -= l.pane.width + 3 // and the bar
		case room >= 6:
			unused := room - len(m.lines) - 2 // by the table, its titles and the rule
			height := min(max(room/2, unused, 3), paneHeight)
			l.pane = area{l.body.y + room - height, m.width, height}
			l.table.height -= height + 1 // and the rule
		}
	}
	l.titles = l.table.height >= 6 && l.table.width >= titlesWidth && len(m.lines) > 0 && !m.Sidebar
	if l.titles {
		l.table.y++
		l.table.height--
	}
	return l
}

// screen is the screen, line by line: as many as it has.
func (m *model) screen() []string {
	l := m.layout()
	lines := make([]string, 0, max(m.height, 1))
	lines = append(lines, m.header(m.width))
	for _, b := range l.banners {
		p := m.pen(m.width)
		p.put(b, m.theme.failed)
		lines = append(lines, p.b.String())
	}
	switch {
	case m.help:
		lines = append(lines, window(m.helpLines(), m.helpTop, l.body.height)...)
	case l.beside:
		lines = append(lines, m.beside(window(m.tableLines(l, false), 0, l.body.height), l)...)
	default:
		lines = append(lines, window(m.tableLines(l, false), 0, l.body.height-rule(l.pane.height))...)
		if l.pane.height > 0 {
			lines = append(lines, m.theme.faint[0]+strings.Repeat(m.signs.rule, m.width)+reset(m.theme.faint))
			lines = append(lines, window(m.paneLines(m.width), 0, l.pane.height)...)
		}
	}
	lines = append(lines, l.footer...)
	return lines[:min(len(lines), m.height)]
}

// rule is how many lines a pane takes with the rule above it.
func rule(pane int) int {
	if pane == 0 {
		return 0
	}
	return pane + 1
}

// window is a part of lines, of exactly that height.
func window(lines []string, top, height int) []string {
	w := make([]string, max(height, 0))
	copy(w, lines[min(top, len(lines)):])
	return w
}

// beside puts the details at the right of the table.
func (m *model) beside(table []string, l layout) []string {
	pane := window(m.paneLines(l.pane.width), 0, l.pane.height)
	bar := " " + m.theme.faint[0] + m.signs.bar + reset(m.theme.faint) + " "
	lines := make([]string, len(table))
	for i, left := range table {
		if missing := l.table.width - m.method.StringWidth(left); missing > 0 {
			left += strings.Repeat(" ", missing)
		}
		lines[i] = left + bar + pane[i]
	}
	return lines
}

// header counts. The longest one that fits is taken.
func (m *model) header(width int) string {
	s := listing.Summarize(m.rows)
	need, look := fmt.Sprintf("%d need you", s.NeedsAttention), m.theme.attention
	switch s.NeedsAttention {
	case 0:
		need, look = "none needs you", m.theme.plain
	case 1:
		need = "1 needs you"
	}
	total := fmt.Sprintf("%d sessions", s.Total)
	if s.Total == 1 {
		total = "1 session"
	}
	others := fmt.Sprintf("%d active%s%d idle", s.Active, m.signs.apart, s.Idle)
	short := fmt.Sprintf("%d%s", s.NeedsAttention, m.signs.waiting)
	apart := span{m.signs.apart, m.theme.faint}
	if !m.listed || m.storeErr != nil {
		p := m.pen(width)
		p.put("tongs-agents", m.theme.bold)
		return p.b.String()
	}
	for _, spans := range [][]span{
		{{"tongs-agents", m.theme.bold}, {"  ", m.theme.plain}, {need, look}, apart, {others, m.theme.plain}, apart, {total, m.theme.plain}},
		{{need, look}, apart, {others, m.theme.plain}, apart, {total, m.theme.plain}},
		{{need, look}, apart, {total, m.theme.plain}},
		{{short, look}, {fmt.Sprintf(" of %d", s.Total), m.theme.plain}},
		{{short, look}},
	} {
		p := m.pen(width)
		needed := 0
		for _, s := range spans {
			needed += p.cells(s.text)
		}
		if needed > width {
			continue
		}
		for _, s := range spans {
			p.put(s.text, s.style)
		}
		if how := m.how(); p.cells(how)+2 <= p.left {
			p.right(how, p.left, m.theme.faint)
		}
		return p.b.String()
	}
	return ""
}

// how says in what order the rows are, if not in their own.
func (m *model) how() string {
	var words []string
	if m.order != byAttention {
		words = append(words, "by "+m.order.String())
	}
	if m.grouped {
		words = append(words, "grouped by repo")
	}
	return strings.Join(words, m.signs.apart)
}

// banners say what is wrong with the store.
func (m *model) banners() []string {
	var b []string
	if m.storeErr != nil {
		b = append(b, m.signs.failed+" "+text.Clean(m.storeErr.Error()))
	}
	if m.maintained != nil && (m.storeErr == nil || m.storeErr.Error() != m.maintained.Error()) {
		b = append(b, m.signs.failed+" cleanup: "+text.Clean(m.maintained.Error()))
	}
	return b
}

// footer is the query while there is one, else what the last key came to, else
// what keys there are; and at its end how many files are no records. Only what a
// key came to may need several lines, for its end is the reason.
func (m *model) footer() []string {
	p := m.pen(m.width)
	unreadable := m.unreadable()
	if room := m.width - p.cells(unreadable) - 2; unreadable != "" && room > 0 {
		p.left = room
	}
	if notice, look := m.said(); !m.typing && text.MaxWidth(notice) > p.left {
		var lines []string
		for _, part := range m.wrap(notice, m.width, max(m.height/3, 1)) {
			p := m.pen(m.width)
			p.put(part, look)
			lines = append(lines, p.b.String())
		}
		return lines
	}
	end := m.width - p.left
	m.foot(p)
	if end > 0 {
		p.space(p.left, style{})
		p.left = end
		p.right(unreadable, end, m.theme.failed)
	}
	return []string{p.b.String()}
}

// unreadable counts the files that are no records, in words if there is room.
func (m *model) unreadable() string {
	n := len(m.listing.Unreadable)
	if n == 0 {
		return ""
	}
	words := fmt.Sprintf("%d unreadable", n)
	if len(words)+12 > m.width {
		return fmt.Sprintf("%s%d", m.signs.failed, n)
	}
	return words
}

// said is what the last key came to, and how it looks.
func (m *model) said() (string, style) {
	if m.notice.failed {
		return text.Clean(m.notice.text), m.theme.failed
	}
	return text.Clean(m.notice.text), m.theme.plain
}

func (m *model) foot(p *pen) {
	switch {
	case m.typing:
		p.put("/", m.theme.bold)
		// The end is where the user types.
		p.put(text.FitEnd(m.query, p.left-1, m.signs.cut), m.theme.plain)
		p.put("_", m.theme.faint)
	case m.notice.text != "":
		p.put(m.said())
	case m.busy != "":
		p.put(m.busy, m.theme.faint)
	case m.query != "" && !m.help:
		p.put("/"+m.query, m.theme.bold)
		p.put(fmt.Sprintf("  %d of %d, esc shows all", m.shown(), len(m.rows)), m.theme.faint)
	default:
		m.hints(p)
	}
}

// shown is how many rows the query lets through.
func (m *model) shown() int {
	n := 0
	for _, l := range m.lines {
		if l.row != nil {
			n++
		}
	}
	return n
}

// hints are the keys that one needs to find the others: those that fit.
func (m *model) hints(p *pen) {
	hints := [][2]string{{"enter", "focus"}, {"n", "next"}, {"/", "filter"}, {"space", "details"}, {"s", "sort"}, {"g", "group"}, {"?", "help"}, {"q", "quit"}}
	switch {
	case m.help:
		hints = [][2]string{{"q", "back"}, {"up down", "scroll"}}
	case m.width < 70:
		hints = [][2]string{{"enter", "focus"}, {"n", "next"}, {"?", "help"}}
	}
	for i, h := range hints {
		part := h[0] + " " + h[1]
		if i > 0 {
			part = "  " + part
		}
		if p.cells(part) > p.left {
			return
		}
		if i > 0 {
			p.put("  ", m.theme.plain)
		}
		p.put(h[0], m.theme.bold)
		p.put(" "+h[1], m.theme.faint)
	}
}

// helpLines is the help: each key and what it does.
func (m *model) helpLines() []string {
	var lines []string
	for _, b := range bindings() {
		const keys = 11
		for i, part := range m.wrap(b.does, m.width-keys, 10) {
			p := m.pen(m.width)
			name := ""
			if i == 0 {
				name = b.name
			}
			p.cell(name, keys, m.theme.bold)
			p.put(part, m.theme.plain)
			lines = append(lines, p.b.String())
		}
	}
	lines = append(lines, "")
	for _, s := range [...][2]string{
		{m.signs.waiting, "waits for your answer"}, {m.signs.asks, "idle for long: it needs you"}, {m.signs.failed, "its turn failed"},
		{m.signs.idle, "idle"}, {m.signs.running, "running"}, {m.signs.started, "started"},
		{m.signs.discovered, "found running, no hook has reported"}, {m.signs.ended, "ended"},
	} {
		p := m.pen(m.width)
		p.cell(s[0], 3, m.theme.bold)
		p.put(s[1], m.theme.plain)
		lines = append(lines, p.b.String())
	}
	return lines
}
