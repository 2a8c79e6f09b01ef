package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"tongs-agents/internal/text"
)

// table prints columns that fit a terminal.
type table struct {
	head  []string
	rows  [][]cell
	wide  int // the column that gives way if a line is too long
	glyph glyphs
}

// cell is a clean text and how it looks on a terminal that has colours.
type cell struct {
	text  string
	style ansi.Style
}

// glyphs are the signs beyond ASCII that we print ourselves.
type glyphs struct{ none, cut string }

func localGlyphs() glyphs {
	if text.UTF8() {
		return glyphs{none: "—", cut: "…"}
	}
	return glyphs{none: "-", cut: "..."}
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// screen is what is known of where a table is printed. Width 0 is unlimited.
type screen struct {
	width  int
	colour bool
}

func screenOf(w io.Writer) screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return screen{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return screen{width: width, colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

const gap = 2 // cells between columns

func (t *table) print(w io.Writer) error {
	s := screenOf(w)
	widths := t.widths(s.width)
	var b strings.Builder
	head := make([]cell, len(t.head))
	for i, name := range t.head {
		head[i] = cell{text: name, style: ansi.Style{}.Bold()}
	}
	for _, row := range append([][]cell{head}, t.rows...) {
		for i, c := range row {
			out := text.Fit(c.text, widths[i], t.glyph.cut)
			pad := strings.Repeat(" ", max(widths[i]-text.Width(out), 0)+gap)
			if s.colour && len(c.style) > 0 && out != "" {
				out = c.style.Styled(out)
			}
			b.WriteString(out)
			if i < len(row)-1 {
				b.WriteString(pad)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// widths returns how wide each column is on a screen.
func (t *table) widths(screen int) []int {
	widths := make([]int, len(t.head))
	total := gap * (len(t.head) - 1)
	for i, name := range t.head {
		widths[i] = text.Width(name)
		for _, row := range t.rows {
			widths[i] = max(widths[i], text.Width(row[i].text))
		}
		total += widths[i]
	}
	if screen > 0 && total > screen {
		const least = 8
		widths[t.wide] = max(widths[t.wide]-(total-screen), min(least, widths[t.wide]))
	}
	return widths
}

// span writes a duration in its two largest units: 12s 4m 2h14m 1d1h.
func span(d time.Duration) string {
	d = max(d, 0)
	days, hours := d/(24*time.Hour), d/time.Hour%24
	minutes, seconds := d/time.Minute%60, d/time.Second%60
	switch {
	case days > 0:
		return fmt.Sprintf("%dd%dh", days, hours)
	case hours > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%dm", minutes)
	}
	return fmt.Sprintf("%ds", seconds)
}
