package bar

import "strings"

// tmuxLine is the counts, and who needs the user in reverse, which shows in
// any colours.
func tmuxLine(d *Data) (string, error) {
	parts := d.counts()
	if d.NeedsAttention > 0 {
		last := &parts[len(parts)-1]
		*last = reversed(*last + " " + d.first())
	}
	return strings.Join(parts, " "), nil
}

// failedTmux is not the reason: there is no place for it.
func failedTmux(error) string { return reversed(unavailable()) }

func reversed(s string) string { return "#[reverse]" + tmux(s) + "#[noreverse]" }
