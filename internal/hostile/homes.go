//go:build !(386 || arm)

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/mdtable"
)

// home is a store as its users see it.
type home struct {
	*world
	*tally
	dir, state string

	under []string // what runs every program
	locks string   // where they lie: "store", "run-time directory" or "nowhere"
	trace string   // a trace of locks; empty: there is none
}

// commands as they are run there.
func (h *home) command(c command) command {
	c.argv = append(slices.Clone(h.under), c.argv...)
	if len(h.under) > 0 {
		c.argv[len(h.under)] = filepath.Join(h.bin, c.argv[len(h.under)])
	}
	return c
}

func (h *home) do(c command) (ran, error) { return h.run(h.state, h.command(c)) }

// ok runs a command that has to succeed, and, if it is a hook, in silence.
func (h *home) ok(c command) error {
	r, err := h.do(c)
	if err == nil {
		h.check(r.status == 0 && !r.late && (c.argv[0] != hookProgram || r.stdout+r.stderr == ""), "%s: %v", c, r)
	}
	return err
}

// sessions are those of a listing, by name.
func (h *home) sessions(args ...string) (map[string]stored, error) {
	r, err := h.do(cli(append(args, "--json")...))
	if err != nil {
		return nil, err
	}
	var list struct{ Sessions []stored }
	err = json.Unmarshal([]byte(r.stdout), &list)
	h.check(err == nil && r.status == 0, "%q: %v, %v", args, r, err)
	all := map[string]stored{}
	for _, s := range list.Sessions {
		_, twice := all[s.Session]
		h.check(!twice, "%q lists %q twice", args, s.Session)
		all[s.Session] = s
	}
	return all, nil
}

// stored is a session of a listing.
type stored struct {
	Session   string `json:"session_id"`
	Status    string
	Arrival   int64  `json:"arrival_sequence"`
	Namespace string `json:"pid_namespace"`
	Identity  string `json:"process_identity"`
	Kind      string `json:"record_kind"`
	Instance  string `json:"instance_id"`
}

// lists checks which of the named sessions a listing has.
func (h *home) lists(what, list string, want ...string) error {
	got, err := h.sessions(strings.Fields(list)...)
	if err != nil {
		return err
	}
	var names []string
	for name, s := range got {
		if s.Kind != fsstore.KindProcess { // which the scan has found: us
			names = append(names, name)
		}
	}
	slices.Sort(names)
	slices.Sort(want)
	h.check(slices.Equal(names, want), "%s: %s lists %q, want %q", what, list, names, want)
	return nil
}

func claude(session, event string) command {
	return hook(fmt.Sprintf(`{"session_id":%q,"cwd":"/","hook_event_name":%q}`, session, event), "--agent", "claude")
}

const (
	writers = 2
	reports = 20 // of each
)

// cycle is the life of sessions, from the first event to what is left of them.
func (h *home) cycle() error {
	dead := record("claude", "dead", strconv.Itoa(deadPID), "1")
	dead.Resume, dead.Cwd = []string{agentName, "--resume", "dead"}, "/"
	over := record("claude", "over", strconv.Itoa(deadPID+1), "1")
	over.Status, over.TS = fsstore.Ended, time.Now().Add(-10*time.Minute).Unix()
	for _, c := range []command{claude("s", "SessionStart"), claude("s", "UserPromptSubmit")} {
		if err := h.ok(c); err != nil {
			return err
		}
	}
	got, err := h.sessions("status")
	if err != nil {
		return err
	}
	h.check(got["s"].Status == "running" && got["s"].Identity == "identified", "after a prompt: %+v", got)
	if err := h.write(); err != nil {
		return err
	}
	if err := h.ok(importing(dead, over)); err != nil {
		return err
	}
	if err := h.lists("before", "status", "s", "both", "dead", "over"); err != nil {
		return err
	}
	if err := h.ok(cli("cleanup")); err != nil {
		return err
	}
	if err := h.lists("after cleanup", "status", "s", "both"); err != nil {
		return err
	}
	if err := h.lists("after cleanup", "resumable", "dead"); err != nil {
		return err
	}
	if err := h.ok(claude("s", "SessionEnd")); err != nil {
		return err
	}
	if err := h.lists("after the end", "ps", "both"); err != nil {
		return err
	}
	if got, err = h.sessions("status"); err != nil {
		return err
	}
	h.check(got["s"].Status == "ended", "after the end: %+v", got["s"])
	return nil
}

// write lets two writers report on one session at once. With locks no report is
// lost.
func (h *home) write() error {
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for i := range errs {
		wg.Go(func() {
			for range reports {
				if errs[i] = h.ok(cli("notify", "--session", "both", "--pid", "none", "--status", "running")); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	got, err := h.sessions("status")
	if err != nil {
		return err
	}
	if h.locks == "nowhere" {
		h.check(got["both"].Status == "running", "of two writers nothing is left: %+v", got)
		return nil
	}
	h.check(got["both"].Arrival == writers*reports, "%d of %d reports are left", got["both"].Arrival, writers*reports)
	return nil
}

// flocked is a lock that strace has seen, with the path of the file.
var flocked = regexp.MustCompile(`flock\(\d+<([^>]*)>`)

// lockedWhere looks for the locks: as files, and, if there is a trace, as calls.
func (h *home) lockedWhere(runtimeDir string) error {
	inStore, err := locksIn(filepath.Join(h.state, "sessions"))
	if err != nil {
		return err
	}
	outside, err := locksIn(runtimeDir)
	if err != nil {
		return err
	}
	want := map[string][2]bool{"store": {true, false}, "run-time directory": {false, true}, "nowhere": {false, false}}[h.locks]
	h.check((len(inStore) > 0) == want[0], "lock files in the store: %q, want %v", inStore, want[0])
	h.check((len(outside) > 0) == want[1], "lock files in %s: %q, want %v", runtimeDir, outside, want[1])
	if h.trace == "" {
		return nil
	}
	text, err := os.ReadFile(h.trace)
	if err != nil {
		return err
	}
	calls := flocked.FindAllStringSubmatch(string(text), -1)
	var wrong []string
	for _, c := range calls {
		if !strings.HasPrefix(c[1], runtimeDir) {
			wrong = append(wrong, c[1])
		}
	}
	h.check(len(wrong) == 0 && (len(calls) > 0) == want[1], "%d locks were taken, of these on %q", len(calls), wrong)
	return nil
}

func locksIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		err = nil
	}
	var locks []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".lock") {
			locks = append(locks, e.Name())
		}
	}
	return locks, err
}

func tryHomes(w *world) error {
	if err := needs("strace", "unshare", "setpriv", "mount", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"); err != nil {
		return err
	}
	systems, err := w.mountAll()
	if err != nil {
		return err
	}
	table := mdtable.Table{Texts: 3, Head: []string{"home", "locks", "how", "checks", "failures"}}
	n := 0
	try := func(name, locks, how string, f func(*home) error) error {
		if !w.only.MatchString(name) {
			return nil
		}
		h := &home{world: w, tally: &tally{w: w, what: name}, dir: filepath.Join(w.dir, "homes", strconv.Itoa(n)), locks: locks}
		n++
		h.state = filepath.Join(h.dir, "state")
		if err := os.MkdirAll(h.dir, 0o755); err != nil {
			return err
		}
		if err := f(h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		table.Add(name, or(locks, "store"), how, h.tally.checks, h.tally.failures)
		return nil
	}
	for _, s := range systems {
		for _, locks := range s.locks {
			if err := try(s.name, locks, s.how, func(h *home) error { return h.onSystem(s) }); err != nil {
				return err
			}
		}
	}
	for _, s := range []struct {
		name, how string
		try       func(*home) error
	}{
		{"two users on one host", "two uids", (*home).twoUsers},
		{"two machines, one home", "mount and uts namespaces, with a boot id and a machine id of their own", (*home).twoMachines},
		{"a container and its host", "mount and pid namespaces", (*home).container},
		{"a container with the host's /proc", "a pid namespace", (*home).containerWithoutProc},
	} {
		if err := try(s.name, "", s.how, s.try); err != nil {
			return err
		}
	}
	return table.Print(os.Stdout)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// twoUsers: each has their sessions, and nothing of the other's, whoever gets
// the path of the other's store or makes it first.
func (h *home) twoUsers() error {
	const ann, ben = 1000, 1001
	state := map[uint32]string{ann: filepath.Join(h.dir, "ann"), ben: filepath.Join(h.dir, "ben")}
	if err := os.Chmod(h.dir, 0o777); err != nil {
		return err
	}
	as := func(uid uint32, where string, c command) (ran, error) {
		c.user = uid
		return h.run(where, c)
	}
	names := map[uint32]string{ann: "anns", ben: "bens"}
	for uid, dir := range state {
		r, err := as(uid, dir, cli("notify", "--session", names[uid], "--pid", "none", "--status", "waiting"))
		if err != nil {
			return err
		}
		h.check(r.status == 0, "notify: %v", r)
	}
	agent := exec.Command("setpriv", "--reuid", "1001", "--regid", "1001", "--clear-groups", filepath.Join(h.world.dir, agentName))
	agent.Env = append(h.environ(state[ben]), envActor+"=1")
	in, err := agent.StdinPipe()
	if err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(h.world.dir, agentName), 0o755); err != nil {
		return err
	}
	if err := agent.Start(); err != nil {
		return err
	}
	defer func() { agent.Process.Kill(); agent.Wait() }()
	fmt.Fprintln(in, "{}")
	for uid, dir := range state {
		other := uint32(ann + ben - uid)
		for _, c := range []command{cli("cleanup"), cli("status", "--json"), cli("ps", "--json")} {
			r, err := as(uid, dir, c)
			if err != nil {
				return err
			}
			h.check(r.status == 0 && !strings.Contains(r.stdout, names[other]), "%d: %s: %v", uid, c, r)
			if c.argv[1] == "status" {
				h.check(strings.Contains(r.stdout, names[uid]), "%d: %s: %v", uid, c, r)
				h.check(strings.Contains(r.stdout, `"discovered"`) == (uid == ben), "%d: the agent is that of %d: %v", uid, ben, r)
			}
		}
		before, err := tree(state[other], false)
		if err != nil {
			return err
		}
		// Root has all permissions, and uses another's store as little.
		for _, thief := range []uint32{uid, 0} {
			for _, c := range []command{cli("status"), cli("cleanup"), cli("notify", "--status", "idle"), cli("export"), claude("x", "SessionStart"), cli("doctor", "--agent", "claude")} {
				r, err := as(thief, state[other], c)
				if err != nil {
					return err
				}
				if c.argv[0] == hookProgram {
					h.check(r.status == 0 && r.stdout+r.stderr == "", "%d with the store of %d: %v", thief, other, r)
					continue
				}
				h.check(r.status == 1 && !strings.Contains(r.stdout, names[other]) && (r.stderr != "" || c.argv[1] == "doctor"), "%d with the store of %d: %s: %v", thief, other, c, r)
			}
		}
		after, err := tree(state[other], false)
		if err != nil {
			return err
		}
		h.check(len(differences(before, after)) == 0, "%d has changed the store of %d: %v", uid, other, differences(before, after))
	}
	// Where everybody may write, the other one has made it first.
	early := filepath.Join(h.dir, "early")
	for _, dir := range []string{early, early + "/sessions"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if err := os.Chown(dir, ben, ben); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			return err
		}
	}
	r, err := as(ann, early, claude("secret", "SessionStart"))
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(early + "/sessions")
	h.check(err == nil && len(entries) == 0 && r.status == 0, "a record in another's directory: %v, %v, %v", entries, r, err)
	return nil
}

// elsewhere runs what follows on another machine: one with another boot id,
// machine id and name.
func (h *home) elsewhere(name, boot, machine string) (under []string, err error) {
	files := map[string]string{"/proc/sys/kernel/random/boot_id": boot, "/etc/machine-id": machine}
	script := "hostname " + name
	for path, text := range files {
		file := filepath.Join(h.dir, name+"-"+boot+"-"+filepath.Base(path))
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			return nil, err
		}
		script += " && mount --bind " + file + " " + path
	}
	return []string{"unshare", "--mount", "--uts", "sh", "-c", script + ` && exec "$@"`, "sh"}, nil
}

// twoMachines: nobody judges the processes of the other one, until its own
// machine has been restarted.
func (h *home) twoMachines() error {
	const one, two, three = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	const machineA, machineB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	machines := map[string]*home{}
	for name, id := range map[string][2]string{"a": {one, machineA}, "b": {two, machineB}, "b restarted": {three, machineB}} {
		m := *h
		var err error
		if m.under, err = h.elsewhere(name[:1], id[0], id[1]); err != nil {
			return err
		}
		machines[name] = &m
	}
	a, b, again := machines["a"], machines["b"], machines["b restarted"]
	// Each session lives on its own machine; to the other one its process is none.
	pid, _ := alive()
	if err := a.ok(claude("on-a", "UserPromptSubmit")); err != nil {
		return err
	}
	if err := b.ok(hook(`{"id":"plugin","status":{"on-b":"busy"},"cwd":"/","pid":`+pid+`}`, "snapshot", "--agent", "opencode")); err != nil {
		return err
	}
	for _, m := range []*home{a, b, a, b} {
		if err := m.ok(cli("cleanup")); err != nil {
			return err
		}
		for _, list := range []string{"status", "ps"} {
			if err := m.lists("both run", list, "on-a", "on-b"); err != nil {
				return err
			}
		}
	}
	// A process of b that died is none of a's business.
	r := h.recordOf(two, machineB, "b")
	if err := b.ok(importing(r)); err != nil {
		return err
	}
	if err := a.ok(cli("cleanup")); err != nil {
		return err
	}
	if err := a.lists("dead on b, seen by a", "ps", "on-a", "on-b", r.Session); err != nil {
		return err
	}
	if err := b.ok(cli("cleanup")); err != nil {
		return err
	}
	if err := b.lists("dead on b, cleaned by b", "ps", "on-a", "on-b"); err != nil {
		return err
	}
	if err := b.lists("dead on b", "resumable", r.Session); err != nil {
		return err
	}
	// After the restart of b, its sessions are over; those of a go on.
	if err := again.ok(cli("cleanup")); err != nil {
		return err
	}
	if err := again.lists("b restarted", "status", "on-a"); err != nil {
		return err
	}
	if err := a.ok(claude("on-a", "SessionEnd")); err != nil {
		return err
	}
	return a.lists("the end on a", "ps")
}

// recordOf is a dead session of a machine.
func (h *home) recordOf(boot, machine, name string) *fsstore.Record {
	r := record("claude", "died-on-"+name, strconv.Itoa(deadPID), "1")
	r.BootID, r.Cwd, r.Resume = boot, "/", []string{agentName, "--resume", r.Session}
	r.MachineID = machineID(machine, name)
	return r
}

// container: its sessions are listed on the host and the other way round, and
// nobody judges processes that it does not see.
func (h *home) container() error {
	inside := *h
	inside.under = []string{"unshare", "--mount", "--pid", "--fork", "--mount-proc"}
	agent, err := h.contained(inside.under, "in-container")
	if err != nil {
		return err
	}
	defer agent()
	if err := h.ok(claude("on-host", "UserPromptSubmit")); err != nil {
		return err
	}
	for _, m := range []*home{h, &inside, h, &inside} {
		if err := m.ok(cli("cleanup")); err != nil {
			return err
		}
		for _, list := range []string{"status", "ps"} {
			if err := m.lists("both run", list, "in-container", "on-host"); err != nil {
				return err
			}
		}
	}
	got, err := h.sessions("status")
	if err != nil {
		return err
	}
	h.check(got["in-container"].Namespace != got["on-host"].Namespace && got["in-container"].Identity == "identified", "the namespaces: %+v", got)
	return nil
}

// contained starts an agent below a program that contains it, whose hook
// reports a session.
func (h *home) contained(under []string, session string) (stop func(), err error) {
	c := hook(fmt.Sprintf(`{"session_id":%q,"cwd":"/","hook_event_name":"SessionStart"}`, session))
	text, err := json.Marshal(actor{Calls: []hookCall{{[]string{filepath.Join(h.bin, hookProgram), "--agent", "claude"}, c.input}}})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(under[0], append(under[1:], filepath.Join(h.world.dir, agentName))...)
	cmd.Env = append(h.environ(h.state), envActor+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := in.Write(text); err != nil {
		return nil, err
	}
	ready := make([]byte, len("ready\n"))
	n, err := out.Read(ready)
	h.check(string(ready[:n]) == "ready\n", "the agent in the container: %q, %v", ready[:n], err)
	return func() { in.Close(); cmd.Wait() }, nil
}

// containerWithoutProc: without a /proc of its own a container's pids are those
// of strangers. No process is found, none is judged.
func (h *home) containerWithoutProc() error {
	inside := *h
	inside.under = []string{"unshare", "--pid", "--fork"}
	agent, err := h.contained(inside.under, "in-container")
	if err != nil {
		return err
	}
	defer agent()
	if err := h.ok(claude("on-host", "UserPromptSubmit")); err != nil {
		return err
	}
	for _, m := range []*home{&inside, h, &inside} {
		if err := m.ok(cli("cleanup")); err != nil {
			return err
		}
		if err := m.lists("both run", "status", "in-container", "on-host"); err != nil {
			return err
		}
	}
	got, err := inside.sessions("status")
	if err != nil {
		return err
	}
	h.check(got["in-container"].Identity == "unresolved" && got["on-host"].Identity == "identified", "the identities: %+v", got)
	return nil
}
