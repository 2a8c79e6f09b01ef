package liveness

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
	"tongs-agents/proc/proctest"
)

func record(harness string, change ...func(*fsstore.Record)) *fsstore.Record {
	r := &fsstore.Record{
		Key:    fsstore.Key{Harness: harness, Session: "s", Instance: fsstore.Unresolved},
		Status: fsstore.Idle, TS: time.Now().Unix() - 100, Source: fsstore.SourceHook,
	}
	for _, f := range change {
		f(r)
	}
	return r
}

// in puts a record into a process of this host.
func in(pid int, start string) func(*fsstore.Record) {
	return func(r *fsstore.Record) {
		host := proc.Root.Host()
		r.BootID, r.PIDNamespace, r.MachineID = host.BootID, host.PIDNamespace, host.MachineID
		r.PID, r.ProcessStart = strconv.Itoa(pid), start
		r.Instance = r.PID + ":" + r.ProcessStart
	}
}

func source(s string) func(*fsstore.Record) { return func(r *fsstore.Record) { r.Source = s } }

// start returns the start of a process that lives.
func start(t *testing.T, pid int) string {
	t.Helper()
	st, err := proc.Root.Stat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return st.Start
}

func TestCheck(t *testing.T) {
	pid, ours := os.Getpid(), start(t, os.Getpid())
	emitter := func(r *fsstore.Record) { r.Instance = "emitter-1" }
	elsewhere := func(boot, machine string) func(*fsstore.Record) {
		return func(r *fsstore.Record) { r.BootID, r.MachineID = boot, machine }
	}
	bare := func(r *fsstore.Record) { r.BootID, r.PIDNamespace, r.MachineID = "", "", "" }
	namespace := func(r *fsstore.Record) { r.PIDNamespace = "1" }
	ahead := func(r *fsstore.Record) { r.TS = time.Now().Unix() + 2*86400 }
	fresh := func(r *fsstore.Record) { r.TS = time.Now().Unix() }
	machine := proc.Root.Host().MachineID
	for _, test := range []struct {
		name   string
		record *fsstore.Record
		want   proc.Answer
	}{
		{"no process", record("claude"), proc.Unknown},
		{"this process", record("other", in(pid, ours)), proc.Alive},
		{"a former one of its pid", record("other", in(pid, "1")), proc.Dead},
		{"pid that cannot be", record("other", in(1<<22+1, "1")), proc.Dead},
		{"another program than the hook found", record("claude", in(pid, ours)), proc.Dead},
		{"what a notice named", record("claude", in(pid, ours), source("notify")), proc.Alive},
		{"what an emitter named", record("pi", in(pid, ours), emitter), proc.Alive},
		{"an earlier boot", record("other", in(pid, ours), elsewhere("0", machine)), proc.Dead},
		{"another machine", record("other", in(pid, ours), elsewhere("0", "0")), proc.Unknown},
		{"some machine", record("other", in(pid, ours), elsewhere("0", "")), proc.Unknown},
		{"another pid namespace", record("other", in(pid, ours), namespace), proc.Unknown},
		{"pid and start alone", record("other", in(pid, ours), bare), proc.Alive},
		{"what a plugin has just reported", record("opencode", in(pid, "1"), source("plugin"), fresh), proc.Alive},
		{"what a plugin reported of this process", record("claude", in(pid, ours), source("plugin")), proc.Alive},
		{"what a plugin reported long ago", record("opencode", in(pid, "1"), source("plugin")), proc.Dead},
		{"what a plugin has just reported elsewhere", record("opencode", in(pid, "1"), source("plugin"), fresh, elsewhere("0", "0")), proc.Unknown},
		{"what a plugin reports in two days", record("opencode", in(pid, "1"), source("plugin"), ahead), proc.Dead},
		{"what a hook has just reported", record("other", in(pid, "1"), fresh), proc.Dead},
		{"pid and start alone, gone", record("other", in(pid, "1"), bare), proc.Dead},
	} {
		p := NewProcesses(proc.Root)
		got, why := p.Check(test.record)
		if got != test.want || why == "" {
			t.Errorf("%s: %v (%s), want %v", test.name, got, why, test.want)
		}
		if dead := p.Dead(test.record); dead != (test.want == proc.Dead) {
			t.Errorf("%s: Dead is %v", test.name, dead)
		}
	}
}

// A process is asked about once, for however many records: what they say of it
// stays the same for the whole look at a store. Whatever tells two processes
// apart is a question of its own.
func TestCheckOnce(t *testing.T) {
	root, _ := proctest.Tree(t, "../../proc/testdata/time.txtar")
	const pid, ticks = "440", "12345"
	here := func(r *fsstore.Record) { r.PID, r.ProcessStart, r.Instance = pid, ticks, pid+":"+ticks }
	emitter := func(r *fsstore.Record) { r.Instance = "emitter" }
	if err := os.Mkdir(filepath.Join(string(root), "self"), 0o700); err != nil { // as a mounted one has
		t.Fatal(err)
	}
	p := NewProcesses(root)
	ask := func(what string, want proc.Answer, r *fsstore.Record) {
		t.Helper()
		if got, why := p.Check(r); got != want || why == "" {
			t.Errorf("%s: %v (%s), want %v", what, got, why, want)
		}
	}
	ask("before", proc.Alive, record("claude", here))
	if err := os.RemoveAll(filepath.Join(string(root), pid)); err != nil {
		t.Fatal(err)
	}
	other := record("claude", here)
	other.Session, other.TS, other.Status = "other", 1, fsstore.Ended
	ask("again", proc.Alive, other)
	ask("of another harness", proc.Dead, record("codex", here))
	ask("of an emitter", proc.Dead, record("claude", here, emitter))
	ask("of another start", proc.Dead, record("claude", here, func(r *fsstore.Record) { r.ProcessStart, r.Instance = "5", pid+":5" }))
	ask("of another pid", proc.Dead, record("claude", here, func(r *fsstore.Record) { r.PID, r.Instance = "441", "441:"+ticks }))
	if answer, _ := p.CheckInstance(&fsstore.Instance{Harness: "opencode", ID: "i", PID: pid, ProcessStart: ticks}); answer != proc.Dead {
		t.Errorf("an instance: %v, want dead", answer) // as of the emitter's record
	}
	// What a plugin says is no answer that others get.
	plugin := record("opencode", here, emitter, source(fsstore.SourcePlugin), func(r *fsstore.Record) { r.TS = time.Now().Unix() })
	ask("a plugin's", proc.Alive, plugin)
	ask("after a plugin's", proc.Dead, record("opencode", here, emitter))

	p = NewProcesses(root)
	ask("another look", proc.Dead, record("claude", here))
}
