package monitor

import (
	"github.com/charmbracelet/x/ansi"

	"tongs-agents/fsstore"
)

// background is that of the terminal.
type background int

const (
	unknown background = iota
	dark
	light
)

// style is the sequences that begin it, on a line and on the selected one.
type style [2]string

// theme is how things look. Signs and words say the same without it.
type theme struct {
	plain, bold, faint                 style
	attention, failed, running, ending style
}

// themeOf has colours that can be read on a background. On one that the
// terminal does not tell they are those that the user has chosen for it.
func themeOf(b background) theme {
	var grey, yellow, red, green, bar ansi.Style
	indexed := func(n uint8) ansi.Style { return ansi.Style{}.ForegroundColor(ansi.IndexedColor(n)) }
	switch b {
	case dark:
		grey, yellow, red, green = indexed(246), indexed(221), indexed(210), indexed(114)
		bar = ansi.Style{}.BackgroundColor(ansi.IndexedColor(237))
	case light:
		grey, yellow, red, green = indexed(241), indexed(130), indexed(160), indexed(28)
		bar = ansi.Style{}.BackgroundColor(ansi.IndexedColor(254))
	default:
		basic := func(c ansi.BasicColor) ansi.Style { return ansi.Style{}.ForegroundColor(c) }
		grey, yellow, red, green = ansi.Style{}.Faint(), basic(ansi.Yellow), basic(ansi.Red), basic(ansi.Green)
		bar = ansi.Style{}.Reverse(true)
	}
	look := func(s ansi.Style) style {
		var made style
		if len(s) > 0 {
			made[0] = s.String()
		}
		made[1] = append(append(ansi.Style{}, s...), bar...).String()
		return made
	}
	return theme{
		plain: look(nil), bold: look(ansi.Style{}.Bold()), faint: look(grey),
		attention: look(append(ansi.Style{}.Bold(), yellow...)), failed: look(red),
		running: look(green), ending: look(grey),
	}
}

func (t *theme) of(r *fsstore.Annotated) style {
	switch {
	case r.Status == fsstore.Error:
		return t.failed
	case r.NeedsAttention:
		return t.attention
	case r.Status == fsstore.Running:
		return t.running
	case r.Status == fsstore.Ended:
		return t.ending
	}
	return t.plain
}

// signs are what we draw ourselves. Each is one cell wide on every terminal: no
// letter of those that East Asian fonts draw in two.
type signs struct {
	selected                             string
	waiting, asks, failed, idle, running string
	started, discovered, ended           string
	none, cut, apart                     string
	bar                                  string // between the table and the details
	rule                                 string
}

var (
	unicodeSigns = signs{
		selected: "❯",
		waiting:  "!", asks: "?", failed: "✗", idle: "✓", running: "▸",
		started: "▹", discovered: "◦", ended: "-",
		none: "—", cut: "…", apart: " · ", bar: "│", rule: "─",
	}
	asciiSigns = signs{
		selected: ">",
		waiting:  "!", asks: "?", failed: "x", idle: "=", running: "*",
		started: "+", discovered: "o", ended: "-",
		none: "-", cut: "...", apart: ", ", bar: "|", rule: "-",
	}
)

// of is the sign of a row.
func (s *signs) of(r *fsstore.Annotated) string {
	switch r.Status {
	case fsstore.Waiting:
		return s.waiting
	case fsstore.Error:
		return s.failed
	case fsstore.Idle:
		if r.NeedsAttention {
			return s.asks
		}
		return s.idle
	case fsstore.Running:
		return s.running
	case fsstore.Started:
		return s.started
	case fsstore.Discovered:
		return s.discovered
	}
	return s.ended
}
