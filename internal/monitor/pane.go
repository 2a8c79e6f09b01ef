package monitor

import (
	"cmp"
	"strings"
	"time"

	"tongs-agents/internal/listing"
	"tongs-agents/internal/shell"
	"tongs-agents/internal/text"
)

// paneState is whether the details of the selected session are shown.
type paneState int

const (
	paneAuto paneState = iota // if there is much room
	paneShown
	paneHidden
)

// From which width on the details are beside the table, and shown unasked.
const (
	besideWidth = 120
	autoWidth   = 150
)

// paneHeight is how many lines of details below the table are enough.
const paneHeight = 20

func (m *model) showsPane() bool {
	switch m.pane {
	case paneShown:
		return true
	case paneHidden:
		return false
	}
	return m.width >= autoWidth && !m.Sidebar
}

func (m *model) togglePane() {
	if m.showsPane() {
		m.pane = paneHidden
	} else {
		m.pane = paneShown
	}
}

// paneLines are the details of the selected session, what one asks first at
// their beginning.
func (m *model) paneLines(width int) []string {
	r := m.aged(m.selected())
	var lines []string
	long := func(s string, look style, most int) {
		for _, part := range m.wrap(s, width, most) {
			p := m.pen(width)
			p.put(part, look)
			lines = append(lines, p.b.String())
		}
	}
	pair := func(key, value string) {
		if value == "" {
			return
		}
		const keys = 10
		p := m.pen(width)
		p.cell(key, keys, m.theme.faint)
		if key == "cwd" { // its end says more
			value = text.FitEnd(value, p.left, m.signs.cut)
		}
		p.put(value, m.theme.plain)
		lines = append(lines, p.b.String())
	}
	long(cmp.Or(text.Clean(r.Title), text.Clean(r.Repo), noDirectory), m.theme.bold, 2)
	p := m.pen(width)
	p.put(m.signs.of(r)+" "+string(r.Status), m.theme.of(r))
	if r.NeedsAttention {
		p.put(" needs you: "+r.AttentionReason(), m.theme.faint)
	}
	lines = append(lines, p.b.String())
	long(listing.Detail(r), m.theme.plain, 4)
	lines = append(lines, "")
	pair("agent", strings.Join(words(r.Harness, text.Clean(r.Model), r.Mode), m.signs.apart))
	pair("cwd", text.Clean(r.Cwd))
	if w := r.WaitingFor; w != nil {
		pair("asks", text.Clean(w.Tool))
		pair("subagent", text.Clean(w.AgentID))
	}
	if age := listing.Age(r); age != "" {
		pair("reported", age+" ago")
	}
	if up := listing.Uptime(r, m.now.Unix()); up > 0 {
		pair("started", text.Span(up)+" ago")
	}
	pair("process", strings.Join(words(r.PID, text.Clean(r.TTY), text.Clean(r.Terminal)), m.signs.apart))
	pair("session", text.Clean(r.Session))
	if len(r.Resume) > 0 {
		lines = append(lines, "")
		long(shell.Command(r.Resume), m.theme.plain, 2)
	}
	if len(r.Recent) > 0 {
		lines = append(lines, "")
	}
	for i := len(r.Recent) - 1; i >= 0; i-- { // the newest first
		e := r.Recent[i]
		p := m.pen(width)
		p.right(text.Span(m.now.Sub(time.Unix(e.TS, 0))), 6, m.theme.faint)
		p.space(2, style{})
		p.cell(string(e.Status), 9, m.theme.plain)
		p.put(text.Clean(e.Event), m.theme.faint)
		lines = append(lines, p.b.String())
	}
	return lines
}

// words are those that say something.
func words(all ...string) []string {
	var some []string
	for _, w := range all {
		if w != "" {
			some = append(some, w)
		}
	}
	return some
}
