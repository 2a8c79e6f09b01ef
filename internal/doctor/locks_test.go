package doctor

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseLocks(t *testing.T) {
	got, err := parseLocks(strings.NewReader(`1: POSIX  ADVISORY  WRITE 11 08:01:7 0 EOF
2: FLOCK  ADVISORY  WRITE 12 00:2d:8 0 EOF
2: -> FLOCK  ADVISORY  WRITE 13 00:2d:8 0 EOF
3: FLOCK  ADVISORY  READ  0 fd:00:9 0 EOF
4: FLOCK  ADVISORY  READ  14 fd:00:9 0 EOF
5: FLOCK
6: FLOCK ADVISORY WRITE x fd:00:9 0 EOF
7: FLOCK ADVISORY WRITE 15 10 0 EOF
`))
	want := map[uint64][]hold{8: {{12, "00:2d"}}, 9: {{0, "fd:00"}, {14, "fd:00"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// A lock that somebody holds for long is named with its holder.
func TestLocks(t *testing.T) {
	h := newHome(t)
	if got := h.patient().locks(); got != nil {
		t.Errorf("without a store: %+v", got)
	}
	h.put(record("s"))
	h.wants("free", h.patient().locks(), "ok: no lock is held\n")

	file, err := os.OpenFile(h.path("state/sessions/.fleet-maintenance.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	got := h.lines(h.patient().locks())
	if want := fmt.Sprintf("warn: ~/state/sessions/.fleet-maintenance.lock is held by process %d (", os.Getpid()); !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, fmt.Sprintf("\n  kill %d\n", os.Getpid())) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A process whose open files cannot be looked at is told by the device.
func TestHolder(t *testing.T) {
	h := newHome(t)
	h.write("lock", "", 0o600)
	info, err := os.Stat(h.path("lock"))
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(h.path("lock"), &st); err != nil {
		t.Fatal(err)
	}
	device := fmt.Sprintf("%02x:%02x", unix.Major(st.Dev), unix.Minor(st.Dev))
	for _, test := range []struct {
		holds []hold
		ours  bool
	}{
		{nil, false},
		{[]hold{{os.Getpid(), device}}, false}, // which has not opened it
		{[]hold{{0, "ff:ff"}}, false},
		{[]hold{{os.Getpid(), device}, {0, device}}, true},
	} {
		if _, ours := holder(test.holds, info); ours != test.ours {
			t.Errorf("%v: got %v", test.holds, ours)
		}
	}
}
