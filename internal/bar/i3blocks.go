package bar

// i3blocksLines are those of i3blocks(1): the text, a shorter one, and a colour
// if somebody needs the user or has failed. They are lines, since i3blocks takes
// JSON only from 1.5 on, and Pango markup, since lines cannot say that they are
// none where markup=pango is set for all blocks.
func i3blocksLines(d *Data) (string, error) {
	counts := d.Counts()
	switch d.state() {
	case "attention":
		return i3blocks(counts+" "+d.first(), counts, yellow), nil
	case "error":
		return i3blocks(counts, counts, red), nil
	}
	return pango(counts), nil
}

func failedI3blocks(error) string { return i3blocks(unavailable(), unavailable(), red) }

const (
	red    = "#FF5F5F"
	yellow = "#FFD700"
)

func i3blocks(full, short, colour string) string {
	return pango(full) + "\n" + pango(short) + "\n" + colour
}
