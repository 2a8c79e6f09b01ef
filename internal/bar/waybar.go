package bar

import (
	"fmt"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
)

// waybarObject is the object of waybar-custom(5), whose text and tooltip are
// Pango markup. No percentage: sessions are parts of no whole.
func waybarObject(d *Data) (string, error) {
	counts := d.Counts()
	if counts == "" {
		return "", nil
	}
	return waybar(counts, tooltip(d), d.state()), nil
}

func failedWaybar(err error) string {
	return waybar(unavailable(), text.Clean(err.Error()), "unavailable")
}

// waybar writes the object. A format chooses icons by alt, a style sheet
// colours by class.
func waybar(shown, tooltip, class string) string {
	return fmt.Sprintf(`{"text":%s,"tooltip":%s,"class":%s,"alt":%[3]s}`,
		jsonString(pango(shown)), jsonString(pango(tooltip)), jsonString(class))
}

// tooltip has a line for each session, up to what fits a screen.
func tooltip(d *Data) string {
	const lines, width = 20, 100
	var shown []string
	more := 0
	for _, s := range d.Sessions() {
		switch {
		case s.row.Status == fsstore.Ended:
		case len(shown) == lines:
			more++
		default:
			shown = append(shown, cut(width, about(s)))
		}
	}
	if more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, "\n")
}

// about is a session in one line: what it is, what it does, since when.
func about(s Session) string {
	line := s.Agent()
	if repo := s.Repo(); repo != "" {
		line += " " + repo
	}
	line += ": " + s.Status()
	if age := s.Age(); age != "" {
		line += " " + age
	}
	if detail := s.Detail(); detail != "" {
		line += ", " + detail
	}
	return line
}
