package maintain

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// tree describes every file below a directory: name, mode, size, times and
// contents. Reading changes no time that it shows.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d %v", path, st.Mode(), st.Size(), st.ModTime().UnixNano())
		if st.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(text))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// busyWorld is one in which a run has something of everything to do.
func busyWorld(t *testing.T) *world {
	w := newWorld(t)
	w.runs(treeProcess{env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
	w.runs(treeProcess{pid: "4300", start: "90000"})
	w.claudeSays("mended", "idle", w.now.Add(-time.Second))
	w.add("mended", func(r *fsstore.Record) { r.Status, r.TS = fsstore.Running, w.ago(time.Minute) })
	w.add("superseded", func(r *fsstore.Record) { r.Status, r.TS = fsstore.Running, w.ago(10*time.Minute) })
	w.add("dead", func(r *fsstore.Record) { r.PID = "9" })
	w.add("headless", func(r *fsstore.Record) { r.PID, r.Mode = "10", fsstore.Headless })
	w.add("pidless", func(r *fsstore.Record) { pidless(r); r.TS = w.ago(time.Hour) })
	w.add("unknown", func(r *fsstore.Record) { r.PIDNamespace = "1" })
	w.add("ended", func(r *fsstore.Record) {
		r.PID, r.ProcessStart, r.Status, r.TS = "4300", "90000", fsstore.Ended, w.ago(time.Hour)
	})
	w.write("sessions/legacy.json", `{"agent":"claude","session_id":"legacy","status":"running","pid":9,"ts":1}`)
	// Files that a run takes away.
	old := w.record("old", nil)
	w.write("resumable/"+old.SessionDigest()+".json", string(old.AppendJSON(nil)))
	w.setTime("resumable/"+old.SessionDigest()+".json", 8*day)
	w.write("sessions/.fleet-tmp-999999999-x-1.tmp", "half")
	w.setTime("sessions/.fleet-tmp-999999999-x-1.tmp", time.Hour)
	w.write("sessions/.fleet-v1-"+strings.Repeat("0", 64)+".lock", "")
	w.setTime("sessions/.fleet-v1-"+strings.Repeat("0", 64)+".lock", 25*time.Hour)
	w.write(stampFile, earlierBoot+"\n")
	w.setTime(stampFile, time.Hour)
	return w
}

func sorted(changes []Change) []Change {
	return slices.SortedFunc(slices.Values(changes), func(a, b Change) int { return strings.Compare(a.CanonicalID, b.CanonicalID) })
}

// TestDryRun: a dry run decides the same as a run, and changes nothing: no
// file, no time, no lock.
func TestDryRun(t *testing.T) {
	w := busyWorld(t)
	before := tree(t, filepath.Dir(w.dir))
	would := w.runAs(Options{Forced: true, DryRun: true})
	if after := tree(t, filepath.Dir(w.dir)); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	did := w.run()
	for _, part := range []struct {
		name       string
		would, did []Change
		want       string
	}{
		{"removed", would.Removed, did.Removed, "dead ended headless legacy pidless"},
		{"archived", would.Archived, did.Archived, "dead"},
		{"mended", would.Mended, did.Mended, "mended superseded"},
		{"added", would.Added, did.Added, ""},
	} {
		if !reflect.DeepEqual(sorted(part.would), sorted(part.did)) {
			t.Errorf("%s: would %+v, did %+v", part.name, part.would, part.did)
		}
		check(t, part.name, list(part.did), part.want)
	}
	check(t, "skipped", would.Skipped, "")
	if after := tree(t, w.dir); strings.Contains(after, ".tmp") || strings.Contains(after, strings.Repeat("0", 64)+".lock") {
		t.Errorf("the run has left:\n%s", after)
	}
	check(t, "resumable", w.resumable(), "dead")
}

// Unforced, a dry run is recent when a run would be.
func TestDryRunRecent(t *testing.T) {
	w := newWorld(t)
	w.add("s", nil)
	w.write(stampFile, "")
	w.setTime(stampFile, time.Second)
	check(t, "skipped", w.runAs(Options{DryRun: true}).Skipped, Recent)
	check(t, "removed", list(w.runAs(Options{DryRun: true, Forced: true}).Removed), "s")
}

// Without a store a dry run finds what runs, and makes none; a run makes one.
func TestNoStore(t *testing.T) {
	w := newWorld(t)
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	w.runs(treeProcess{})
	result := w.runAs(Options{Forced: true, DryRun: true})
	check(t, "skipped", result.Skipped, "")
	check(t, "added", list(result.Added), "proc-4242")
	if w.exists(".") {
		t.Error("there is a store")
	}
	check(t, "added", list(w.run().Added), "proc-4242")
}
