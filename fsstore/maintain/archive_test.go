package maintain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
)

// TestArchive: what of the records that leave the store can be resumed.
func TestArchive(t *testing.T) {
	type record = fsstore.Record
	ended := func(harness, reason, mode string) func(*record) {
		return func(r *record) {
			r.Harness, r.EndReason, r.Mode, r.Status = harness, reason, mode, fsstore.Ended
		}
	}
	in := func(boot string, change func(*record)) func(*record) {
		return func(r *record) { change(r); r.BootID = boot }
	}
	status := func(s fsstore.Status) func(*record) { return func(r *record) { r.Status = s } }
	for _, tt := range []struct {
		name   string
		record func(*record)
		age    time.Duration
		alive  bool
		want   bool
	}{
		{name: "died idle", record: status(fsstore.Idle), want: true},
		{name: "died running", record: status(fsstore.Running), want: true},
		{name: "died waiting", record: status(fsstore.Waiting), want: true},
		{name: "died started", record: status(fsstore.Started), want: true},
		{name: "died with an error", record: status(fsstore.Error), want: true},
		{name: "died codex", record: func(r *record) { r.Harness = "codex" }, want: true},
		{name: "died in the background", record: func(r *record) { r.Mode = fsstore.Background }, want: true},
		{name: "died, mode not known", record: func(r *record) { r.Mode = "" }, want: true},

		{name: "no cwd", record: func(r *record) { r.Cwd, r.Repo = "", "" }},
		{name: "no resume command", record: func(r *record) { r.Resume = nil }},
		{name: "headless", record: func(r *record) { r.Mode = fsstore.Headless }},
		{name: "tombstone", record: func(r *record) { r.RemovedAt = r.TS }},
		{name: "found by the scan", record: func(r *record) { r.Kind = fsstore.KindProcess }},

		{name: "ended by the user", record: ended("claude", "prompt_input_exit", fsstore.Interactive)},
		{name: "ended by /clear", record: ended("claude", "clear", fsstore.Interactive)},
		{name: "ended, no reason", record: ended("claude", "", fsstore.Interactive)},
		{name: "ended by the user, process alive", alive: true, age: 301 * time.Second, record: ended("claude", "prompt_input_exit", fsstore.Interactive)},
		{name: "superseded", record: ended("claude", "superseded", fsstore.Interactive)},
		{name: "claude by a signal", record: ended("claude", "other", fsstore.Interactive), want: true},
		{name: "claude by a signal, process alive", alive: true, age: 301 * time.Second, record: ended("claude", "other", fsstore.Interactive), want: true},
		{name: "claude by a signal, headless", record: ended("claude", "other", fsstore.Headless)},
		{name: "claude by a signal, background", record: ended("claude", "other", fsstore.Background)},
		{name: "codex other", record: ended("codex", "other", fsstore.Interactive)},

		{name: "died with an earlier boot", record: in(earlierBoot, status(fsstore.Idle)), want: true},
		{name: "ended in an earlier boot", record: in(earlierBoot, ended("claude", "prompt_input_exit", fsstore.Interactive)), want: true},
		{name: "codex ended in an earlier boot", record: in(earlierBoot, ended("codex", "", fsstore.Interactive)), want: true},
		{name: "headless in an earlier boot", record: in(earlierBoot, ended("claude", "other", fsstore.Headless))},

		{name: "not known for 8 days", age: 8 * day, record: func(r *record) { r.PIDNamespace = "1" }},
		{name: "other machine, 8 days", age: 8 * day, record: func(r *record) { r.BootID, r.MachineID = "x", "x" }},
		{name: "ended by the user on another machine, 8 days", age: 8 * day, record: func(r *record) {
			ended("claude", "prompt_input_exit", fsstore.Interactive)(r)
			r.BootID, r.MachineID = "x", "x"
		}},
		{name: "no process for 11 min", age: 11 * time.Minute, record: pidless},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.alive {
				w.runs(treeProcess{})
			}
			r := w.record("s", func(r *record) { r.TS = w.ago(tt.age); tt.record(r) })
			if r.BootID == earlierBoot && w.here.MachineID == "" {
				t.Fatal("no /etc/machine-id, so that no machine is the same")
			}
			r.Unknown = []fsstore.Member{{Name: "mine", Value: []byte(`{"a":1}`)}}
			w.put(r)
			result := w.run()
			check(t, "removed", list(result.Removed), "s")
			want := ""
			if tt.want {
				want = "s"
			}
			check(t, "archived", list(result.Archived), want)
			check(t, "resumable", w.resumable(), want)
			if entry, ok := w.archived()["s"]; ok {
				if got, want := string(entry.Record.AppendJSON(nil)), string(r.AppendJSON(nil)); got != want {
					t.Errorf("entry: got %s\nwant %s", got, want)
				}
				check(t, "idle_from", entry.IdleFrom, w.now.Unix())
				file := filepath.Join(w.dir, "resumable", r.SessionDigest()+".json")
				if st, err := os.Lstat(file); err != nil || st.Mode() != 0o600 {
					t.Errorf("%v, %v", st, err)
				}
				if st, err := os.Lstat(filepath.Dir(file)); err != nil || st.Mode() != 0o700|os.ModeDir {
					t.Errorf("%v, %v", st, err)
				}
			}
		})
	}
}

// TestIdleFrom: time with the machine off does not count, so what died with an
// earlier boot was idle until that boot's last stamp.
func TestIdleFrom(t *testing.T) {
	const before = "11111111-1111-4222-8333-444444444444"
	at := func(w *world, ago time.Duration) string { return w.now.Add(-ago).UTC().Format(time.RFC3339) }
	stamp := func(w *world, boot string, ago time.Duration) {
		w.write("sessions/.fleet-maintenance.stamp", boot)
		w.setTime("sessions/.fleet-maintenance.stamp", ago)
	}
	up := time.Duration(linux.Boottime())
	for _, tt := range []struct {
		name  string
		boot  string // of the record
		world func(*world)
		want  time.Duration // ago
	}{
		{"this boot", thisBoot, func(w *world) { stamp(w, thisBoot, time.Hour) }, 0},
		{"nothing known", earlierBoot, func(w *world) {}, 0},
		{"its stamp is the last", earlierBoot, func(w *world) { stamp(w, earlierBoot+"\n", 9*time.Hour) }, 9 * time.Hour},
		{"in the file of boots", earlierBoot, func(w *world) {
			w.write("sessions/.fleet-boots", earlierBoot+" "+at(w, 8*time.Hour)+"\n"+thisBoot+" "+at(w, time.Hour)+"\n")
			stamp(w, thisBoot, time.Minute)
		}, 8 * time.Hour},
		{"in both, the stamp is later", earlierBoot, func(w *world) {
			w.write("sessions/.fleet-boots", before+" "+at(w, 50*time.Hour)+"\n"+earlierBoot+" "+at(w, 8*time.Hour)+"\n")
			stamp(w, earlierBoot, 7*time.Hour)
		}, 7 * time.Hour},
		{"two boots ago", before, func(w *world) {
			w.write("sessions/.fleet-boots", before+" "+at(w, 50*time.Hour)+"\n"+earlierBoot+" "+at(w, 8*time.Hour)+"\n")
			stamp(w, earlierBoot, 7*time.Hour)
		}, 50 * time.Hour},
		{"stamp of another program", earlierBoot, func(w *world) {
			w.write("sessions/.fleet-boots", earlierBoot+" "+at(w, up+8*time.Hour)+"\n")
			stamp(w, "", up+6*time.Hour)
		}, up + 6*time.Hour},
		{"stamp from the future", earlierBoot, func(w *world) { stamp(w, earlierBoot, -time.Hour) }, 0},
		{"lines that say nothing", earlierBoot, func(w *world) {
			w.write("sessions/.fleet-boots", "\n \n"+earlierBoot+"\n"+earlierBoot+" yesterday\n../x "+at(w, time.Hour)+"\n"+earlierBoot+" "+at(w, 8*time.Hour))
		}, 8 * time.Hour},
		{"no file but a directory", earlierBoot, func(w *world) {
			stamp(w, earlierBoot, 9*time.Hour)
		}, 9 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if w.here.MachineID == "" {
				t.Fatal("no /etc/machine-id, so that no machine is the same")
			}
			tt.world(w)
			w.add("s", func(r *fsstore.Record) { r.BootID = tt.boot })
			w.run()
			check(t, "idle_from", w.archived()["s"].IdleFrom, w.ago(tt.want))

			// The earlier boots are not forgotten by the runs of this one.
			w.now = w.now.Add(time.Hour)
			w.add("later", func(r *fsstore.Record) { r.BootID = tt.boot })
			w.run()
			if tt.want > 0 {
				check(t, "idle_from later", w.archived()["later"].IdleFrom, w.ago(tt.want+time.Hour))
			}
		})
	}
}

// TestArchiveKeepsTheNewer: of several records of a session the one with the
// newest event stays, in whatever order they come.
func TestArchiveKeepsTheNewer(t *testing.T) {
	for _, order := range [][]int64{{1, 2}, {2, 1}} {
		for name, set := range map[string]func(r *fsstore.Record, n int64){
			"by the time since boot": func(r *fsstore.Record, n int64) { r.Boottime = n },
			"by the clock":           func(r *fsstore.Record, n int64) { r.TS += n - 10 },
			"in one run":             func(r *fsstore.Record, n int64) { r.Boottime = n },
		} {
			w := newWorld(t)
			for _, n := range order {
				w.add("s", func(r *fsstore.Record) {
					set(r, n)
					r.Title = []string{"", "older", "newer"}[n]
					r.PID, r.ProcessStart = "9", string(rune('0'+n))
				})
				if name != "in one run" {
					w.run()
				}
			}
			w.run()
			check(t, name, w.archived()["s"].Title, "newer")
			check(t, name+": stored", w.sessions(), "")
		}
	}
}

// TestForget: an entry goes when its session has gone on or was ended by the
// user, and after 7 days.
func TestForget(t *testing.T) {
	type record = fsstore.Record
	another := func(r *record) { r.ProcessStart = "82000" } // process of the session
	ended := func(r *record) { another(r); r.Status, r.EndReason = fsstore.Ended, "prompt_input_exit" }
	for _, tt := range []struct {
		name   string
		age    time.Duration // of the entry's file
		record func(*record) // another record of the session
		ts     int64         // of it, against the entry
		gone   bool
	}{
		{name: "nothing else"},
		{name: "7 days", age: 7 * day},
		{name: "over 7 days", age: 7*day + time.Second, gone: true},
		{name: "from the future", age: -day},
		{name: "the session goes on", record: another, ts: 1, gone: true},
		{name: "older, in another process", record: another, ts: -1},
		{name: "ended by the user since", record: ended, ts: 1, gone: true},
		{name: "ended by the user at the same time", record: ended, gone: true},
		{name: "ended by the user before", record: ended, ts: -1}, // A /clear, B --resume, B killed
		{name: "ended by a signal before", ts: -1, record: func(r *record) { ended(r); r.EndReason = "other" }},
		{name: "another session", ts: 1, record: func(r *record) { another(r); r.Session = "t" }},
		{name: "another harness", ts: 1, record: func(r *record) { another(r); r.Harness = "codex" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.add("s", func(r *record) { r.PID, r.TS = "9", r.TS-60 })
			w.run()
			check(t, "resumable", w.resumable(), "s")
			w.setTime("resumable/"+r.SessionDigest()+".json", tt.age)
			if tt.record != nil {
				w.runs(treeProcess{start: "82000"})
				other := w.add("s", func(other *record) { tt.record(other); other.TS = r.TS + tt.ts })
				if other.Harness != "claude" {
					w.runs(treeProcess{start: "82000", args: []string{"codex"}})
				}
			}
			w.run()
			want := "s"
			if tt.gone {
				want = ""
			}
			check(t, "resumable", w.resumable(), want)
		})
	}
}

// TestEndedAfterDeath: a session was killed, resumed in another process and
// ended there by the user; nobody maintained the store meanwhile.
func TestEndedAfterDeath(t *testing.T) {
	w := newWorld(t)
	w.add("s", func(r *fsstore.Record) { r.PID, r.TS = "9", w.ago(3*time.Minute) })
	w.add("s", func(r *fsstore.Record) {
		r.PID, r.TS, r.Status, r.EndReason = "10", w.ago(time.Minute), fsstore.Ended, "prompt_input_exit"
	})
	result := w.run()
	check(t, "removed", list(result.Removed), "s s")
	check(t, "archived", list(result.Archived), "")
	check(t, "resumable", w.resumable(), "")
}

// TestArchiveTooLong: a record that is too long with the time which an entry
// adds goes without one. It is no failure, and keeps no other record.
func TestArchiveTooLong(t *testing.T) {
	const entry = `,"idle_from":1234567890`
	for spare, archived := range map[int]bool{len(entry): true, len(entry) - 1: false, 0: false} {
		w := newWorld(t)
		w.add("other", func(r *fsstore.Record) { r.PID = "9" })
		long := w.record("long", nil)
		long.Unknown = []fsstore.Member{{Name: "mine", Value: []byte(`""`)}}
		rest := fsstore.MaxRecord - spare - len(long.AppendJSON(nil))
		long.Unknown[0].Value = []byte(`"` + strings.Repeat("x", rest) + `"`)
		w.put(long)
		result := w.run()
		want := "other"
		if archived {
			want = "long other"
		}
		check(t, "removed", list(result.Removed), "long other")
		check(t, "archived", list(result.Archived), want)
		check(t, "stored", w.sessions(), "")
		check(t, "resumable", w.resumable(), want)
		if temps, _ := filepath.Glob(filepath.Join(w.dir, "*", ".fleet-tmp-*")); len(temps) > 0 {
			t.Errorf("left: %v", temps)
		}
	}
}

// TestArchiveUnusable: what cannot be archived stays in the store.
func TestArchiveUnusable(t *testing.T) {
	w := newWorld(t)
	w.add("s", nil)
	w.write("resumable", "no directory")
	result := w.runAs(Options{Forced: true})
	check(t, "skipped", result.Skipped, Unavailable)
	if result.Err == nil || !strings.Contains(result.Err.Error(), "resumable") {
		t.Errorf("got %v, want what is unusable", result.Err)
	}
	check(t, "stored", w.sessions(), "s")
}

// Entries that are none hide no other, and go after 7 days.
func TestUnreadableEntries(t *testing.T) {
	w := newWorld(t)
	r := w.add("s", nil)
	w.run()
	other := w.record("other", nil)
	bad := "resumable/" + other.SessionDigest() + ".json"
	w.write(bad, "{")
	misplaced := "resumable/" + w.record("misplaced", nil).SessionDigest() + ".json"
	w.write(misplaced, string(r.AppendJSON(nil)))
	w.run()
	if !w.exists(bad) || !w.exists(misplaced) || !w.exists("resumable/"+r.SessionDigest()+".json") {
		t.Error("an entry is gone")
	}
	w.setTime(bad, 7*day+time.Second)
	w.run()
	if w.exists(bad) || !w.exists(misplaced) {
		t.Error("the old one stays, or another went")
	}
}

// Another program, which keeps no archive, may maintain the same store: what it
// removes between the two steps of ours can be resumed all the same. What a
// hook writes in that moment goes on.
func TestArchivedMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name      string
		meanwhile func(w *world, r *fsstore.Record)
		stored    string
		want      string
	}{
		{"removed", func(w *world, r *fsstore.Record) { os.Remove(recordPath(w.dir, r.Key)) }, "", "s"},
		{"written", func(w *world, r *fsstore.Record) {
			c := *r
			c.TS, c.Arrival, c.Detail = r.TS+1, 2, "goes on"
			w.put(&c)
		}, "s", ""},
	} {
		w := newWorld(t)
		r := w.add("s", func(r *fsstore.Record) { r.TS -= 60 })
		atStep(t, func(name string) {
			if name == "unlink" {
				tt.meanwhile(w, r)
			}
		})
		result := w.run()
		check(t, tt.name+": removed", list(result.Removed), "")
		check(t, tt.name+": stored", w.sessions(), tt.stored)
		check(t, tt.name+": resumable", w.resumable(), tt.want)
	}
}
