package wait

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/linux"
	"tongs-agents/proc"
)

// world is a store with its sessions.
type world struct {
	t     testing.TB
	dir   string
	store *fsstore.Store
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return &world{t, dir, store}
}

// put writes a record of an agent of no known program, reported now.
func (w *world) put(session string, status fsstore.Status, change ...func(*fsstore.Record)) {
	w.t.Helper()
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: "other", Session: session, Instance: fsstore.Unresolved},
		Kind: fsstore.KindSession, Identity: fsstore.Unresolved, Status: status,
		TS: time.Now().Unix(), Boottime: linux.Boottime(), Arrival: 1, Source: fsstore.SourceHook,
		Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
	}
	for _, f := range change {
		f(r)
	}
	if _, err := w.store.Import(r, 10*time.Second); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(session string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "sessions", "*.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"session_id":"`+session+`"`) {
			if err := os.Remove(file); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

func (w *world) list() listing.Listing {
	w.t.Helper()
	l, err := listing.Read(w.dir, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// in puts a record into a process of this host.
func in(pid int, start string) func(*fsstore.Record) {
	return func(r *fsstore.Record) {
		host := proc.Root.Host()
		r.BootID, r.PIDNamespace, r.MachineID = host.BootID, host.PIDNamespace, host.MachineID
		r.PID, r.ProcessStart = strconv.Itoa(pid), start
		r.Identity, r.Instance = fsstore.Identified, r.PID+":"+r.ProcessStart
	}
}

// ago was reported some seconds ago, before anything else.
func ago(seconds int64) func(*fsstore.Record) {
	return func(r *fsstore.Record) {
		r.TS -= seconds
		r.Boottime = 1
	}
}

// child starts a process, which kill ends.
func child(t *testing.T) (in func(*fsstore.Record), kill func()) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	return inProcess(t, cmd.Process.Pid), kill
}

func inProcess(t *testing.T, pid int) func(*fsstore.Record) {
	t.Helper()
	p, err := proc.Root.Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	return in(pid, p.Start)
}

// waiter is one that has looked once.
func (w *world) waiter(request Request) *waiter {
	w.t.Helper()
	if request.Until == nil {
		request.Until = Default
	}
	waiter := &waiter{Request: request, wake: make(chan struct{}, 1)}
	w.t.Cleanup(waiter.close)
	l := w.list()
	if err := waiter.resolve(l); err != nil {
		w.t.Fatal(err)
	}
	waiter.see(l)
	return waiter
}

// want looks again, and checks what became of the wait and of its sessions.
func (w *world) want(waiter *waiter, outcome Outcome, sessions ...string) {
	w.t.Helper()
	waiter.see(w.list())
	if got := waiter.judge(); got != outcome {
		w.t.Errorf("the outcome is %s, want %s", got, outcome)
	}
	var got []string
	for _, s := range waiter.sessions {
		word := s.Row.Session + " " + string(s.Outcome)
		if s.Outcome != TimedOut {
			word += ": " + string(s.State) + s.Why
		}
		got = append(got, word)
	}
	if !slices.Equal(got, sessions) {
		w.t.Errorf("the sessions are %q, want %q", got, sessions)
	}
}

func TestReached(t *testing.T) {
	for _, test := range []struct {
		until  []State
		status fsstore.Status
		want   string // "" if none
	}{
		{nil, fsstore.Waiting, "waiting"},
		{nil, fsstore.Idle, "idle"},
		{nil, fsstore.Error, "error"},
		{nil, fsstore.Started, ""},
		{[]State{"running"}, fsstore.Running, "running"},
		{[]State{"running"}, fsstore.Idle, ""},
		{[]State{"started", "discovered"}, fsstore.Discovered, "discovered"},
		{[]State{Attention}, fsstore.Waiting, "attention"},
		{[]State{Attention}, fsstore.Error, ""},
		{[]State{Attention}, fsstore.Idle, ""},
		{[]State{Attention, "idle"}, fsstore.Idle, "idle"},
	} {
		for _, already := range []bool{false, true} {
			w := newWorld(t)
			if already {
				w.put("a", test.status)
			} else {
				w.put("a", fsstore.Running)
			}
			waiter := w.waiter(Request{Queries: []string{"a"}, Until: test.until})
			w.put("a", test.status)
			if test.want == "" {
				w.want(waiter, TimedOut, "a timeout")
			} else {
				w.want(waiter, Reached, "a reached: "+test.want)
			}
		}
	}
	w := newWorld(t)
	w.put("a", fsstore.Idle, ago(121))
	w.want(w.waiter(Request{Queries: []string{"a"}, Until: []State{Attention}}), Reached, "a reached: attention")
}

// With Next a state counts once it was reported anew, whether or not another
// one was seen between.
func TestNext(t *testing.T) {
	w := newWorld(t)
	w.put("a", fsstore.Idle, ago(5))
	waiter := w.waiter(Request{Queries: []string{"a"}, Next: true})
	w.want(waiter, TimedOut, "a timeout")
	w.put("a", fsstore.Idle)
	w.want(waiter, Reached, "a reached: idle")

	w.put("b", fsstore.Idle, ago(5))
	waiter = w.waiter(Request{Queries: []string{"b"}, Next: true})
	w.put("b", fsstore.Running)
	w.want(waiter, TimedOut, "b timeout")
	w.put("b", fsstore.Waiting)
	w.want(waiter, Reached, "b reached: waiting")

	// What does not set the state is no report of it.
	w.put("c", fsstore.Idle, ago(5))
	waiter = w.waiter(Request{Queries: []string{"c"}, Next: true})
	w.put("c", fsstore.Idle, ago(5), func(r *fsstore.Record) { r.Subagents = 1 })
	w.want(waiter, TimedOut, "c timeout")

	// A state that was not the one at the start counts at once.
	w.put("d", fsstore.Running)
	waiter = w.waiter(Request{Queries: []string{"d"}, Next: true})
	w.put("d", fsstore.Idle)
	w.want(waiter, Reached, "d reached: idle")
}

// A session is gone when it is over or cannot be followed any more. Being over
// is the state ended, too.
func TestGone(t *testing.T) {
	told := func(r *fsstore.Record) { r.Harness, r.Source = "claude", fsstore.SourceNotify } // of whatever process
	for _, test := range []struct {
		name   string
		happen func(w *world, alive func(*fsstore.Record), kill func())
		why    string
		over   bool
	}{
		{"ended", func(w *world, alive func(*fsstore.Record), kill func()) {
			w.put("a", fsstore.Ended, alive, told)
		}, "it has ended", true},
		{"died", func(w *world, alive func(*fsstore.Record), kill func()) { kill() }, "process PID is gone", true},
		{"died, and cleaned up", func(w *world, alive func(*fsstore.Record), kill func()) {
			kill()
			w.delete("a")
		}, "process PID is gone", true},
		{"left for another session", func(w *world, alive func(*fsstore.Record), kill func()) {
			w.put("b", fsstore.Idle, alive, told)
		}, "its process works on another session", true},
		{"deleted", func(w *world, alive func(*fsstore.Record), kill func()) {
			w.delete("a")
		}, "its record was removed", false},
		{"removed by the user", func(w *world, alive func(*fsstore.Record), kill func()) {
			w.put("a", fsstore.Running, alive, told, func(r *fsstore.Record) { r.RemovedAt = r.TS })
		}, "it was removed", false},
		{"store deleted", func(w *world, alive func(*fsstore.Record), kill func()) {
			if err := os.RemoveAll(w.dir); err != nil {
				w.t.Fatal(err)
			}
		}, "its record was removed", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			alive, kill := child(t)
			w.put("a", fsstore.Running, alive, told, ago(1))
			gone := w.waiter(Request{Queries: []string{"a"}})
			over := w.waiter(Request{Queries: []string{"a"}, Until: []State{State(fsstore.Ended)}})
			w.want(gone, TimedOut, "a timeout")
			w.want(over, TimedOut, "a timeout")
			why := strings.ReplaceAll(test.why, "PID", gone.sessions[0].Row.PID)
			test.happen(w, alive, kill)
			w.want(gone, Gone, "a gone: "+why)
			if test.over {
				w.want(over, Reached, "a reached: ended"+why)
			} else {
				w.want(over, Gone, "a gone: "+why)
			}
		})
	}
}

// A session that goes on in another process is followed, and so is one that a
// scan found before its hooks reported.
func TestFollowed(t *testing.T) {
	w := newWorld(t)
	one, killOne := child(t)
	two, killTwo := child(t)
	w.put("a", fsstore.Running, one)
	waiter := w.waiter(Request{Queries: []string{"a"}})
	w.put("a", fsstore.Running, two)
	killOne()
	w.want(waiter, TimedOut, "a timeout")
	killTwo()
	w.want(waiter, Gone, "a gone: process "+waiter.sessions[0].Row.PID+" is gone")

	found, _ := child(t)
	w.put("process", fsstore.Discovered, found, func(r *fsstore.Record) { r.Kind = fsstore.KindProcess })
	waiter = w.waiter(Request{Queries: []string{"process"}})
	w.put("b", fsstore.Running, found)
	w.want(waiter, TimedOut, "b timeout")
	w.delete("process")
	w.put("b", fsstore.Idle, found)
	w.want(waiter, Reached, "b reached: idle")
}

// Of a session that is open twice, the instance that was asked for counts as
// long as it lives.
func TestTwice(t *testing.T) {
	w := newWorld(t)
	one, killOne := child(t)
	two, _ := child(t)
	w.put("a", fsstore.Running, one)
	w.put("a", fsstore.Idle, two)
	if err := (&waiter{Request: Request{Queries: []string{"a"}}}).resolve(w.list()); !errors.As(err, new(*listing.AmbiguousError)) {
		t.Errorf("a session that is open twice: %v, want an ambiguous query", err)
	}
	var r fsstore.Record
	one(&r)
	waiter := w.waiter(Request{Queries: []string{r.PID}})
	w.want(waiter, TimedOut, "a timeout")
	killOne()
	w.want(waiter, Reached, "a reached: idle")
}

// A record that cannot be read, as one that is being written in place, is not
// gone.
func TestInDoubt(t *testing.T) {
	w := newWorld(t)
	damaged := filepath.Join(w.dir, "sessions", "damaged.json")
	file := filepath.Join(w.dir, "sessions", "a.json")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(damaged, "")
	write(file, `{"agent":"claude","session_id":"a","status":"running","ts":1}`)
	waiter := w.waiter(Request{Queries: []string{"a"}})
	write(file, `{"agent":`)
	w.want(waiter, TimedOut, "a timeout")
	w.want(waiter, TimedOut, "a timeout")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.want(waiter, Gone, "a gone: its record was removed")
}

func TestSeveral(t *testing.T) {
	w := newWorld(t)
	queries := []string{"a", "b"}
	start := func(request Request) *waiter {
		w.put("a", fsstore.Running)
		w.put("b", fsstore.Running)
		request.Queries = queries
		return w.waiter(request)
	}

	all := start(Request{})
	w.put("a", fsstore.Idle)
	w.want(all, TimedOut, "a reached: idle", "b timeout")
	w.put("a", fsstore.Running) // it has been there
	w.put("b", fsstore.Waiting)
	w.want(all, Reached, "a reached: idle", "b reached: waiting")

	all = start(Request{})
	w.put("b", fsstore.Ended)
	w.want(all, Gone, "a timeout", "b gone: it has ended")

	all = start(Request{})
	w.put("a", fsstore.Idle)
	w.want(all, TimedOut, "a reached: idle", "b timeout")
	w.put("a", fsstore.Ended) // too late to matter
	w.put("b", fsstore.Idle)
	w.want(all, Reached, "a reached: idle", "b reached: idle")

	any := start(Request{Any: true})
	w.put("a", fsstore.Ended)
	w.want(any, TimedOut, "a gone: it has ended", "b timeout")
	w.put("b", fsstore.Error)
	w.want(any, Reached, "a gone: it has ended", "b reached: error")

	any = start(Request{Any: true})
	w.put("a", fsstore.Ended)
	w.put("b", fsstore.Ended)
	w.want(any, Gone, "a gone: it has ended", "b gone: it has ended")
}

// run runs a wait beside the test, which has a minute.
func (w *world) run(request Request) func() Result {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	w.t.Cleanup(cancel)
	type answer struct {
		Result
		error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := Run(ctx, w.dir, request)
		done <- answer{r, err}
	}()
	return func() Result {
		w.t.Helper()
		a := <-done
		if a.error != nil {
			w.t.Fatal(a.error)
		}
		return a.Result
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", fsstore.Running)
	w.put("b", fsstore.Running)
	wait := w.run(Request{Queries: []string{"a", "b"}})
	w.put("a", fsstore.Idle)
	w.put("b", fsstore.Waiting)
	if r := wait(); r.Outcome != Reached || r.Sessions[0].State != "idle" || r.Sessions[1].State != "waiting" {
		t.Errorf("the result is %+v", r)
	}
}

// The end of a process is seen although nothing writes to the store, also where
// the kernel does not tell.
func TestRunDeath(t *testing.T) {
	for _, told := range []bool{true, false} {
		if !told {
			open := pidfdOpen
			pidfdOpen = func(int) (linux.FD, error) { return -1, unix.ENOSYS }
			t.Cleanup(func() { pidfdOpen = open })
		}
		w := newWorld(t)
		alive, kill := child(t)
		w.put("a", fsstore.Running, alive)
		wait := w.run(Request{Queries: []string{"a"}})
		begin := time.Now()
		kill()
		if r := wait(); r.Outcome != Gone {
			t.Errorf("told %v: the result is %+v after %v", told, r, time.Since(begin))
		}
	}
}

// What another record decides is seen although the feed is told of the
// session's own alone: its process reports another session, or, found by a scan,
// for the first time one at all.
func TestRunOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claude := func(r *fsstore.Record) { r.Harness, r.Source = "claude", fsstore.SourceNotify } // of whatever process
	left, _ := child(t)
	w.put("left", fsstore.Running, left, claude, ago(1))
	wait := w.run(Request{Queries: []string{"left"}})
	found, _ := child(t)
	w.put("process", fsstore.Discovered, found, func(r *fsstore.Record) { r.Kind = fsstore.KindProcess })
	waitFound := w.run(Request{Queries: []string{"process"}})
	time.Sleep(time.Second) // until both wait, most likely
	w.put("other", fsstore.Running, left, claude)
	w.put("reported", fsstore.Idle, found)
	if r := wait(); r.Outcome != Gone || r.Sessions[0].Why != "its process works on another session" {
		t.Errorf("a session that was left: %+v", r)
	}
	if r := waitFound(); r.Outcome != Reached || r.Sessions[0].Row.Session != "reported" {
		t.Errorf("a process that reports: %+v", r)
	}
}

// A plugin that has just reported counts as alive for some seconds, whatever
// its process does.
func TestRunPlugin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	alive, kill := child(t)
	w.put("a", fsstore.Running, alive, func(r *fsstore.Record) { r.Source, r.TS = fsstore.SourcePlugin, r.TS-3 })
	wait := w.run(Request{Queries: []string{"a"}})
	kill()
	if r := wait(); r.Outcome != Gone {
		t.Errorf("the result is %+v", r)
	}
}

func TestRunTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	alive, _ := child(t)
	w.put("a", fsstore.Running, alive)
	w.put("b", fsstore.Idle)
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Hour))
	defer cancel()
	soon, cancelSoon := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancelSoon()
	for _, ctx := range []context.Context{over, soon} {
		r, err := Run(ctx, w.dir, Request{Queries: []string{"a", "b"}})
		if err != nil || r.Outcome != TimedOut || r.Sessions[0].Outcome != TimedOut || r.Sessions[1].Outcome != Reached {
			t.Errorf("after the deadline: %+v, %v", r, err)
		}
		if r, err := Run(ctx, w.dir, Request{Queries: []string{"b"}}); err != nil || r.Outcome != Reached {
			t.Errorf("what is already, after the deadline: %+v, %v", r, err)
		}
	}
	cancelled, cancelIt := context.WithCancel(t.Context())
	cancelIt()
	if _, err := Run(cancelled, w.dir, Request{Queries: []string{"a"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", fsstore.Running)
	run := func(dir string, queries ...string) error {
		_, err := Run(t.Context(), dir, Request{Queries: queries})
		return err
	}
	if err := run(w.dir, "a", "none"); !listing.IsNoMatch(err) {
		t.Errorf("an unknown session: %v", err)
	}
	if err := run(w.dir, ""); !errors.Is(err, listing.ErrEmptyQuery) {
		t.Errorf("an empty query: %v", err)
	}
	if err := run(filepath.Join(w.dir, "none"), "a"); !listing.IsNoMatch(err) {
		t.Errorf("no store: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(file, "a"); !errors.Is(err, fsstore.ErrUnavailable) {
		t.Errorf("an unusable store: %v", err)
	}
}
