package monitor

import (
	"strings"
	"time"

	"tongs-agents/internal/listing"
)

// Once is one frame of the view with all its rows, a line each, without
// anything that only makes sense where keys are pressed.
func Once(c Config, l listing.Listing, now time.Time, width int, colour bool) string {
	m := newModel(c, now)
	m.once, m.width = true, width
	if !colour {
		m.theme = theme{}
	}
	m.list(listedMsg{Listing: l, kept: c.Filter.Apply(l.Rows), at: now})
	frame := layout{table: area{width: width}, titles: len(m.lines) > 0 && width >= titlesWidth && !c.Sidebar}
	lines := append([]string{m.header(width)}, m.tableLines(frame, true)...)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(trimmed(line) + "\n")
	}
	return b.String()
}
