package proc_test

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/procfs"

	"tongs-agents/proc"
)

const statTail = " 6255 6256 6256 34823 6256 4194304 0 0 0 0 0 0 0 0 20 0 1 0 93179 0 0\n"

func TestParseStat(t *testing.T) {
	for _, comm := range []string{"claude", "", " ", "a) S 1 (x", "a) R (b", "))((", "a\nb", "\xff\xfe", "(sd-pam)"} {
		got, err := proc.ParseStat([]byte("6256 (" + comm + ") S" + statTail))
		want := proc.Stat{PID: 6256, Comm: comm, State: 'S', PPID: 6255, TTY: 34823, Start: "93179"}
		if err != nil || got != want {
			t.Errorf("comm %q: got %+v, %v, want %+v", comm, got, err, want)
		}
	}
}

func TestParseStatLimits(t *testing.T) {
	// A terminal's number is printed as a signed int; ticks are 64 bits.
	line := "2147483647 (x) S 0 1 1 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 18446744073709551615"
	got, err := proc.ParseStat([]byte(line))
	want := proc.Stat{PID: 2147483647, Comm: "x", State: 'S', TTY: -1, Start: "18446744073709551615"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseStatBadInput(t *testing.T) {
	good := "6256 (claude) S" + statTail
	for name, line := range map[string]string{
		"empty":             "",
		"no comm":           "6256 claude S" + statTail,
		"comm not ended":    "6256 (claude S" + statTail,
		"comm turned round": "6256 )claude( S" + statTail,
		"no pid":            strings.TrimPrefix(good, "6256"),
		"pid 0":             "0" + strings.TrimPrefix(good, "6256"),
		"pid signed":        "+" + good,
		"pid negative":      "-" + good,
		"pid too large":     "2147483648" + strings.TrimPrefix(good, "6256"),
		"nothing more":      "6256 (claude)",
		"state only":        "6256 (claude) S",
		"long state":        "6256 (claude) SS" + statTail,
		"no parent":         strings.Replace(good, " 6255 ", " x ", 1),
		"negative parent":   strings.Replace(good, " 6255 ", " -1 ", 1),
		"no terminal":       strings.Replace(good, "34823", "pts/7", 1),
		"large terminal":    strings.Replace(good, "34823", "4294967296", 1),
		"truncated":         good[:strings.Index(good, "93179")],
		"start negative":    strings.Replace(good, "93179", "-1", 1),
		"start no number":   strings.Replace(good, "93179", "93_179", 1),
		"start too large":   strings.Replace(good, "93179", "18446744073709551616", 1),
		"field missing":     strings.Replace(good, " 93179", "  93179", 1),
	} {
		if got, err := proc.ParseStat([]byte(line)); !errors.Is(err, proc.ErrFormat) {
			t.Errorf("%s: got %+v, %v, want ErrFormat", name, got, err)
		}
	}
}

// TestStatAgainstProcfs compares with another parser on every process of the
// machine.
func TestStatAgainstProcfs(t *testing.T) {
	all, err := procfs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, p := range all {
		want, err := p.Stat()
		if err != nil {
			continue // gone since
		}
		got, err := proc.Root.Stat(p.PID)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		compared++
		// State and parent may change between the two.
		if got.PID != want.PID || got.Comm != want.Comm || got.TTY != want.TTY ||
			got.Start != strconv.FormatUint(want.Starttime, 10) || len(want.State) != 1 {
			t.Errorf("pid %d: got %+v, want %+v", p.PID, got, want)
		}
	}
	if compared == 0 {
		t.Errorf("no process compared, of %d", len(all))
	}
}

func TestTTYName(t *testing.T) {
	device := func(major, minor int) int { return int(int32(minor&0xff | major<<8 | minor>>8<<20)) }
	for _, test := range []struct {
		nr   int
		want string
	}{
		{0, ""},
		{34823, "pts/7"},
		{device(136, 0), "pts/0"},
		{device(136, 255), "pts/255"},
		{device(136, 300), "pts/300"},
		{device(136, 1<<20-1), "pts/1048575"}, // negative as an int
		{device(137, 1), "pts/257"},
		{device(143, 255), "pts/2047"},
		{device(144, 0), ""},
		{device(135, 0), ""},
		{device(4, 0), ""}, // the console that is active, not one of its own
		{device(4, 1), "tty1"},
		{device(4, 63), "tty63"},
		{device(4, 64), "ttyS0"},
		{device(5, 1), ""},
		{-1, ""},
	} {
		if got := proc.TTYName(test.nr); got != test.want {
			t.Errorf("TTYName(%d): got %q, want %q", test.nr, got, test.want)
		}
	}
}
