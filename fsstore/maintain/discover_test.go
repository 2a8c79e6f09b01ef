package maintain

import (
	"os"
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

	// /clear without hooks.
	w.ends(pid)
	w.run()
	check(t, "stored", w.sessions(), "")
	check(t, "resumable", w.resumable(), "s")
}

// TestDaemonClients: while a Codex daemon of the user runs, what is shown on a
// terminal may be one of its sessions.
func TestDaemonClients(t *testing.T) {
	const a, b = "/src/a", "/src/b"
	client := func(w *world, pid string, n int, cwd string, args ...string) {
		w.runs(treeProcess{pid: pid, start: "7" + pid, tty: pts(n), cwd: cwd, args: append([]string{"codex"}, args...)})
	}
	daemon := func(w *world) { w.runs(treeProcess{pid: "300", start: "3000", args: []string{"codex", "app-server"}}) }
	hosted := func(w *world, session, cwd string, change func(*fsstore.Record)) *fsstore.Record {
		return w.add(session, func(r *fsstore.Record) {
			r.Harness, r.Mode, r.Cwd, r.Repo, r.PID, r.ProcessStart = "codex", fsstore.Daemon, cwd, "x", "300", "3000"
			r.Resume, r.LastEvent = []string{"codex", "resume", session}, "codex.stop"
			if change != nil {
				change(r)
			}
		})
	}
	for _, tt := range []struct {
		name  string
		world func(w *world)
		added string
		tty   string // of the hosted session h
	}{
		{name: "no daemon", added: "proc-400", world: func(w *world) { client(w, "400", 4, a) }},
		{name: "daemon, no session", added: "proc-400", world: func(w *world) { daemon(w); client(w, "400", 4, a) }},
		{name: "one session, one client", tty: "pts/4", world: func(w *world) { daemon(w); client(w, "400", 4, a); hosted(w, "h", a, nil) }},
		{name: "session elsewhere", added: "proc-400", world: func(w *world) { daemon(w); client(w, "400", 4, b); hosted(w, "h", a, nil) }},
		{name: "session has ended", added: "proc-400", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a)
			hosted(w, "h", a, func(r *fsstore.Record) { r.Status = fsstore.Ended })
		}},
		{name: "session of a daemon that died", added: "proc-400", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a)
			hosted(w, "h", a, func(r *fsstore.Record) { r.PID = "301" })
		}},
		{name: "two clients", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a)
			client(w, "401", 5, a)
			hosted(w, "h", a, nil)
		}},
		{name: "two sessions", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a)
			hosted(w, "h", a, nil)
			hosted(w, "i", a, nil)
		}},
		{name: "two pairs", tty: "pts/4", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a)
			client(w, "401", 5, b)
			hosted(w, "h", a, nil)
			hosted(w, "i", b, nil)
		}},
		{name: "client moved to another terminal", tty: "pts/4", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a)
			hosted(w, "h", a, func(r *fsstore.Record) { r.TTY = "pts/9" })
		}},
		{name: "client left", world: func(w *world) {
			daemon(w)
			hosted(w, "h", a, func(r *fsstore.Record) { r.TTY = "pts/9" })
		}},
		{name: "codex exec", added: "proc-400", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a, "exec", "do it")
			hosted(w, "h", a, nil)
		}},
		{name: "--no-daemon", added: "proc-400", world: func(w *world) {
			daemon(w)
			client(w, "400", 4, a, "--no-daemon")
			hosted(w, "h", a, nil)
		}},
		{name: "no terminal", added: "proc-400", world: func(w *world) {
			daemon(w)
			w.runs(treeProcess{pid: "400", cwd: a, args: []string{"codex"}})
			hosted(w, "h", a, nil)
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
	daemon(w)
	client(w, "400", 4, a)
	w.run()
	check(t, "stored", w.sessions(), "proc-400")
	h := hosted(w, "h", a, nil)
	result := w.run()
	check(t, "removed", list(result.Removed), "proc-400")
	check(t, "stored", w.sessions(), "h")
	check(t, "resumable", w.resumable(), "")
	check(t, "tty", w.stored()[h.Key].TTY, "pts/4")
}
