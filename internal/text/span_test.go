package text

import (
	"math"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Hour, "0s"},
		{0, "0s"},
		{999 * time.Millisecond, "0s"},
		{12 * time.Second, "12s"},
		{59 * time.Second, "59s"},
		{time.Minute, "1m"},
		{4*time.Minute + 59*time.Second, "4m"},
		{time.Hour, "1h0m"},
		{2*time.Hour + 14*time.Minute + 59*time.Second, "2h14m"},
		{24*time.Hour - time.Second, "23h59m"},
		{24 * time.Hour, "1d0h"},
		{25 * time.Hour, "1d1h"},
		{1000*24*time.Hour + 23*time.Hour, "1000d23h"},
		{math.MaxInt64, "106751d23h"},
	} {
		if got := Span(test.d); got != test.want {
			t.Errorf("Span(%v) = %q, want %q", test.d, got, test.want)
		}
	}
}
