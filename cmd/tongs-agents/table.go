package main

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"tongs-agents/internal/text"
)

// table prints columns that fit a terminal.
type table struct {
	head  []string
	rows  [][]cell
	below []string // a line below each row, never cut; may be nil
	wide  int      // the column that gives way if a line is too long
	glyph glyphs
}

// cell is a clean text and how it looks on a terminal that has colours.
type cell struct {
	text  string
	style ansi.Style
	path  bool // cut at its beginning, since the end says more
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
	cursor bool // can be moved to a column
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
	smart := os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
	return screen{width: width, cursor: smart, colour: smart && os.Getenv("NO_COLOR") == ""}
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
	t.line(&b, s, widths, head)
	for i, row := range t.rows {
		t.line(&b, s, widths, row)
		if t.below != nil {
			b.WriteString(t.below[i] + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) line(table *strings.Builder, s screen, widths []int, row []cell) {
	var b strings.Builder
	column := 1
	for i, c := range row {
		fit := text.Fit
		if c.path {
			fit = text.FitEnd
		}
		out := fit(c.text, widths[i], t.glyph.cut)
		padded := text.Pad(out, widths[i]+gap)
		ambiguous := text.MaxWidth(padded) != text.Width(padded)
		if s.colour && len(c.style) > 0 && out != "" {
			padded = c.style.Styled(out) + padded[len(out):]
		}
		column += widths[i] + gap
		switch {
		case s.cursor && ambiguous && i < len(row)-1:
			// Terminals differ in how wide this is: no number of spaces is right.
			b.WriteString(strings.TrimRight(padded, " "))
			b.WriteString(" " + ansi.CursorHorizontalAbsolute(column))
		default:
			b.WriteString(padded)
		}
	}
	table.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}

// widths returns how wide each column is on a screen. If not all fit, the wide
// one gives way, and then the widest one at a time.
func (t *table) widths(screen int) []int {
	widths := make([]int, len(t.head))
	total := gap * (len(t.head) - 1)
	for i, name := range t.head {
		widths[i] = text.MaxWidth(name)
		for _, row := range t.rows {
			widths[i] = max(widths[i], text.MaxWidth(row[i].text))
		}
		total += widths[i]
	}
	if screen <= 0 || total <= screen {
		return widths
	}
	least := max(8, screen/4) // of the wide column, while another one can give way
	give := min(total-screen, max(widths[t.wide]-least, 0))
	widths[t.wide] -= give
	for total -= give; total > screen; total-- {
		widest := 0
		for i, n := range widths {
			if n > widths[widest] {
				widest = i
			}
		}
		if widths[widest] == 1 {
			break
		}
		widths[widest]--
	}
	return widths
}
