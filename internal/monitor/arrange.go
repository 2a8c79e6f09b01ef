package monitor

import (
	"cmp"
	"slices"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// line is a line of the table: a session, or the heading of a group of them.
type line struct {
	row     *fsstore.Annotated // nil: a heading
	heading string
}

// order is what the rows are sorted by.
type order int

const (
	byAttention order = iota
	byAge
	byAgent
	byRepo
	orders
)

func (o order) String() string {
	return [...]string{"attention", "age", "agent", "repo"}[o]
}

// compare orders two rows; 0 leaves them as in the listing.
func (o order) compare(a, b *fsstore.Annotated) int {
	switch o {
	case byAge:
		return cmp.Compare(b.TS, a.TS)
	case byAgent:
		return cmp.Compare(a.Harness, b.Harness)
	case byRepo:
		return cmp.Compare(strings.ToLower(a.Repo), strings.ToLower(b.Repo))
	}
	return 0
}

// arrange makes the lines from the rows. A selection that the user has made
// stays with its session, wherever that goes; if that is gone, the row in its
// place has it. Else it is on top, where those are who need the user most.
func (m *model) arrange() {
	rows := m.matching()
	if m.order != byAttention {
		slices.SortStableFunc(rows, m.order.compare)
	}
	m.lines = m.lines[:0]
	if m.grouped {
		m.group(rows)
	} else {
		for _, r := range rows {
			m.lines = append(m.lines, line{row: r})
		}
	}
	at := slices.IndexFunc(m.lines, func(l line) bool { return l.row != nil && l.row.Key == m.chosen })
	switch {
	case !m.pinned:
		at = 0
	case at < 0:
		at = m.cursor
	}
	m.choose(at, 1)
}

// group puts the rows of one repo together, the repo of the first row first.
func (m *model) group(rows []*fsstore.Annotated) {
	groups := make(map[string][]*fsstore.Annotated)
	var repos []string
	for _, r := range rows {
		if groups[r.Repo] == nil {
			repos = append(repos, r.Repo)
		}
		groups[r.Repo] = append(groups[r.Repo], r)
	}
	for _, repo := range repos {
		m.lines = append(m.lines, line{heading: cmp.Or(text.Clean(repo), noDirectory)})
		for _, r := range groups[repo] {
			m.lines = append(m.lines, line{row: r})
		}
	}
}

const noDirectory = "no directory"

// matching returns the rows that the query lets through: those with each of its
// words somewhere, in whatever case.
func (m *model) matching() []*fsstore.Annotated {
	words := strings.Fields(strings.ToLower(m.query))
	if len(words) == 0 {
		return slices.Clone(m.rows)
	}
	var rows []*fsstore.Annotated
	for _, r := range m.rows {
		all := strings.ToLower(strings.Join([]string{
			text.Clean(r.Repo), text.Clean(r.Title), r.Harness, text.Clean(r.Session), string(r.Status), listing.Detail(r),
		}, "\n"))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
			rows = append(rows, r)
		}
	}
	return rows
}

// choose selects the row at a line, or the next one that is none of a heading
// in the direction of step, or else against it.
func (m *model) choose(at, step int) {
	m.cursor = -1
	if len(m.lines) == 0 {
		return
	}
	at = min(max(at, 0), len(m.lines)-1)
	for _, step := range [...]int{step, -step} {
		for i := at; 0 <= i && i < len(m.lines); i += step {
			if r := m.lines[i].row; r != nil {
				m.cursor, m.chosen = i, r.Key
				return
			}
		}
	}
}

// move moves the selection by rows.
func (m *model) move(by int) {
	if m.cursor < 0 {
		return
	}
	m.pinned = true
	step := 1
	if by < 0 {
		step = -1
	}
	m.choose(m.cursor+by, step)
}

// next selects the next row that needs the user, from the selected one on in
// the direction of step and around.
func (m *model) next(step int) {
	n := len(m.lines)
	for i := range n {
		at := ((m.cursor+step*(i+1))%n + n) % n
		if r := m.lines[at].row; r != nil && r.NeedsAttention {
			m.pinned = true
			m.choose(at, step)
			return
		}
	}
	m.notice = notice{text: "no session needs you"}
}

// scroll brings the selected line onto the screen, with its heading if there is
// room.
func (m *model) scroll() {
	height := m.layout().table.height
	m.top = min(m.top, max(len(m.lines)-height, 0))
	if m.cursor < 0 {
		return
	}
	first := m.cursor
	if first > 0 && m.lines[first-1].row == nil && height > 1 {
		first--
	}
	if m.top > first {
		m.top = first
	}
	m.top = max(m.top, m.cursor-height+1, 0)
}
