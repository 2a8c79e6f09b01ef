package listing

import (
	"math"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

func TestUptime(t *testing.T) {
	const now = 1_800_000_000
	for _, test := range []struct {
		started int64
		want    time.Duration
	}{
		{0, 0}, // not known
		{now, 0},
		{now + 1, 0},
		{math.MaxInt64, 0},
		{now - 90, 90 * time.Second},
		{1, (now - 1) * time.Second},
	} {
		r := fsstore.Annotated{Record: fsstore.Record{Started: test.started}}
		if got := Uptime(&r, now); got != test.want {
			t.Errorf("uptime of a session started at %d = %v, want %v", test.started, got, test.want)
		}
	}
}
