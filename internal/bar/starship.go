package bar

// starshipText is the counts alone: a prompt is short.
func starshipText(d *Data) (string, error) { return d.Counts(), nil }

func failedStarship(error) string { return unavailable() }
