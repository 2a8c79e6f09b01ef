package maintain

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// TestDurable watches the system calls of a run: what it archives is synced,
// once, after the maintenance lock is released; and again only after a minute.
func TestDurable(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	traced := func() (calls []string) {
		out := filepath.Join(t.TempDir(), "trace")
		cmd := self("maintain", w.dir)
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		strace := exec.Command("strace", "-f", "-y", "-o", out, "-e", "trace=fsync,fdatasync,syncfs,sync,flock,renameat,renameat2,close", exe, w.dir)
		strace.Env = cmd.Env
		if text, err := strace.CombinedOutput(); err != nil {
			if !strings.Contains(string(text), `"removed"`) {
				t.Fatalf("strace: %v\n%s", err, text)
			}
			t.Fatalf("%v\n%s", err, text)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		state := regexp.QuoteMeta(w.dir)
		interesting := regexp.MustCompile(`(fsync|fdatasync|syncfs|sync|flock|close)\(\d+<` + state + `([^>]*)>`)
		for line := range strings.Lines(string(text)) {
			m := interesting.FindStringSubmatch(line)
			switch {
			case m == nil:
			case m[1] == "close" && strings.HasSuffix(m[2], ".fleet-maintenance.lock"):
				calls = append(calls, "unlock")
			case m[1] == "flock" && strings.HasSuffix(m[2], ".fleet-maintenance.lock"):
				calls = append(calls, "lock")
			case strings.HasSuffix(m[1], "sync"), m[1] == "syncfs":
				calls = append(calls, m[1]+" "+cmp.Or(strings.TrimPrefix(m[2], "/"), "."))
			}
		}
		return calls
	}
	dead := func(n int, session string) {
		for i := range n {
			w.add(fmt.Sprint(session, i), func(r *fsstore.Record) {
				r.PID, r.BootID, r.PIDNamespace, r.MachineID = "4194304", "", "", ""
				r.ProcessStart = fmt.Sprint(i)
			})
		}
	}
	bootsAge := func(age time.Duration) {
		w.now = time.Now()
		w.setTime("sessions/.fleet-boots", age)
	}

	first := traced()
	dead(1, "one")
	bootsAge(30 * time.Second)
	soon := traced()
	bootsAge(61 * time.Second)
	entry := "resumable/" + w.record("one0", nil).SessionDigest() + ".json"
	later := traced()
	again := traced()
	bootsAge(61 * time.Second)
	w.setTime("resumable", 2*time.Minute)
	w.setTime(entry, 2*time.Minute)
	nothing := traced()
	dead(20, "many")
	bootsAge(61 * time.Second)
	many := traced()

	for _, run := range []struct {
		name  string
		calls []string
		want  string // of what is synced
	}{
		{"within a minute of the last", soon, ""},
		{"a minute later", later, "fsync " + entry + ", fsync resumable, fsync ."},
		{"at once again", again, ""},
		{"nothing changed", nothing, ""},
		{"many", many, "syncfs resumable"},
	} {
		all := strings.Join(run.calls, ", ")
		if before, _, unlocked := strings.Cut(all, "unlock"); !unlocked || strings.Contains(before, "sync") {
			t.Errorf("%s: synced under the lock: %s", run.name, all)
		}
		if run.want == "" && strings.Contains(all, "sync") {
			t.Errorf("%s: synced: %s", run.name, all)
		}
		for call := range strings.SplitSeq(run.want, ", ") {
			if !strings.Contains(all, call) {
				t.Errorf("%s: got %s, want %s", run.name, all, run.want)
			}
		}
		if n := strings.Count(all, "sync"); n > 5 {
			t.Errorf("%s: synced %d times: %s", run.name, n, all)
		}
	}
	// The file of boots is new.
	all := strings.Join(first, ", ")
	if before, after, _ := strings.Cut(all, "unlock"); strings.Contains(before, "sync") || !strings.Contains(after, "fsync sessions/.fleet-boots") {
		t.Errorf("first run of a boot: %s", all)
	}
}

// What an earlier run has archived within the minute is made durable by the
// next that may, although that one archives nothing.
func TestDurableLater(t *testing.T) {
	var synced int
	atStep(t, func(name string) {
		if name == "durable" {
			synced++
		}
	})
	w := newWorld(t)
	w.run()
	check(t, "new boot", synced, 1)
	w.now = time.Now()
	w.add("s", nil)
	check(t, "archived", list(w.run().Archived), "s")
	check(t, "within a minute", synced, 1)
	w.now = w.now.Add(time.Minute + time.Second)
	w.run()
	check(t, "a minute later", synced, 2)
	w.now = time.Now().Add(time.Hour)
	w.run()
	check(t, "nothing changed since", synced, 2)
}
