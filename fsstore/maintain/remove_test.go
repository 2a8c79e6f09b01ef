package maintain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

const day = 24 * time.Hour

// TestRemove: the rules by which a record goes, each on both sides of its
// boundary. The process of a record is 4242, a claude, and lives unless the
// test says what became of it.
func TestRemove(t *testing.T) {
	type record = fsstore.Record
	const launch = "0123456789abcdef0123456789abcdef"
	ended := func(r *record) { r.Status, r.EndReason = fsstore.Ended, "prompt_input_exit" }
	otherMachine := func(r *record) { r.BootID, r.MachineID = "another", "another" }
	otherNamespace := func(r *record) { r.PIDNamespace = "1" }
	plugin := func(r *record) { r.Harness, r.Source = "opencode", fsstore.SourcePlugin }
	other := func(r *record) { r.Harness, r.Session = "other", launch; pidless(r) }
	gone := func(w *world) { w.ends(pid) }
	launched := func(pid, start, boot string) func(w *world) {
		return func(w *world) {
			w.write("launches/"+launch+".json", fmt.Sprintf(`{"pid":%q,"process_start":%q,"boot_id":%q}`, pid, start, boot))
		}
	}
	all := func(changes ...func(*record)) func(*record) {
		return func(r *record) {
			for _, change := range changes {
				change(r)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		age    time.Duration
		record func(*record)
		world  func(*world) // what else there is
		goes   bool
		why    string // a part of it
	}{
		{name: "alive"},
		{name: "alive, not reported for a month", age: 30 * day},
		{name: "alive, running for three days", age: 3 * day, record: func(r *record) { r.Status = fsstore.Running }},
		{name: "alive, from the future", age: -time.Hour},
		{name: "alive, nothing but pid and start", age: 30 * day, record: func(r *record) { r.BootID, r.PIDNamespace, r.MachineID = "", "", "" }},
		{name: "alive, start unknown", age: 30 * day, record: func(r *record) { r.ProcessStart, r.Instance = "", "emitter" }},

		{name: "ended, alive, 5 min", age: 5 * time.Minute, record: ended},
		{name: "ended, alive, over 5 min", age: 5*time.Minute + time.Second, record: ended, goes: true, why: "ended 5m ago"},
		{name: "ended, dead, now", record: ended, world: gone, goes: true, why: "is gone"},
		{name: "ended, no process, 5 min", age: 5 * time.Minute, record: all(pidless, ended)},
		{name: "ended, no process, over 5 min", age: 5*time.Minute + time.Second, record: all(pidless, ended), goes: true},

		{name: "dead", world: gone, goes: true, why: "process 4242 is gone"},
		{name: "dead and running", record: func(r *record) { r.Status = fsstore.Running }, world: gone, goes: true, why: "is gone"},
		{name: "dead, nothing but pid and start", world: gone, goes: true,
			record: func(r *record) { r.BootID, r.PIDNamespace, r.MachineID = "", "", "" }},
		{name: "dead, from the future", age: -time.Hour, world: gone, goes: true},
		{name: "discovered and dead", world: gone, goes: true, record: func(r *record) {
			r.Session, r.Kind, r.Source, r.Status = "proc-4242", fsstore.KindProcess, fsstore.SourceProcess, fsstore.Discovered
		}},
		{name: "discovered and alive", age: 30 * day, record: func(r *record) {
			r.Session, r.Kind, r.Source, r.Status = "proc-4242", fsstore.KindProcess, fsstore.SourceProcess, fsstore.Discovered
		}},
		{name: "pid reused by another claude", world: func(w *world) { w.runs(treeProcess{start: "99999"}) }, goes: true, why: "other start ticks"},
		{name: "pid reused by a sleep", world: func(w *world) { w.runs(treeProcess{start: "99999", args: []string{"sleep"}}) }, goes: true, why: "other start ticks"},
		{name: "became a sleep", world: func(w *world) { w.runs(treeProcess{args: []string{"sleep"}}) }, goes: true, why: "is not claude"},
		{name: "a zombie", world: func(w *world) { w.runs(treeProcess{state: "Z"}) }, goes: true, why: "not waited for"},
		{name: "dead, not reaped", world: func(w *world) { w.runs(treeProcess{state: "X"}) }, goes: true, why: "not waited for"},
		{name: "stopped", world: func(w *world) { w.runs(treeProcess{state: "T"}) }},
		{name: "a pid that is none", record: func(r *record) { r.PID = "0" }, goes: true},
		{name: "any program of an emitter", age: 30 * day, record: func(r *record) { r.Harness, r.Instance = "pi", "emitter" },
			world: func(w *world) { w.runs(treeProcess{args: []string{"node"}}) }},
		{name: "any program of a notice", age: 30 * day, record: func(r *record) { r.Source = fsstore.SourceNotify },
			world: func(w *world) { w.runs(treeProcess{args: []string{"make"}}) }},
		{name: "any program of a harness known from documentation", age: 30 * day, record: func(r *record) { r.Harness = "droid" },
			world: func(w *world) { w.runs(treeProcess{args: []string{"node"}}) }},

		{name: "earlier boot", record: func(r *record) { r.BootID = earlierBoot }, goes: true, why: "started anew"},
		{name: "earlier boot, pid lives again", record: func(r *record) { r.BootID = earlierBoot }, goes: true, why: "started anew"},
		{name: "earlier boot, no process", record: all(pidless, func(r *record) { r.BootID = earlierBoot }), goes: true, why: "started anew"},
		{name: "other boot, machine not known", age: 7 * day, record: func(r *record) { r.BootID, r.MachineID = earlierBoot, "" }, world: gone},
		{name: "same boot, other machine id", age: 30 * day, record: func(r *record) { r.MachineID = "another" }},

		{name: "other machine, 7 days", age: 7 * day, record: otherMachine},
		{name: "other machine, over 7 days", age: 7*day + time.Second, record: otherMachine, goes: true, why: "another machine, not reported for 7d0h"},
		{name: "other machine, no such pid, 7 days", age: 7 * day, record: otherMachine, world: gone},
		{name: "other machine, ended an hour ago", age: time.Hour, record: all(otherMachine, ended)},
		{name: "other machine, no process, an hour", age: time.Hour, record: all(pidless, otherMachine)},
		{name: "other machine, no process, over 7 days", age: 7*day + time.Second, record: all(pidless, otherMachine), goes: true},
		{name: "other machine, from the future", age: -time.Hour, record: otherMachine},
		{name: "other namespace, 7 days", age: 7 * day, record: otherNamespace, world: gone},
		{name: "other namespace, over 7 days", age: 7*day + time.Second, record: otherNamespace, world: gone, goes: true, why: "another pid namespace"},
		{name: "other namespace, ended an hour ago", age: time.Hour, record: all(otherNamespace, ended)},
		{name: "other namespace, no process, an hour", age: time.Hour, record: all(pidless, otherNamespace)},
		{name: "stat unreadable, 7 days", age: 7 * day, world: unreadable},
		{name: "stat unreadable, over 7 days", age: 7*day + time.Second, world: unreadable, goes: true, why: "cannot be looked at"},
		{name: "stat unreadable, ended an hour ago", age: time.Hour, record: ended, world: unreadable},
		{name: "names unreadable, 7 days", age: 7 * day, world: func(w *world) { w.runs(treeProcess{args: []string{"sleep"}}); w.hide("4242/cmdline", "4242/exe") }},
		{name: "no proc file system", age: 7 * day, world: func(w *world) {
			w.ends(pid)
			w.ends("self")
		}},

		{name: "no process, 10 min", age: 10 * time.Minute, record: pidless},
		{name: "no process, over 10 min", age: 10*time.Minute + time.Second, record: pidless, goes: true, why: "not reported for 10m"},
		{name: "no process, never reported", record: all(pidless, func(r *record) { r.TS = 0 }), goes: true, why: "not reported for an unknown time"},
		{name: "no process, over 10 min, running", age: 10*time.Minute + time.Second, goes: true,
			record: all(pidless, func(r *record) { r.Status = fsstore.Running })},
		{name: "no process, of nowhere, over 10 min", age: 10*time.Minute + time.Second, goes: true,
			record: all(pidless, func(r *record) { r.BootID, r.PIDNamespace, r.MachineID = "", "", "" })},

		{name: "launch alive", record: other, world: launched(pid, start, thisBoot)},
		{name: "launch ended", record: other, world: launched("4243", start, thisBoot), goes: true, why: "launch has ended"},
		{name: "launch ended, by the variable", world: launched("4243", start, thisBoot), goes: true, why: "launch has ended", record: all(other, func(r *record) {
			r.Session, r.TerminalEnv = "mine", []fsstore.Var{{Name: fsstore.EnvLaunchID, Value: launch}}
		})},
		{name: "launch's pid reused", record: other, world: launched(pid, "99", thisBoot), goes: true, why: "launch has ended"},
		{name: "launch of an earlier boot", record: other, world: launched(pid, start, earlierBoot), goes: true, why: "launch has ended"},
		{name: "launch not recorded", record: other},
		{name: "launch unreadable", record: other, world: func(w *world) { w.write("launches/"+launch+".json", "{") }},
		{name: "launch cannot be judged", record: other, world: func(w *world) { launched(pid, start, thisBoot)(w); unreadable(w) }},
		{name: "launch ended, a known harness", record: all(func(r *record) { r.Session = launch }, pidless), world: launched("4243", start, thisBoot)},
		{name: "launch ended, a process of its own", world: launched("4243", start, thisBoot), record: func(r *record) {
			r.Harness, r.Session = "other", launch
		}},
		{name: "launch ended, other namespace", record: all(other, otherNamespace), world: launched("4243", start, thisBoot)},

		{name: "plugin, 5 s", age: 5 * time.Second, record: plugin, world: gone},
		{name: "plugin, over 5 s", age: 7 * time.Second, record: plugin, world: gone, goes: true},
		{name: "plugin without boot id, 4 s", age: 4 * time.Second, world: gone,
			record: all(plugin, func(r *record) { r.BootID, r.PIDNamespace, r.MachineID = "", "", "" })},
		{name: "plugin, alive", age: 30 * day, record: plugin, world: func(w *world) { w.runs(treeProcess{args: []string{"opencode"}}) }},
		{name: "plugin without process, 10 min", age: 10 * time.Minute, record: all(plugin, func(r *record) { pidless(r); r.Instance, r.Identity = "p1", fsstore.Identified })},
		{name: "plugin without process, over 10 min", age: 10*time.Minute + time.Second, goes: true,
			record: all(plugin, func(r *record) { pidless(r); r.Instance, r.Identity = "p1", fsstore.Identified })},
		{name: "not a plugin, 1 s", age: time.Second, record: func(r *record) { r.Harness = "opencode" }, world: gone, goes: true},

		{name: "tombstone, alive", age: 30 * day, record: func(r *record) { r.RemovedAt = r.TS }},
		{name: "tombstone, dead", record: func(r *record) { r.RemovedAt = r.TS }, world: gone, goes: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.runs(treeProcess{})
			r := w.record("s", func(r *record) {
				r.TS = w.ago(tt.age)
				if tt.record != nil {
					tt.record(r)
				}
			})
			if strings.HasPrefix(tt.name, "earlier boot") && w.here.MachineID == "" {
				t.Fatal("no /etc/machine-id, so that no machine is the same")
			}
			if tt.world != nil {
				tt.world(w)
			}
			w.put(r)
			result := w.run()
			_, stays := w.stored()[r.Key]
			if stays == tt.goes {
				t.Errorf("stays: %t, want %t", stays, !tt.goes)
			}
			var removed []Change
			for _, c := range result.Removed {
				if c.CanonicalID == r.CanonicalID() {
					removed = append(removed, c)
				}
			}
			if (len(removed) == 1) != tt.goes {
				t.Errorf("removed: %+v", result.Removed)
			}
			for _, c := range removed {
				if c.Harness != r.Harness || c.Session != r.Session || c.Why == "" || !strings.Contains(c.Why, tt.why) {
					t.Errorf("removed: got %+v, want %q of session %s", c, tt.why, r.Session)
				}
			}
		})
	}
}

// unreadable makes the stat file of process 4242 one that nobody can read.
func unreadable(w *world) { w.hide("4242/stat") }

// hide makes files of the proc file system unreadable, even for root.
func (w *world) hide(names ...string) {
	w.t.Helper()
	for _, name := range names {
		path := filepath.Join(string(w.root), name)
		os.Remove(path)
		var err error
		if filepath.Base(name) == "exe" {
			err = os.WriteFile(path, nil, 0o600) // no link
		} else {
			err = os.Mkdir(path, 0o700)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// Schema 0 files are judged like others, and removed without locks.
func TestRemoveLegacy(t *testing.T) {
	w := newWorld(t)
	w.runs(treeProcess{})
	files := map[string]string{
		"alive":        fmt.Sprintf(`{"agent":"claude","session_id":"alive","status":"idle","pid":%s,"ts":%d}`, pid, w.ago(30*day)),
		"dead":         fmt.Sprintf(`{"agent":"claude","session_id":"dead","status":"running","pid":4243,"ts":%d}`, w.now.Unix()),
		"pidless":      fmt.Sprintf(`{"agent":"claude","session_id":"pidless","status":"running","ts":%d}`, w.ago(10*time.Minute)),
		"pidless-old":  fmt.Sprintf(`{"agent":"claude","session_id":"pidless-old","status":"running","ts":%d}`, w.ago(10*time.Minute+time.Second)),
		"ended":        fmt.Sprintf(`{"agent":"claude","session_id":"ended","status":"ended","pid":%s,"ts":%d}`, pid, w.ago(5*time.Minute)),
		"ended-before": fmt.Sprintf(`{"agent":"claude","session_id":"ended-before","status":"ended","pid":%s,"ts":%d}`, pid, w.ago(5*time.Minute+time.Second)),
	}
	for name, text := range files {
		w.write("sessions/"+name+".json", text)
	}
	result := w.run()
	check(t, "stored", w.sessions(), "alive ended pidless")
	check(t, "removed", list(result.Removed), "dead ended-before pidless-old")
	check(t, "archived", w.resumable(), "")
	for _, name := range []string{"alive", "pidless", "ended"} {
		if got, err := os.ReadFile(filepath.Join(w.dir, "sessions", name+".json")); string(got) != files[name] {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if locks, _ := filepath.Glob(filepath.Join(w.dir, "sessions", ".fleet-v1-*.lock")); len(locks) > 0 {
		t.Errorf("locks of files that nobody locks: %v", locks)
	}
}

// What is no record is neither removed nor a reason to keep others.
func TestRemoveAmongUnreadable(t *testing.T) {
	w := newWorld(t)
	w.add("dead", nil)
	newer := recordPath(w.dir, w.record("newer", nil).Key)
	for _, text := range []struct{ file, text string }{
		{newer, strings.Replace(string(w.record("newer", nil).AppendJSON(nil)), `"schema_version":1`, `"schema_version":2`, 1)},
		{filepath.Join(w.dir, "sessions", "garbage.json"), "{"},
	} {
		if err := os.WriteFile(text.file, []byte(text.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(w.dir, "sessions", "directory.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	result := w.run()
	check(t, "removed", list(result.Removed), "dead")
	for _, file := range []string{newer, filepath.Join(w.dir, "sessions", "garbage.json"), filepath.Join(w.dir, "sessions", "directory.json")} {
		if _, err := os.Lstat(file); err != nil {
			t.Error(err)
		}
	}
}

func TestRemoveThousands(t *testing.T) {
	const dead = 5000
	w := newWorld(t)
	w.runs(treeProcess{})
	w.add("alive", nil)
	for i := range dead {
		w.add("dead-"+strconv.Itoa(i), func(r *fsstore.Record) {
			r.PID = strconv.Itoa(10000 + i)
			if i%2 == 0 {
				r.Resume = nil
			}
		})
	}
	began := time.Now()
	result := w.run()
	t.Logf("%d removed in %v", len(result.Removed), time.Since(began).Round(time.Millisecond))
	check(t, "stored", w.sessions(), "alive")
	check(t, "removed", len(result.Removed), dead)
	check(t, "archived", len(result.Archived), dead/2)
	check(t, "resumable", len(w.archived()), dead/2)
}

// On the real proc file system: a process that lives, one that was killed and
// is a zombie, and one whose parent has noticed.
func TestRemoveRealProcesses(t *testing.T) {
	w := newWorld(t)
	w.root = proc.Root
	w.here = proc.Root.Host()
	alive, zombie, reaped := startAgent(t, w.dir, "claude"), startAgent(t, w.dir, "claude"), startAgent(t, w.dir, "claude")
	for name, a := range map[string]*agent{"alive": alive, "zombie": zombie, "reaped": reaped} {
		w.add(name, func(r *fsstore.Record) { r.PID, r.ProcessStart = a.pid, a.start })
	}
	// The same pid, started at another time.
	w.add("reused", func(r *fsstore.Record) { r.PID, r.ProcessStart = alive.pid, alive.start+"0" })
	zombie.kill()
	reaped.kill()
	reaped.reap()
	w.now = time.Now()
	result := w.run()
	left := w.stored()
	for _, r := range left {
		if r.Kind == fsstore.KindSession && r.Session != "alive" && r.Source == fsstore.SourceHook {
			t.Errorf("%s is left", r.Session)
		}
	}
	if left[fsstore.Key{Harness: "claude", Session: "alive", Instance: alive.pid + ":" + alive.start}] == nil {
		t.Error("what lives was removed")
	}
	var reasons []string
	for _, c := range result.Removed {
		reasons = append(reasons, c.Session+": "+strings.ReplaceAll(strings.ReplaceAll(c.Why, zombie.pid, "Z"), reaped.pid, "R"))
	}
	check(t, "removed", len(result.Removed), 3)
	for _, want := range []string{"zombie: process Z has ended and was not waited for", "reaped: process R is gone"} {
		if !strings.Contains(strings.Join(reasons, "\n"), want) {
			t.Errorf("reasons: got %q, want %q among them", reasons, want)
		}
	}
}

// A maintainer in another pid namespace cannot judge what runs here, whether
// it sees our proc file system or its own. In ours it does not find what runs
// there either: it knows that by other pids.
func TestRemoveFromAnotherNamespace(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []string
		added   int    // of the agent there
		kept    string // records of here
	}{
		{"our proc file system", []string{"-Urpf"}, 0, "ended here unmarked"},
		// A record that does not say where it is from is judged by its pid alone.
		{"its own proc file system", []string{"-Urpf", "--mount-proc"}, 1, "ended here"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			w := &world{t: t, dir: dir, now: time.Now(), here: proc.Root.Host()}
			w.open().Close()
			startAgent(t, dir, "claude") // which is not there
			w.add("here", func(r *fsstore.Record) { r.PID, r.ProcessStart = "4194304", "1" })
			w.add("unmarked", func(r *fsstore.Record) {
				r.PID, r.ProcessStart, r.BootID, r.PIDNamespace, r.MachineID = "4194304", "1", "", "", ""
			})
			w.add("ended", func(r *fsstore.Record) { r.Status, r.TS = fsstore.Ended, w.ago(time.Hour) })
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("unshare", append(test.options, exe, dir, "claude")...)
			cmd.Env = self("maintain").Env
			out, err := cmd.CombinedOutput()
			if added := strings.Count(string(out), "no hook has reported"); err != nil || added != test.added || strings.Contains(string(out), `"skipped"`) {
				t.Fatalf("%v: want %d added:\n%s", err, test.added, out)
			}
			var kept []string
			for id := range strings.FieldsSeq(w.sessions()) {
				if !strings.HasPrefix(id, "proc-") {
					kept = append(kept, id)
				}
			}
			check(t, "kept", strings.Join(kept, " "), test.kept)
		})
	}
}
