package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tongs-agents/fsstore"
)

// scenario is one run of a program on a store.
type scenario struct {
	name  string
	setUp func(*world) error // makes the old state; nil: there is no store
	run   command            // that a fault hits
	want  string             // what readers show after it without a fault
	next  command            // what comes after it
	check func(trial, ran, *reference, observation) []string
}

var scenarios = []scenario{
	{
		name: "hook, new", run: hook("SessionStart"), next: hook("UserPromptSubmit"), check: checkHook,
		want: "status s: claude started session started; ps s: claude started session started",
	},
	{
		name: "hook, update", setUp: ranBefore(hook("UserPromptSubmit")),
		run: hook("Stop"), next: hook("UserPromptSubmit"), check: checkHook,
		want: "status s: claude idle; ps s: claude idle",
	},
	{
		name: "hook, end", setUp: ranBefore(hook("UserPromptSubmit")),
		run: hook("SessionEnd"), next: hook("SessionEnd"), check: checkHook,
		want: "status s: claude ended session closed",
	},
	{
		name: "snapshot", setUp: ranBefore(snapshot(`"a":"busy","b":"idle"`)),
		run: snapshot(`"b":"busy","c":"busy"`), next: snapshot(`"b":"idle","c":"busy"`), check: checkHook,
		want: "status a: opencode ended session closed; " +
			"status b: opencode running processing prompt; status c: opencode running processing prompt; " +
			"ps b: opencode running processing prompt; ps c: opencode running processing prompt",
	},
	{
		name: "import", setUp: func(w *world) error { return w.store(w.record("s", nil)) },
		run: imported, next: imported, check: checkImport,
		want: "status n: other idle done; status s: claude idle done; ps n: other idle done; ps s: claude idle done",
	},
	{
		name: "notify", setUp: ranBefore(notice("running")),
		run: notice("waiting"), next: notice("idle"), check: checkNotify,
		want: "status backup: other waiting; ps backup: other waiting",
	},
	{
		name: "cleanup", setUp: overdue, run: cleanup, next: cleanup, check: checkCleanup,
		want: "status mended: claude idle interrupted; status proc-N: codex discovered no hook has reported; " +
			"ps mended: claude idle interrupted; ps proc-N: codex discovered no hook has reported; " +
			"resumable archived: claude running processing prompt",
	},
}

// hook is an event of the agent, as Claude Code sends it.
func hook(event string) command {
	return command{program: hookProgram, input: func(w *world) string {
		return fmt.Sprintf(`{"session_id":"s","hook_event_name":%q,"cwd":"/src/app","transcript_path":"%s/.claude/projects/app/s.jsonl"}`,
			event, w.home())
	}}
}

// snapshot is one of a plugin, whose process is the worker.
func snapshot(status string) command {
	return command{program: hookProgram, args: []string{"snapshot", "--agent", "opencode"}, input: func(w *world) string {
		return fmt.Sprintf(`{"id":"%s","cwd":"/src/app","status":{%s}}`, w.pid, status)
	}}
}

// imported are two records: the session s goes on, n is new.
var imported = command{program: cliProgram, args: []string{"import", "--json"}, input: func(w *world) string {
	idle := func(r *fsstore.Record) { r.Status, r.Detail = fsstore.Idle, "done" }
	return lines(w.record("s", idle), w.record("n", func(r *fsstore.Record) { idle(r); r.Harness = "other" }))
}}

func notice(status string) command {
	return command{program: cliProgram, args: []string{"notify", "--json", "--session", "backup", "--pid", "{PID}", "--status", status}}
}

var cleanup = command{program: cliProgram, args: []string{"cleanup", "--json"}}

// ranBefore is a set-up by one run of a program.
func ranBefore(c command) func(*world) error {
	return func(w *world) error {
		r, err := w.exec(c)
		if err == nil && (r.status != 0 || r.stderr != "") {
			err = fmt.Errorf("set up: %v: %s", r, r.stderr)
		}
		return err
	}
}

// overdue is a store with everything that a maintenance does to do: what is
// dead, and can be resumed or not; what the agent's own file contradicts; a
// process that no hook reported; an old entry of the archive; and what
// crashes have left. A launch and the index of an emitter are to stay.
func overdue(w *world) error {
	dead := func(pid int) func(*fsstore.Record) {
		return func(r *fsstore.Record) { r.PID, r.ProcessStart = strconv.Itoa(1<<22-pid), "1" }
	}
	headless := func(r *fsstore.Record) { dead(3)(r); r.Mode = fsstore.Headless }
	mended := w.record("mended", func(r *fsstore.Record) {
		r.TranscriptPath = w.home() + "/.claude/projects/app/mended.jsonl"
		r.TS -= 60
		r.Started -= 60
	})
	if err := w.store(mended, w.record("archived", dead(2)), w.record("removed", headless)); err != nil {
		return err
	}
	own := filepath.Join(w.home(), ".claude", "sessions")
	if err := os.MkdirAll(own, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf(`{"pid":%s,"procStart":%s,"sessionId":"mended","status":"idle","statusUpdatedAt":%d}`,
		w.pid, w.start, time.Now().UnixMilli())
	if err := os.WriteFile(filepath.Join(own, w.pid+".json"), []byte(text), 0o600); err != nil {
		return err
	}
	if err := w.archived(w.record("forgotten", dead(1)), 8*24*time.Hour); err != nil {
		return err
	}
	if err := w.launched(); err != nil {
		return err
	}
	for _, file := range []string{"sessions/.fleet-tmp-4194300-x-1.tmp", "resumable/.fleet-tmp-4194300-x-1.tmp"} {
		if err := os.WriteFile(filepath.Join(w.state(), file), []byte("{"), 0o600); err != nil {
			return err
		}
	}
	return w.age()
}

// launched writes a launch whose process lives, and the index of an emitter of
// which this host can say nothing.
func (w *world) launched() error {
	s, err := fsstore.Open(w.state(), fsstore.Create)
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.AddLaunch(&fsstore.Launch{
		ID: strings.Repeat("0123456789abcdef", 2), Argv: []string{"make"}, Cwd: "/src/app",
		PID: w.pid, ProcessStart: w.start, BootID: w.host.BootID,
	})
	if err != nil {
		return err
	}
	held, err := s.HoldInstance("opencode", "elsewhere", patience)
	if err != nil {
		return err
	}
	defer held.Release()
	return held.Write(&fsstore.Instance{
		Harness: "opencode", ID: "elsewhere", PID: "1", ProcessStart: "1", BootID: "another", PIDNamespace: "1", MachineID: "another",
		Sessions: []string{"distant"},
	})
}

// archived writes an entry of the archive, of an age.
func (w *world) archived(r *fsstore.Record, age time.Duration) error {
	s, err := fsstore.Open(w.state(), fsstore.Create)
	if err != nil {
		return err
	}
	defer s.Close()
	archive, err := s.Archive()
	if err != nil {
		return err
	}
	defer archive.Close()
	if _, err := archive.Put(r, r.TS); err != nil {
		return err
	}
	then := time.Now().Add(-age)
	return os.Chtimes(filepath.Join(w.state(), "resumable", r.SessionDigest()+".json"), then, then)
}
