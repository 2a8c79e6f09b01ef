package maintain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
)

// config is where the claude of a world has its files.
func (w *world) config() string { return filepath.Join(filepath.Dir(w.dir), "claude") }

// claudeSays writes sessions/4242.json as Claude Code does.
func (w *world) claudeSays(session, status string, at time.Time) {
	w.t.Helper()
	w.claudeFile(fmt.Sprintf(`{"pid":%s,"sessionId":%q,"cwd":"/src/other","startedAt":1,"procStart":%q,"kind":"interactive","status":%q,"statusUpdatedAt":%d}`,
		pid, session, start, status, at.UnixMilli()))
}

func (w *world) claudeFile(text string) {
	w.t.Helper()
	file := filepath.Join(w.config(), "sessions", pid+".json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// codexSays writes the rollout of a session and returns its path.
func (w *world) codexSays(session, event string, at time.Time, after ...string) string {
	w.t.Helper()
	file := filepath.Join(filepath.Dir(w.dir), "rollout-2026-10-01T10-00-00-"+session+".jsonl")
	text := ""
	for _, line := range append([]string{`"type":"event_msg","payload":` + event}, after...) {
		text += `{"timestamp":"` + at.UTC().Format("2006-01-02T15:04:05.000Z") + `",` + line + "}\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// waits makes a record one of a session that waits.
func waits(r *fsstore.Record) {
	if r.Status == fsstore.Waiting {
		r.Tool, r.WaitingFor = "Bash", &fsstore.Wait{Tool: "Bash"}
	}
}

// TestMend: every state with every thing that the agent's own file may say. Of
// all that, four are changes, and one more for codex.
func TestMend(t *testing.T) {
	claude := map[string]fsstore.Status{"idle": fsstore.Idle, "busy": fsstore.Running, "waiting": fsstore.Waiting, "compacting": ""}
	codex := map[string]fsstore.Status{
		`{"type":"task_started"}`: fsstore.Running, `{"type":"task_complete"}`: fsstore.Idle,
		`{"type":"task_complete","error":{"message":"429"}}`: fsstore.Error, `{"type":"turn_aborted","reason":"interrupted"}`: fsstore.Idle,
		`{"type":"token_count"}`: "",
	}
	allowed := map[string]bool{
		"claude running idle": true, "claude waiting idle": true, "claude waiting running": true, "claude running waiting": true,
		"codex running idle": true, "codex waiting idle": true, "codex waiting running": true, "codex running error": true,
	}
	details := map[fsstore.Status]string{
		fsstore.Idle: "interrupted", fsstore.Running: "processing prompt", fsstore.Waiting: "waiting for user input", fsstore.Error: "turn failed (API error)",
	}
	for harness, says := range map[string]map[string]fsstore.Status{"claude": claude, "codex": codex} {
		for words, to := range says {
			for _, from := range fsstore.Statuses {
				if from == fsstore.Discovered {
					continue
				}
				name := fmt.Sprintf("%s %s %s", harness, from, to)
				t.Run(fmt.Sprintf("%s %s, file says %s", harness, from, words), func(t *testing.T) {
					w := newWorld(t)
					w.runs(treeProcess{args: []string{harness}, env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
					at := w.now.Add(-20 * time.Second)
					r := w.record("s", func(r *fsstore.Record) {
						r.Harness, r.Status, r.TS, r.Boottime, r.Detail = harness, from, w.ago(time.Minute), 77, "before"
						waits(r)
						if harness == "codex" {
							r.TranscriptPath = w.codexSays("s", words, at)
						} else {
							w.claudeSays("s", words, at)
						}
					})
					w.put(r)
					before, err := os.ReadFile(recordPath(w.dir, r.Key))
					if err != nil {
						t.Fatal(err)
					}
					result := w.run()
					if !allowed[name] {
						if text, err := os.ReadFile(recordPath(w.dir, r.Key)); string(text) != string(before) || err != nil || len(result.Mended) > 0 {
							t.Errorf("got %s, %v, %+v; want nothing written", text, err, result.Mended)
						}
						return
					}
					got := w.stored()[r.Key]
					check(t, "status", got.Status, to)
					check(t, "ts", got.TS, at.Unix())
					check(t, "boottime_ns", got.Boottime, 77)
					check(t, "last_event", got.LastEvent, harness+".observed-"+string(to))
					check(t, "arrival_sequence", got.Arrival, 2)
					check(t, "source", got.Source, fsstore.SourceHook)
					check(t, "cwd", got.Cwd, "/src/repo")
					check(t, "tool", got.Tool, "")
					if waiting := got.WaitingFor != nil; waiting != (to == fsstore.Waiting) {
						t.Errorf("waiting_for: got %+v", got.WaitingFor)
					}
					check(t, "detail", got.Detail, details[to])
					if len(result.Mended) != 1 || result.Mended[0].CanonicalID != r.CanonicalID() || !strings.Contains(result.Mended[0].Why, string(from)+" to "+string(to)) {
						t.Errorf("mended: got %+v", result.Mended)
					}
					// An equal state writes nothing.
					again := w.run()
					check(t, "mended again", len(again.Mended), 0)
					check(t, "arrival_sequence", w.stored()[r.Key].Arrival, 2)
				})
			}
		}
	}
}

// TestMendEvidence: what is no evidence against a running session.
func TestMendEvidence(t *testing.T) {
	file := func(pid, session, start, status string, at int64) func(*world) {
		return func(w *world) {
			w.claudeFile(fmt.Sprintf(`{"pid":%s,"sessionId":%q,"procStart":%q,"status":%q,"statusUpdatedAt":%d}`, pid, session, start, status, w.now.UnixMilli()+at))
		}
	}
	idle := func(at int64) func(*world) { return file(pid, "s", start, "idle", at) }
	for _, tt := range []struct {
		name   string
		record func(w *world, r *fsstore.Record)
		world  func(*world)
		mends  bool
	}{
		{name: "newer", world: idle(-20_000), mends: true},
		{name: "no file", world: func(*world) {}},
		{name: "older", world: idle(-61_000)},
		{name: "a second newer", world: idle(-59_000), mends: true},
		{name: "a little ahead", world: idle(200_000), mends: true},
		{name: "far ahead", world: idle(400_000)},
		{name: "other pid", world: file("4243", "s", start, "idle", -20_000)},
		{name: "other start", world: file(pid, "s", "999", "idle", -20_000)},
		{name: "other session", world: file(pid, "t", start, "idle", -20_000)},
		{name: "no time", world: func(w *world) {
			w.claudeFile(`{"pid":` + pid + `,"sessionId":"s","procStart":"` + start + `","status":"idle"}`)
		}},
		{name: "garbage", world: func(w *world) { w.claudeFile("{") }},
		{name: "empty", world: func(w *world) { w.claudeFile("") }},
		{name: "a directory", world: func(w *world) { os.MkdirAll(filepath.Join(w.config(), "sessions", pid+".json"), 0o700) }},
		{name: "a link", world: func(w *world) {
			idle(-20_000)(w)
			file := filepath.Join(w.config(), "sessions", pid+".json")
			os.Rename(file, file+".old")
			os.Symlink(file+".old", file)
		}},
		{name: "by the transcript's directory", mends: true, world: idle(-20_000), record: func(w *world, r *fsstore.Record) {
			r.TranscriptPath = filepath.Join(w.config(), "projects", "-work-repo", "s.jsonl")
			w.runs(treeProcess{}) // knows of no directory
		}},
		{name: "transcript elsewhere", world: idle(-20_000), record: func(w *world, r *fsstore.Record) { r.TranscriptPath = "/elsewhere/projects/x/s.jsonl" }},
		{name: "tombstone", world: idle(-20_000), record: func(w *world, r *fsstore.Record) { r.RemovedAt = r.TS }},
		{name: "other namespace", world: idle(-20_000), record: func(w *world, r *fsstore.Record) { r.PIDNamespace = "1" }},
		{name: "no process", world: idle(-20_000), record: func(w *world, r *fsstore.Record) { pidless(r) }},
		{name: "a hook was later by the time since boot", world: idle(-20_000), record: func(w *world, r *fsstore.Record) {
			r.Boottime = linux.Boottime() - int64(10*time.Second)
		}},
		{name: "a hook was earlier by the time since boot", mends: true, world: idle(-20_000), record: func(w *world, r *fsstore.Record) {
			r.Boottime = linux.Boottime() - int64(30*time.Second)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.runs(treeProcess{env: []string{"A=b", "CLAUDE_CONFIG_DIR=" + w.config()}})
			tt.world(w)
			r := w.record("s", func(r *fsstore.Record) {
				r.Status, r.TS = fsstore.Running, w.ago(time.Minute)
				if tt.record != nil {
					tt.record(w, r)
				}
			})
			w.put(r)
			result := w.run()
			want := fsstore.Running
			if tt.mends {
				want = fsstore.Idle
			}
			check(t, "status", w.stored()[r.Key].Status, want)
			check(t, "mended", len(result.Mended) == 1, tt.mends)
			check(t, "removed_at", w.stored()[r.Key].RemovedAt, r.RemovedAt)
		})
	}
}

// A Codex request that an automatic reviewer decides is no wait, although the
// hook that reported it is newer than all that the rollout says.
func TestMendAutomaticReviewer(t *testing.T) {
	for reviewer, want := range map[string]fsstore.Status{"guardian_subagent": fsstore.Running, "user": fsstore.Waiting, "": fsstore.Waiting} {
		w := newWorld(t)
		w.runs(treeProcess{args: []string{"codex"}})
		r := w.add("s", func(r *fsstore.Record) {
			r.Harness, r.Status, r.TS = "codex", fsstore.Waiting, w.ago(20*time.Second)
			waits(r)
			r.TranscriptPath = w.codexSays("s", `{"type":"task_started"}`, w.now.Add(-time.Minute),
				`"type":"turn_context","payload":{"approvals_reviewer":"`+reviewer+`"}`)
		})
		w.run()
		check(t, "reviewer "+reviewer, w.stored()[r.Key].Status, want)
	}
}

// What a hook writes while the maintainer reads the agent's file is newer.
func TestMendWrittenMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.runs(treeProcess{env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
	w.claudeSays("s", "idle", w.now.Add(-time.Second))
	r := w.add("s", func(r *fsstore.Record) { r.Status, r.TS = fsstore.Running, w.ago(time.Minute) })
	old := w.add("left", func(r *fsstore.Record) { r.Status, r.TS = fsstore.Running, w.ago(2*time.Minute) })
	atStep(t, func(name string) {
		if name != "mend" {
			return
		}
		s := w.open()
		defer s.Close()
		for _, key := range []fsstore.Key{r.Key, old.Key} {
			if _, err := s.Update(key, fsstore.Rules{Wait: patience}, func(old *fsstore.Record) (*fsstore.Record, error) {
				c := *old
				c.Detail = "of the hook"
				return &c, nil
			}); err != nil {
				t.Error(err)
			}
		}
	})
	result := w.run()
	check(t, "mended", len(result.Mended), 0)
	for _, key := range []fsstore.Key{r.Key, old.Key} {
		got := w.stored()[key]
		if got.Status != fsstore.Running || got.Detail != "of the hook" || got.Arrival != 2 {
			t.Errorf("got %+v", got)
		}
	}
}

// TestSupersede: of several sessions of one process that works on one at a
// time, the maintainer ends all but the one with the newest event.
func TestSupersede(t *testing.T) {
	type record = fsstore.Record
	for _, tt := range []struct {
		name         string
		harness      string
		older, newer func(*record)
		want         bool // the older one is ended
	}{
		{name: "claude", harness: "claude", want: true},
		{name: "codex, not of the daemon", harness: "codex", want: true},
		{name: "gemini", harness: "gemini", want: true},
		{name: "qwen", harness: "qwen", want: true},
		{name: "copilot", harness: "copilot", want: true},
		{name: "pi", harness: "pi", want: true},
		{name: "opencode", harness: "opencode"},
		{name: "other", harness: "other"},
		{name: "codex daemon", harness: "codex", older: func(r *record) { r.Mode = fsstore.Daemon }, newer: func(r *record) { r.Mode = fsstore.Daemon }},
		{name: "the newer one has ended", harness: "claude", newer: func(r *record) { r.Status = fsstore.Ended }, want: true},
		{name: "other start", harness: "claude", newer: func(r *record) { r.ProcessStart = "999999" }},
		{name: "other namespace", harness: "claude", older: func(r *record) { r.PIDNamespace = "1" }},
		{name: "other machine", harness: "claude", older: func(r *record) { r.BootID, r.MachineID = "x", "x" }},
		{name: "found by the scan", harness: "claude", older: func(r *record) {
			r.Kind, r.Status, r.Source = fsstore.KindProcess, fsstore.Discovered, fsstore.SourceProcess
		}},
		{name: "tombstone stays one", harness: "claude", older: func(r *record) { r.RemovedAt = r.TS }, want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.runs(treeProcess{args: []string{tt.harness}})
			if tt.harness == "pi" || tt.harness == "other" {
				w.runs(treeProcess{args: []string{tt.harness}})
			}
			make := func(session string, boottime int64, change func(*record)) *record {
				return w.record(session, func(r *record) {
					r.Harness, r.Status, r.Boottime, r.TS, r.Detail = tt.harness, fsstore.Running, boottime, w.ago(time.Minute), "before"
					if change != nil {
						change(r)
					}
				})
			}
			older, newer := w.put(make("older", 5, tt.older)), w.put(make("newer", 6, tt.newer))
			result := w.run()
			got := w.stored()
			if !tt.want {
				check(t, "mended", len(result.Mended), 0)
				for _, r := range []*record{older, newer} {
					if got := got[r.Key]; got != nil && got.Status != r.Status {
						t.Errorf("%s is %s", r.Session, got.Status)
					}
				}
				return
			}
			ended := got[older.Key]
			check(t, "older", ended.Status, fsstore.Ended)
			check(t, "last_event", ended.LastEvent, tt.harness+".superseded")
			check(t, "arrival_sequence", ended.Arrival, 2)
			check(t, "removed_at", ended.RemovedAt, older.RemovedAt)
			check(t, "mended", list(result.Mended), "older")
			check(t, "newer", got[newer.Key].Status, newer.Status)
			check(t, "newer: arrival_sequence", got[newer.Key].Arrival, 1)
			// It stays as long as any ended one, and cannot be resumed.
			check(t, "removed", len(result.Removed), 0)
			check(t, "mended again", len(w.run().Mended), 0)
			w.now = w.now.Add(5*time.Minute + time.Second)
			removed := w.run().Removed
			if !slices.ContainsFunc(removed, func(c Change) bool { return c.Session == "older" }) {
				t.Errorf("removed: %+v", removed)
			}
			check(t, "resumable", w.resumable(), "")
		})
	}
}

// Superseding ends what is older, once. The time of that end is the newest in
// the store where records have no time since boot, as another program's have
// none; it is no work of the process.
func TestSupersedeOnce(t *testing.T) {
	for name, boottimes := range map[string][3]int64{
		"without a time since boot": {}, "with one": {5, 6, 7}, "one has none": {0, 6, 7}, "the newest has none": {5, 6, 0},
	} {
		for _, names := range [][3]string{{"a", "b", "c"}, {"c", "b", "a"}} {
			w := newWorld(t)
			w.runs(treeProcess{})
			for i, session := range names {
				w.add(session, func(r *fsstore.Record) {
					r.Boottime, r.TS, r.Status = boottimes[i], w.ago(time.Duration(4-i)*time.Minute), fsstore.Running
				})
			}
			check(t, name+": mended", list(w.run().Mended), min(names[0], names[1])+" "+max(names[0], names[1]))
			for i, session := range names {
				r := w.stored()[w.record(session, nil).Key]
				ended := r.Status == fsstore.Ended && r.EndReason == fsstore.EventSuperseded
				if ended != (i < 2) || !ended && (r.Status != fsstore.Running || r.Arrival != 1) {
					t.Errorf("%s: %s of %v: got %+v", name, session, names, r)
				}
			}
			check(t, name+": shown", w.shown(), names[2])
			w.stable()
			check(t, name+": shown later", w.shown(), names[2])
			w.now = w.now.Add(keepEnded)
			check(t, name+": removed", len(w.run().Removed), 2)
			check(t, name+": stored", w.sessions(), names[2])
		}
	}
}

// A process that is gone has left nothing to end: what it had left for another
// session goes with it, and cannot be resumed. So it is after a new boot, and
// with what was ended before.
func TestSupersededAndDead(t *testing.T) {
	for name, was := range map[string]func(*fsstore.Record){
		"gone":                 func(r *fsstore.Record) { r.PID = "9" },
		"with an earlier boot": func(r *fsstore.Record) { r.BootID = earlierBoot },
	} {
		w := newWorld(t)
		w.add("left", func(r *fsstore.Record) { was(r); r.Boottime = 1 })
		w.add("last", func(r *fsstore.Record) { was(r); r.Boottime = 2 })
		w.add("ended", func(r *fsstore.Record) {
			was(r)
			r.ProcessStart, r.Status, r.LastEvent = "1", fsstore.Ended, "claude.superseded"
		})
		result := w.run()
		check(t, name+": mended", list(result.Mended), "")
		check(t, name+": removed", list(result.Removed), "ended last left")
		check(t, name+": archived", list(result.Archived), "last")
	}
}

// What belongs to another machine or container is its own maintainer's.
func TestSupersedeElsewhere(t *testing.T) {
	w := newWorld(t)
	for i, session := range []string{"left", "last"} {
		w.add(session, func(r *fsstore.Record) { r.BootID, r.MachineID, r.Boottime = "b", "m", int64(i+1) })
		w.add(session+" in a container", func(r *fsstore.Record) { r.PIDNamespace, r.Boottime = "1", int64(i+1) })
	}
	w.stable()
}
