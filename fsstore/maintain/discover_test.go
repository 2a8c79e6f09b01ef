package maintain

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// pts returns the device number of a pseudo terminal.
func pts(n int) int { return 136<<8 | n }

// TestDiscover: the record of an agent that no hook has reported.
func TestDiscover(t *testing.T) {
	w := newWorld(t)
	w.runs(treeProcess{tty: pts(7), cwd: "/src/répo"})
	result := w.run()
	check(t, "added", list(result.Added), "proc-4242")
	key := fsstore.Key{Harness: "claude", Session: "proc-4242", Instance: "4242:81868"}
	r := w.stored()[key]
	if r == nil {
		t.Fatalf("got %v", w.sessions())
	}
	want := &fsstore.Record{
		Key: key, Kind: fsstore.KindProcess, Repo: "répo", Cwd: "/src/répo", PID: pid, ProcessStart: start,
		Identity: fsstore.Identified, Status: fsstore.Discovered, Detail: r.Detail,
		TS: w.now.Unix(), Started: w.now.Unix() - 3600 + 818, Arrival: 1, // 81868 ticks after boot
		Source: fsstore.SourceProcess, LastEvent: "claude.discovered", Focus: fsstore.Focus{Kind: fsstore.FocusTerminal},
		BootID: thisBoot, PIDNamespace: thisNamespace, MachineID: w.here.MachineID, Mode: fsstore.Interactive, TTY: "pts/7",
	}
	if got, want := string(r.AppendJSON(nil)), string(want.AppendJSON(nil)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	w.now = w.now.Add(time.Minute)
	result = w.run()
	if again := w.stored()[key]; len(result.Added) > 0 || again.Arrival != 1 || again.TS != r.TS {
		t.Errorf("again: %+v, %+v", result.Added, again)
	}
	w.ends(pid)
	check(t, "removed", list(w.run().Removed), "proc-4242")
	check(t, "resumable", w.resumable(), "")
}

// TestDiscoverKnown: which processes need no record of the scan's.
func TestDiscoverKnown(t *testing.T) {
	type record = fsstore.Record
	node := func(w *world) { // gemini: the outer process waits for the inner one
		w.runs(treeProcess{pid: "200", start: "2000", args: []string{"node", "/usr/bin/gemini"}})
		w.runs(treeProcess{ppid: 200, args: []string{"node", "--max-old-space-size=99", "/usr/bin/gemini"}})
	}
	for _, tt := range []struct {
		name   string
		world  func(*world)
		record func(*record)
		added  string
	}{
		{name: "reported", record: func(*record) {}},
		{name: "reported, ended", record: func(r *record) { r.Status = fsstore.Ended }},
		{name: "reported, tombstone", record: func(r *record) { r.RemovedAt = r.TS }},
		{name: "reported, nothing but pid and start", record: func(r *record) { r.BootID, r.PIDNamespace, r.MachineID = "", "", "" }},
		{name: "reported at another start", record: func(r *record) { r.ProcessStart = "7" }, added: "proc-4242"},
		{name: "reported in another namespace", record: func(r *record) { r.PIDNamespace = "1" }, added: "proc-4242"},
		{name: "reported on another machine", record: func(r *record) { r.BootID, r.MachineID = "x", "x" }, added: "proc-4242"},
		{name: "reported by an emitter", record: func(r *record) { r.Instance = "emitter" }},
		{name: "a launch in the same process", record: func(r *record) { r.Harness = "other" }, added: "proc-4242"},
		{name: "found before, tombstone", record: func(r *record) {
			r.Session, r.Kind, r.Source, r.Status, r.RemovedAt = "proc-4242", fsstore.KindProcess, fsstore.SourceProcess, fsstore.Discovered, r.TS
		}},
		{name: "reported with its launcher's pid", world: node, record: func(r *record) { r.Harness, r.PID, r.ProcessStart = "gemini", "200", "2000" }},
		{name: "launcher and nobody reported", world: node, added: "proc-4242"},

		{name: "a supervisor", world: func(w *world) { w.runs(treeProcess{args: []string{"claude", "daemon", "run"}}) }},
		{name: "an MCP server", world: func(w *world) { w.runs(treeProcess{args: []string{"codex", "mcp-server"}}) }},
		{name: "a prompt like a subcommand", world: func(w *world) { w.runs(treeProcess{args: []string{"claude", "daemon run"}}) }, added: "proc-4242"},
		{name: "a zombie", world: func(w *world) { w.runs(treeProcess{state: "Z"}) }},
		{name: "not an agent", world: func(w *world) { w.runs(treeProcess{args: []string{"grep", "-r", "claude"}}) }},
		{name: "a bare generic name", world: func(w *world) { w.runs(treeProcess{args: []string{"pi"}}) }},
		{name: "another namespace's", world: func(w *world) {
			w.runs(treeProcess{})
			os.Remove(string(w.root) + "/4242/ns/pid")
			w.link("4242/ns/pid", "pid:[1]")
		}},
		{name: "no proc file system", world: func(w *world) { os.RemoveAll(string(w.root)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.world == nil {
				tt.world = func(w *world) { w.runs(treeProcess{}) }
			}
			tt.world(w)
			if tt.record != nil {
				w.add("s", tt.record)
			}
			check(t, "added", list(w.run().Added), tt.added)
			check(t, "added again", list(w.run().Added), "")
		})
	}
}

// A hook that reports a process just before the maintainer adds it, wins.
func TestDiscoverReportedMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.runs(treeProcess{env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
	w.claudeSays("s", "idle", w.now)
	atStep(t, func(name string) {
		if name == "discover" {
			w.add("s", func(r *fsstore.Record) { r.Detail = "of the hook" })
		}
	})
	check(t, "added", len(w.run().Added), 0)
	if r := w.stored()[w.record("s", nil).Key]; r.Detail != "of the hook" || r.Arrival != 1 {
		t.Errorf("got %+v", r)
	}
}

// TestDiscoverSession: where the agent's own file names a session, the record
// is one of that session, which the next hook continues.
func TestDiscoverSession(t *testing.T) {
	w := newWorld(t)
	w.runs(treeProcess{tty: pts(1), env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
	w.run() // before the file is there
	check(t, "stored", w.sessions(), "proc-4242")

	w.claudeSays("s", "idle", w.now.Add(-time.Minute))
	result := w.run()
	check(t, "added", list(result.Added), "s")
	key := w.record("s", nil).Key
	r := w.stored()[key]
	if r == nil || r.Kind != fsstore.KindSession || r.Source != fsstore.SourceProcess || r.Status != fsstore.Idle ||
		r.TS != w.ago(time.Minute) || r.Cwd != "/src/other" || len(r.Resume) != 3 || r.LastEvent != "claude.observed-idle" {
		t.Errorf("got %+v", r)
	}
	// Nothing else reports it, so the file decides, in every state.
	for _, s := range []struct {
		says string
		want fsstore.Status
	}{{"busy", fsstore.Running}, {"waiting", fsstore.Waiting}, {"idle", fsstore.Idle}, {"busy", fsstore.Running}} {
		w.now = w.now.Add(time.Minute)
		w.claudeSays("s", s.says, w.now.Add(-time.Second))
		w.run()
		check(t, "status", w.stored()[key].Status, s.want)
	}

	store := w.open()
	defer store.Close()
	arrival := w.stored()[key].Arrival
	wrote, err := store.Update(key, fsstore.Rules{Wait: patience}, func(old *fsstore.Record) (*fsstore.Record, error) {
		c := *old
		c.Source, c.Status, c.TS = fsstore.SourceHook, fsstore.Idle, w.ago(30*time.Second)
		return &c, nil
	})
	if err != nil || wrote.Arrival != arrival+1 {
		t.Fatalf("%+v, %v", wrote, err)
	}
	w.run() // the file says busy, and is newer
	check(t, "status that a hook has set", w.stored()[key].Status, fsstore.Idle)

	w.ends(pid)
	w.run()
	check(t, "stored", w.sessions(), "")
	check(t, "resumable", w.resumable(), "s")
}

// TestSessionChanges: a process without hooks works on the session that its
// file names now. /clear and /resume change that name, and may change nothing
// else. What a run does, the dry run before it has said.
func TestSessionChanges(t *testing.T) {
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} { // of one time, and of either order
		first, second := names[0], names[1]
		w := newWorld(t)
		w.now = w.now.Add(-30 * time.Minute) // no record is of the time to come
		w.runs(treeProcess{env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
		w.runs(treeProcess{pid: "4300", start: "90000"})
		elsewhere := w.add(first, func(r *fsstore.Record) { // open twice, once there
			r.Source, r.PID, r.ProcessStart, r.Cwd, r.Repo = fsstore.SourceProcess, "4300", "90000", "/src/x", "x"
		}).Key
		since := w.now.Add(-time.Minute)
		run := func(says, status string, added, mended, shown string) {
			t.Helper()
			w.now = w.now.Add(time.Second)
			w.claudeSays(says, status, since)
			would := w.runAs(Options{Forced: true, DryRun: true})
			did := w.run()
			if !reflect.DeepEqual(sorted(would.Mended), sorted(did.Mended)) || !reflect.DeepEqual(would.Added, did.Added) {
				t.Errorf("would %+v, did %+v", would, did)
			}
			check(t, "added", list(did.Added), added)
			check(t, "mended", list(did.Mended), mended)
			check(t, "shown", w.shown(), shown)
			check(t, "elsewhere", w.stored()[elsewhere].Status, fsstore.Idle)
			w.stable()
		}
		of := func(session string) *fsstore.Record { return w.stored()[w.record(session, nil).Key] }
		both := "a b"

		run(first, "idle", first, "", first+" "+first)

		run(second, "idle", second, first, both) // /clear
		r, to := of(first), of(second)
		if r.Status != fsstore.Ended || r.EndReason != fsstore.EventSuperseded || r.LastEvent != "claude.superseded" || r.Arrival != 2 {
			t.Errorf("left: got %+v", r)
		}
		if to.Status != fsstore.Idle || to.TS != since.Unix() || to.Arrival != 1 || to.EndReason != "" {
			t.Errorf("entered: got %+v", to)
		}

		run(first, "idle", "", both, first+" "+first) // /resume
		r, to = of(first), of(second)
		if r.Status != fsstore.Idle || r.EndReason != "" || r.Detail != noHook || r.LastEvent != "claude.observed-idle" || r.Arrival != 3 {
			t.Errorf("entered again: got %+v", r)
		}
		if to.Status != fsstore.Ended || to.EndReason != fsstore.EventSuperseded {
			t.Errorf("left again: got %+v", to)
		}

		since = w.now
		run(second, "waiting", "", both, both) // with a time of its own
		if to = of(second); to.Status != fsstore.Waiting || to.WaitingFor == nil || to.EndReason != "" {
			t.Errorf("entered waiting: got %+v", to)
		}
		run(first, "busy", "", both, first+" "+first)
		check(t, "entered busy", of(first).Status, fsstore.Running)
		if to = of(second); to.Status != fsstore.Ended || to.WaitingFor != nil {
			t.Errorf("left waiting: got %+v", to)
		}

		// What was left goes like all that has ended, and may come back.
		w.now = w.now.Add(keepEnded)
		check(t, "removed", list(w.run().Removed), second)
		check(t, "resumable", w.resumable(), "")
		since = w.now
		run(second, "idle", second, first, both)
	}
}

// A session that the user removed stays removed when its process goes back to
// it, whether it was removed before or after the process had left it.
func TestRemovedSessionChanges(t *testing.T) {
	for _, before := range []bool{true, false} {
		w := newWorld(t)
		w.runs(treeProcess{env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
		at := w.now.Add(-time.Minute)
		remove := func() {
			r := w.stored()[w.record("old", nil).Key]
			r.RemovedAt = w.now.Unix()
			w.put(r)
		}
		w.claudeSays("old", "idle", at)
		w.run()
		if before {
			remove()
		}
		w.claudeSays("new", "idle", at)
		w.run()
		if !before {
			remove()
		}
		check(t, "shown", w.shown(), "new")
		w.stable()
		removed := w.stored()[w.record("old", nil).Key]
		w.claudeSays("old", "idle", w.now)
		check(t, "mended", list(w.run().Mended), "new")
		r := w.stored()[removed.Key]
		if r.RemovedAt != removed.RemovedAt || r.Status != fsstore.Ended || r.Arrival != removed.Arrival {
			t.Errorf("got %+v, want it as it was: %+v", r, removed)
		}
		check(t, "the other", w.stored()[w.record("new", nil).Key].Status, fsstore.Ended)
		w.stable()
	}
}

// A turn that came and went unseen leaves the status as it was: the time of
// the file tells of it. Of an equal time there is nothing to write.
func TestFollowsTime(t *testing.T) {
	w := newWorld(t)
	w.now = w.now.Add(-30 * time.Minute)
	w.runs(treeProcess{env: []string{"CLAUDE_CONFIG_DIR=" + w.config()}})
	for _, status := range []string{"idle", "busy", "waiting"} {
		w.now = w.now.Add(time.Minute)
		w.claudeSays("s", status, w.now.Add(-30*time.Second))
		w.run()
		w.stable()
		arrival := w.stored()[w.record("s", nil).Key].Arrival
		at := w.now.Add(-time.Second)
		w.claudeSays("s", status, at)
		check(t, status+": mended", list(w.run().Mended), "s")
		r := w.stored()[w.record("s", nil).Key]
		check(t, status+": ts", r.TS, at.Unix())
		check(t, status+": arrival", r.Arrival, arrival+1)
		w.stable()
		w.claudeSays("s", status, at.Add(-10*time.Second)) // it is no report that the clock was set back
		w.stable()
	}
	// Of one that hooks report, an equal status is nothing new.
	r := w.stored()[w.record("s", nil).Key]
	r.Source, r.Status = fsstore.SourceHook, fsstore.Running
	w.put(r)
	w.claudeSays("s", "busy", w.now)
	w.stable()
}

// client runs a Codex on the terminal pts/N.
func (w *world) client(pid string, n int, cwd string, args ...string) {
	w.runs(treeProcess{pid: pid, start: "7" + pid, tty: pts(n), cwd: cwd, args: append([]string{"codex"}, args...)})
}

// daemon runs the daemon of Codex.
func (w *world) daemon() {
	w.runs(treeProcess{pid: "300", start: "3000", args: []string{"codex", "app-server"}})
}

// hosted adds a session of that daemon.
func (w *world) hosted(session, cwd string, change func(*fsstore.Record)) *fsstore.Record {
	return w.add(session, func(r *fsstore.Record) {
		r.Harness, r.Mode, r.Cwd, r.Repo, r.PID, r.ProcessStart = "codex", fsstore.Daemon, cwd, "x", "300", "3000"
		r.Resume, r.LastEvent = []string{"codex", "resume", session}, "codex.stop"
		if change != nil {
			change(r)
		}
	})
}

// TestDaemonClients: while a Codex daemon of the user runs, what is shown on a
// terminal may be one of its sessions.
func TestDaemonClients(t *testing.T) {
	const a, b = "/src/a", "/src/b"
	for _, tt := range []struct {
		name  string
		world func(w *world)
		added string
		tty   string // of the hosted session h
	}{
		{name: "no daemon", added: "proc-400", world: func(w *world) { w.client("400", 4, a) }},
		{name: "daemon, no session", added: "proc-400", world: func(w *world) { w.daemon(); w.client("400", 4, a) }},
		{name: "one session, one client", tty: "pts/4", world: func(w *world) { w.daemon(); w.client("400", 4, a); w.hosted("h", a, nil) }},
		{name: "session elsewhere", added: "proc-400", world: func(w *world) { w.daemon(); w.client("400", 4, b); w.hosted("h", a, nil) }},
		{name: "session has ended", added: "proc-400", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a)
			w.hosted("h", a, func(r *fsstore.Record) { r.Status = fsstore.Ended })
		}},
		{name: "session of a daemon that died", added: "proc-400", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a)
			w.hosted("h", a, func(r *fsstore.Record) { r.PID = "301" })
		}},
		{name: "two clients", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a)
			w.client("401", 5, a)
			w.hosted("h", a, nil)
		}},
		{name: "two sessions", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a)
			w.hosted("h", a, nil)
			w.hosted("i", a, nil)
		}},
		{name: "two pairs", tty: "pts/4", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a)
			w.client("401", 5, b)
			w.hosted("h", a, nil)
			w.hosted("i", b, nil)
		}},
		{name: "client moved to another terminal", tty: "pts/4", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a)
			w.hosted("h", a, func(r *fsstore.Record) { r.TTY = "pts/9" })
		}},
		{name: "client left", world: func(w *world) {
			w.daemon()
			w.hosted("h", a, func(r *fsstore.Record) { r.TTY = "pts/9" })
		}},
		{name: "codex exec", added: "proc-400", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a, "exec", "do it")
			w.hosted("h", a, nil)
		}},
		{name: "--no-daemon", added: "proc-400", world: func(w *world) {
			w.daemon()
			w.client("400", 4, a, "--no-daemon")
			w.hosted("h", a, nil)
		}},
		{name: "no terminal", added: "proc-400", world: func(w *world) {
			w.daemon()
			w.runs(treeProcess{pid: "400", cwd: a, args: []string{"codex"}})
			w.hosted("h", a, nil)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.world(w)
			before := w.stored()
			result := w.run()
			check(t, "added", list(result.Added), tt.added)
			for key, r := range w.stored() {
				old := before[key]
				if old == nil || r.Session != "h" {
					continue
				}
				check(t, "tty", r.TTY, tt.tty)
				check(t, "mended", r.Arrival != old.Arrival, r.TTY != old.TTY)
				if r.TS != old.TS || r.Status != old.Status || r.LastEvent != old.LastEvent || r.Boottime != old.Boottime {
					t.Errorf("placing it reports something: %+v", r)
				}
			}
			check(t, "mended again", len(w.run().Mended), 0)
		})
	}

	// A client that was found before its session was known.
	w := newWorld(t)
	w.daemon()
	w.client("400", 4, a)
	w.run()
	check(t, "stored", w.sessions(), "proc-400")
	h := w.hosted("h", a, nil)
	result := w.run()
	check(t, "removed", list(result.Removed), "proc-400")
	check(t, "stored", w.sessions(), "h")
	check(t, "resumable", w.resumable(), "")
	check(t, "tty", w.stored()[h.Key].TTY, "pts/4")
}

// TestNamedByClient: a client that was told to resume a session of the daemon
// shows that one and no other, wherever it is. The others are joined by the
// directory to what is left.
func TestNamedByClient(t *testing.T) {
	const a, b = "/src/a", "/src/b"
	on := func(tty string) func(*fsstore.Record) { return func(r *fsstore.Record) { place(r, tty) } }
	for _, tt := range []struct {
		name  string
		world func(w *world)
		added string
		ttys  string // of the hosted sessions that have one
	}{
		{name: "one of two sessions", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.hosted("h", a, nil)
			w.hosted("i", a, nil)
		}},
		{name: "from another directory", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, b, "resume", "h")
			w.hosted("h", a, nil)
		}},
		{name: "from the directory of another session", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, b, "resume", "h")
			w.hosted("h", a, nil)
			w.hosted("i", b, nil)
		}},
		{name: "the other client has what is left", ttys: "h:pts/4 i:pts/5", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.client("401", 5, a)
			w.hosted("h", a, nil)
			w.hosted("i", a, nil)
		}},
		{name: "each its own", ttys: "h:pts/5 i:pts/4 j:pts/6", world: func(w *world) {
			w.client("400", 4, a, "resume", "i")
			w.client("401", 5, a, "-m", "gpt", "resume", "h", "go on")
			w.client("402", 6, b, "-C", a)
			w.hosted("h", a, nil)
			w.hosted("i", a, nil)
			w.hosted("j", a, nil)
		}},
		{name: "two are left", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.client("401", 5, a)
			w.hosted("h", a, nil)
			w.hosted("i", a, nil)
			w.hosted("j", a, nil)
		}},
		{name: "two others", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.client("401", 5, a)
			w.client("402", 6, a)
			w.hosted("h", a, nil)
			w.hosted("i", a, nil)
		}},
		{name: "nothing is left", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.client("401", 5, a)
			w.hosted("h", a, nil)
		}},
		{name: "two name it", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.client("401", 5, b, "resume", "h")
			w.hosted("h", a, nil)
		}},
		{name: "two name it, on one of them it was", ttys: "h:pts/5", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.client("401", 5, a, "resume", "h")
			w.hosted("h", a, on("pts/5"))
		}},
		{name: "was on the terminal of another", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, a, "resume", "h")
			w.hosted("h", a, nil)
			w.hosted("i", a, on("pts/4"))
		}},
		{name: "two it may be, on one of them it was", ttys: "h:pts/5", world: func(w *world) {
			w.client("400", 4, a)
			w.client("401", 5, a)
			w.hosted("h", a, on("pts/5"))
		}},
		{name: "two it may be, it was on neither", world: func(w *world) {
			w.client("400", 4, a)
			w.client("401", 5, a)
			w.hosted("h", a, on("pts/9"))
		}},
		{name: "its client left, another's is there", ttys: "i:pts/4", world: func(w *world) {
			w.client("400", 4, a, "resume", "i")
			w.hosted("h", a, on("pts/9"))
			w.hosted("i", a, nil)
		}},
		{name: "not hosted, by its directory", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, a, "resume", "x")
			w.hosted("h", a, nil)
		}},
		{name: "not hosted, in no directory of one", added: "proc-400", world: func(w *world) {
			w.client("400", 4, b, "resume", "h")
			w.hosted("h", a, func(r *fsstore.Record) { r.Status = fsstore.Ended })
		}},
		{name: "a prompt", added: "proc-400", world: func(w *world) {
			w.client("400", 4, b, "--", "resume", "h")
			w.hosted("h", a, nil)
		}},
		{name: "-C", ttys: "h:pts/4", world: func(w *world) {
			w.client("400", 4, b, "-C", a)
			w.hosted("h", a, nil)
			w.hosted("i", b, nil)
		}},
		{name: "--cd", ttys: "h:pts/4", world: func(w *world) { w.client("400", 4, b, "--cd", a); w.hosted("h", a, nil) }},
		{name: "--cd=, relative", ttys: "h:pts/4", world: func(w *world) { w.client("400", 4, b, "--cd=../a"); w.hosted("h", a, nil) }},
		{name: "-C to nothing of the daemon's", added: "proc-400", world: func(w *world) { w.client("400", 4, a, "-C", b); w.hosted("h", a, nil) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.daemon()
			tt.world(w)
			check(t, "added", list(w.run().Added), tt.added)
			var ttys []string
			for _, r := range w.stored() {
				if r.Mode != fsstore.Daemon {
					continue
				}
				if r.TTY != "" {
					ttys = append(ttys, r.Session+":"+r.TTY)
				}
				check(t, r.Session+": focus", r.Focus.Kind == fsstore.FocusTerminal, r.TTY != "")
			}
			slices.Sort(ttys)
			check(t, "ttys", strings.Join(ttys, " "), tt.ttys)
			w.stable()
		})
	}

	// Clients that were found before their session was known.
	w := newWorld(t)
	w.daemon()
	w.client("400", 4, b, "resume", "h")
	w.client("401", 5, b, "-C", a)
	w.client("402", 6, b)
	w.run()
	check(t, "stored", w.sessions(), "proc-400 proc-401 proc-402")
	w.hosted("h", a, nil)
	w.hosted("i", a, nil)
	check(t, "removed", list(w.run().Removed), "proc-400 proc-401")
	check(t, "stored", w.sessions(), "h i proc-402")
	check(t, "resumable", w.resumable(), "")
	w.stable()
}

// The next hook continues what was discovered, and adds what only it knows.
func TestHookContinues(t *testing.T) {
	t.Setenv("TMUX", "/tmp/tmux-1000/default,1,0")
	dir := filepath.Join(t.TempDir(), "state")
	a := startAgentOn(t, dir, "claude", true)
	config := filepath.Join(dir, "none", "sessions")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf(`{"pid":%s,"sessionId":"s","procStart":%q,"status":"idle","statusUpdatedAt":%d}`, a.pid, a.start, time.Now().UnixMilli())
	if err := os.WriteFile(filepath.Join(config, a.pid+".json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	Run(dir, Options{Forced: true}) // agents of this machine are there too
	own := func() *fsstore.Record {
		t.Helper()
		for _, r := range storedIn(t, dir) {
			if r.PID == a.pid && r.Session == "s" {
				return r
			}
		}
		t.Fatalf("no record of session s in process %s", a.pid)
		return nil
	}
	check(t, "source", own().Source, fsstore.SourceProcess)
	a.event("UserPromptSubmit", "s", "")
	r := own()
	check(t, "source", r.Source, fsstore.SourceHook)
	check(t, "status", r.Status, fsstore.Running)
	check(t, "TMUX", r.LookupEnv("TMUX"), "/tmp/tmux-1000/default,1,0")
	check(t, "focus", r.Focus.Kind+" "+r.Focus.Terminal, "terminal tmux")
}
