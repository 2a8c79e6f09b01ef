package main

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// Sizes in pixels: of a cell, of the letters in it, and of the frame around all.
const (
	cellWidth  = 8.4
	cellHeight = 19
	fontSize   = 14
	frame      = 14
	bar        = 30 // with the buttons of a window
)

const (
	paper = "#16181d"
	ink   = "#d6d9e0"
)

// svg draws a screen. Each run of cells that look alike is one text, stretched
// to its cells: fonts differ in how wide their letters are.
func svg(w io.Writer, screen *vt.SafeEmulator) error {
	var b strings.Builder
	width, height := 2*frame+columns*cellWidth, bar+frame+lines*cellHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" font-family="ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace" font-size="%d">`+"\n",
		width, height, width, height, fontSize)
	fmt.Fprintf(&b, "<title>tongs-agents monitor</title>\n"+`<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	for i, fill := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="5.5" fill="%s"/>`+"\n", 20+i*18, fill)
	}
	for y := range lines {
		for x := 0; x < columns; {
			run, n := runAt(screen, x, y)
			drawRun(&b, run, x, y, n)
			x += n
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// run is a text whose cells look alike.
type run struct {
	text  string
	style uv.Style
}

// runAt is what begins at a cell, and how many cells it takes. What is drawn in
// several cells stands alone: a font may have it in another width.
func runAt(screen *vt.SafeEmulator, x, y int) (r run, n int) {
	for ; x+n < columns; n++ {
		c := screen.CellAt(x+n, y)
		if c == nil || c.Width == 0 {
			continue
		}
		wide := c.Width > 1
		if n > 0 && (wide || !c.Style.Equal(&r.style)) {
			break
		}
		r.style = c.Style
		r.text += c.Content
		if wide {
			return r, c.Width
		}
	}
	return r, n
}

func drawRun(b *strings.Builder, r run, x, y, n int) {
	left, top := frame+float64(x)*cellWidth, bar+y*cellHeight
	if r.style.Bg != nil {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, float64(n)*cellWidth+0.2, cellHeight, hex(r.style.Bg))
	}
	blank := len(r.text) - len(strings.TrimLeft(r.text, " "))
	text := strings.TrimSpace(r.text)
	if text == "" {
		return
	}
	cells := n - blank - (len(r.text) - blank - len(strings.TrimRight(r.text[blank:], " ")))
	fill := ink
	if r.style.Fg != nil {
		fill = hex(r.style.Fg)
	}
	weight := ""
	if r.style.Attrs&uv.AttrBold != 0 {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s xml:space="preserve">%s</text>`+"\n",
		left+float64(blank)*cellWidth, top+14, float64(cells)*cellWidth, fill, weight, html.EscapeString(text))
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
