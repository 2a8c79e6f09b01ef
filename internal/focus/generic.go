package focus

import "context"

// windowed are terminals that have windows, and no way to be told which tab to
// show, by their comm. Others are known by their window, on a desktop that
// tells whose it is.
var windowed = [...]string{
	"alacritty", "contour", "cool-retro-term", "deepin-terminal", "foot", "footclient", "ghostty", "gnome-terminal-",
	"kgx", "lxterminal", "mate-terminal", "ptyxis", "qterminal", "rio", "rxvt", "st", "terminology", "tilix", "urxvt",
	"urxvtd", "xfce4-terminal", "xterm", "yakuake",
}

// generic is any program that has a window. If it shows one terminal alone,
// nothing has to be selected.
type generic struct{ comm string }

func (g generic) name() string        { return g.comm }
func (g generic) is(comm string) bool { return comm == g.comm }
func (generic) multiplexer() bool     { return false }

func (g generic) choose(ctx context.Context, p *place) (shown, error) {
	if n := p.shows(); n > 1 {
		return shown{}, declined("%s shows %d terminals and cannot be told which to bring forward", g.comm, n)
	}
	return shown{}, declined("%s cannot be told which tab to show, if it has several", g.comm)
}
