package maintain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

const stampFile = "sessions/.fleet-maintenance.stamp"

// TestStamp: an unforced run within 5 s of the last one is none. What tells no
// time in the past does not count.
func TestStamp(t *testing.T) {
	set := func(ago time.Duration) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			w.write(stampFile, thisBoot+"\n")
			w.setTime(stampFile, ago)
		}
	}
	for _, tt := range []struct {
		name   string
		stamp  func(*testing.T, *world)
		forced bool
		want   Skip
	}{
		{name: "missing", stamp: func(*testing.T, *world) {}},
		{name: "now", stamp: set(0), want: Recent},
		{name: "just not 5 s", stamp: set(5*time.Second - time.Millisecond), want: Recent},
		{name: "5 s", stamp: set(5 * time.Second)},
		{name: "an hour", stamp: set(time.Hour)},
		{name: "now, forced", stamp: set(0), forced: true},
		{name: "just in the future", stamp: set(-time.Millisecond)},
		{name: "far in the future", stamp: set(-30 * day)},
		{name: "of another program", want: Recent, stamp: func(t *testing.T, w *world) { w.write(stampFile, ""); w.setTime(stampFile, 0) }},
		{name: "garbage, old", stamp: func(t *testing.T, w *world) {
			w.write(stampFile, "\x00\xff{\n"+strings.Repeat("x", 1<<16))
			w.setTime(stampFile, time.Hour)
		}},
		{name: "garbage, new: its time is what counts", want: Recent, stamp: func(t *testing.T, w *world) {
			w.write(stampFile, "\x00\xff{\n")
			w.setTime(stampFile, time.Second)
		}},
		{name: "a directory", stamp: func(t *testing.T, w *world) {
			if err := os.Mkdir(filepath.Join(w.dir, stampFile), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a link", stamp: func(t *testing.T, w *world) {
			w.write("elsewhere", "kept")
			if err := os.Symlink("../elsewhere", filepath.Join(w.dir, stampFile)); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a FIFO", stamp: func(t *testing.T, w *world) {
			if err := unix.Mkfifo(filepath.Join(w.dir, stampFile), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.add("s", nil)
			tt.stamp(t, w)
			stored := time.Now()
			result := w.runAs(Options{Forced: tt.forced})
			check(t, "skipped", result.Skipped, tt.want)
			if tt.want != "" {
				check(t, "stored", w.sessions(), "s")
				return
			}
			check(t, "stored", w.sessions(), "")
			st, err := os.Lstat(filepath.Join(w.dir, stampFile))
			if err != nil || !st.Mode().IsRegular() || st.Mode().Perm() != 0o600 {
				t.Fatalf("stamp: %v, %v", st, err)
			}
			if st.ModTime().Before(stored.Add(-time.Second)) || st.ModTime().After(time.Now()) {
				t.Errorf("stamp: got %v, want now", st.ModTime())
			}
			if text, _ := os.ReadFile(filepath.Join(w.dir, stampFile)); string(text) != thisBoot+"\n" {
				t.Errorf("stamp: got %q", text)
			}
			if text, err := os.ReadFile(filepath.Join(w.dir, "elsewhere")); err == nil && string(text) != "kept" {
				t.Errorf("written through the link: %q", text)
			}
			w.now = time.Now()
			check(t, "at once again", w.runAs(Options{}).Skipped, Recent)
		})
	}
}

// TestInterval: forced and unforced runs within 5 s.
func TestInterval(t *testing.T) {
	w := newWorld(t)
	for i, step := range []struct {
		forced bool
		want   Skip
	}{{false, ""}, {false, Recent}, {true, ""}, {false, Recent}, {true, ""}} {
		w.add("s", nil)
		w.now = time.Now()
		result := w.runAs(Options{Forced: step.forced})
		check(t, "skipped", result.Skipped, step.want)
		if removed := len(result.Removed) == 1; removed != (step.want == "") {
			t.Errorf("run %d: removed %v", i, result.Removed)
		}
	}
	// A recent run is one that did nothing: the stamp is not set anew.
	w.setTime(stampFile, 3*time.Second)
	before, _ := os.Lstat(filepath.Join(w.dir, stampFile))
	check(t, "skipped", w.runAs(Options{}).Skipped, Recent)
	after, _ := os.Lstat(filepath.Join(w.dir, stampFile))
	check(t, "time of the stamp", after.ModTime(), before.ModTime())
}

// TestBoots: the file of boots lists a boot once, the latest last, with the
// last stamp of the earlier ones.
func TestBoots(t *testing.T) {
	w := newWorld(t)
	w.write(stampFile, earlierBoot+"\n")
	w.setTime(stampFile, 5*time.Hour)
	w.run()
	w.now = w.now.Add(time.Minute)
	w.run()
	read := func() []fsstore.Boot {
		s := w.open()
		defer s.Close()
		boots, _ := s.Boots()
		return boots
	}
	boots := read()
	if len(boots) != 2 || boots[0].ID != earlierBoot || boots[1].ID != thisBoot {
		t.Fatalf("got %+v", boots)
	}
	check(t, "end of the earlier boot", boots[0].Last.Unix(), w.ago(5*time.Hour+time.Minute))

	// The next boot.
	const next = "99999999-1111-4222-8333-444444444444"
	w.file("sys/kernel/random/boot_id", next+"\n")
	w.setTime(stampFile, time.Minute)
	w.run()
	if boots = read(); len(boots) != 3 || boots[1].ID != thisBoot || boots[2].ID != next {
		t.Fatalf("got %+v", boots)
	}
	check(t, "end of the boot before", boots[1].Last.Unix(), w.ago(time.Minute))
}

// TestBootsAfterRecent: a run that is recent forgets no boot, even if there is
// something to make durable.
func TestBootsAfterRecent(t *testing.T) {
	w := newWorld(t)
	w.write(stampFile, earlierBoot+"\n")
	w.setTime(stampFile, 5*time.Hour)
	w.run()
	w.add("s", nil)
	w.run() // archives, and leaves the syncing to a later run
	w.setTime("sessions/.fleet-boots", 2*time.Minute)
	w.now = time.Now()
	check(t, "skipped", w.runAs(Options{}).Skipped, Recent)
	s := w.open()
	defer s.Close()
	if boots, _ := s.Boots(); len(boots) != 2 || boots[0].ID != earlierBoot {
		t.Errorf("got %+v, want the earlier boot and this one", boots)
	}
}
