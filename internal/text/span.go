package text

import (
	"fmt"
	"time"
)

// Span writes a duration in its two largest units: 12s 4m 2h14m 1d1h.
func Span(d time.Duration) string {
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
