package maintain

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

var (
	historySeed = flag.Uint64("seed", 0, "the one history that TestHistories plays, with random ones if -histories says so")
	histories   = flag.Int("histories", 0, "histories with a random seed that TestHistories plays, instead of its own list")
)

// TestHistories plays histories of agents, with real processes and real hooks,
// and of maintainers. After each step no session that lives and reports is
// lost or in another state than the last hook said; no arrival sequence goes
// back; and nothing dead survives two runs.
func TestHistories(t *testing.T) {
	seeds := []uint64{1, 2, 3, 5, 8, 13, 21, 34}
	if *historySeed > 0 {
		seeds = []uint64{*historySeed}
	}
	if *histories > 0 {
		seeds = nil
		for range *histories {
			seeds = append(seeds, rand.Uint64())
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := &history{
				t: t, dir: filepath.Join(t.TempDir(), "state"), random: rand.New(rand.NewPCG(seed, 0)),
				arrivals: map[fsstore.Key]int64{}, owners: map[string]int{},
			}
			for range 50 {
				h.step()
				h.check()
				if t.Failed() {
					t.Fatalf("-seed %d: %s", seed, strings.Join(h.log, "; "))
				}
			}
		})
	}
}

// history is one under way, and what must be true in it.
type history struct {
	t        testing.TB
	dir      string
	random   *rand.Rand
	log      []string
	agents   []*played
	ids      int
	owners   map[string]int // in how many processes a session was
	runs     atomic.Int64   // completed ones
	arrivals map[fsstore.Key]int64
}

// played is an agent and what its hooks have said.
type played struct {
	*agent
	sessions []*conversation // the one with the newest event last
	dead     bool
	runs     int64 // that were completed before its death
}

// conversation is a session in one process.
type conversation struct {
	id     string
	status fsstore.Status
	reason string // of the end
	since  int64  // runs that were completed before the last event
}

// step does one thing at random.
func (h *history) step() {
	h.t.Helper()
	switch n := h.random.IntN(20); {
	case n < 3 || len(h.agents) == 0:
		h.start()
	case n < 11:
		h.event()
	case n < 13:
		h.kill()
	case n < 14: // the parents notice
		h.note("reap")
		for _, a := range h.agents {
			if a.dead {
				a.reap()
			}
		}
	case n < 18:
		h.note("run")
		h.run(Options{Forced: h.random.IntN(4) > 0})
	case n < 19:
		h.killRun()
	default: // both at once
		h.note("run at the same time:")
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.run(Options{Forced: true})
		}()
		h.event()
		<-done
	}
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) start() {
	a := &played{agent: startAgentOn(h.t, h.dir, "claude", true)}
	h.agents = append(h.agents, a)
	h.note("agent %d starts", len(h.agents)-1)
}

// event lets a living agent report something.
func (h *history) event() {
	var alive []int
	for i, a := range h.agents {
		if !a.dead {
			alive = append(alive, i)
		}
	}
	if len(alive) == 0 {
		h.start()
		return
	}
	i := alive[h.random.IntN(len(alive))]
	a := h.agents[i]
	choice := h.random.IntN(10)
	if len(a.sessions) == 0 || choice < 2 {
		h.begin(i)
		return
	}
	s := a.sessions[len(a.sessions)-1]
	name, more := "", ""
	switch {
	case choice < 4:
		name, s.status = "UserPromptSubmit", fsstore.Running
	case choice < 6:
		name, more = "PreToolUse", `,"tool_name":"Bash"`
		if s.status != fsstore.Ended {
			s.status = fsstore.Running
		}
	case choice < 8:
		name = "Stop"
		if s.status != fsstore.Ended {
			s.status = fsstore.Idle
		}
	default:
		reason := []string{"other", "prompt_input_exit"}[h.random.IntN(2)]
		name, more = "SessionEnd", `,"reason":"`+reason+`"`
		if s.status != fsstore.Ended { // the first end counts
			s.status, s.reason = fsstore.Ended, reason
		}
	}
	h.note("agent %d: %s of %s", i, name, s.id)
	a.event(name, s.id, more)
	s.since = h.runs.Load()
}

// begin starts a session in an agent, a new one or one that there was.
func (h *history) begin(i int) {
	a := h.agents[i]
	source := "clear"
	id := fmt.Sprint("s", h.ids)
	if h.ids > 0 && h.random.IntN(4) == 0 {
		id, source = fmt.Sprint("s", h.random.IntN(h.ids)), "resume"
	} else {
		h.ids++
	}
	var s *conversation
	for j, old := range a.sessions {
		if old.id == id {
			s = old
			a.sessions = append(a.sessions[:j:j], a.sessions[j+1:]...)
			break
		}
	}
	if s == nil {
		s = &conversation{id: id}
		h.owners[id]++
	}
	s.status = fsstore.Started
	a.sessions = append(a.sessions, s)
	h.note("agent %d: SessionStart of %s", i, id)
	a.event("SessionStart", id, `,"source":"`+source+`"`)
	s.since = h.runs.Load()
}

func (h *history) kill() {
	i := h.random.IntN(len(h.agents))
	if a := h.agents[i]; !a.dead {
		h.note("agent %d is killed", i)
		a.kill()
		a.dead, a.runs = true, h.runs.Load()
	}
}

func (h *history) run(o Options) {
	for until := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		result := Run(h.dir, o)
		switch {
		case result.Skipped == "":
			h.runs.Add(1)
		case result.Skipped == Busy && time.Now().Before(until):
			// What another history starts has our descriptors, and with them the
			// lock of the run before, from fork to exec.
			continue
		case result.Skipped != Recent:
			h.t.Errorf("run: %+v", result)
		}
		return
	}
}

// killRun kills a maintainer somewhere.
func (h *history) killRun() {
	n := h.random.IntN(20)
	out, err := self("crash", h.dir, "/proc", fmt.Sprint(n)).Output()
	moment := strings.TrimSpace(string(out))
	h.note("run killed at %s", moment)
	if err == nil && moment == "end" {
		h.runs.Add(1)
	}
}

// check checks the store.
func (h *history) check() {
	h.t.Helper()
	if _, err := os.Stat(h.dir); err != nil {
		return // nothing has happened yet
	}
	records := map[fsstore.Key]*fsstore.Record{}
	for _, r := range storedIn(h.t, h.dir) {
		records[r.Key] = r
		if r.Arrival < h.arrivals[r.Key] {
			h.t.Errorf("%s: arrival %d after %d", r.Session, r.Arrival, h.arrivals[r.Key])
		}
		h.arrivals[r.Key] = r.Arrival
	}
	archived := archivedIn(h.t, h.dir)
	for i, a := range h.agents {
		instance := a.pid + ":" + a.start
		if a.dead {
			if h.runs.Load() < a.runs+2 {
				continue
			}
			for key, r := range records {
				if r.PID == a.pid && r.ProcessStart == a.start {
					h.t.Errorf("agent %d is dead for two runs: %s is still there, %s", i, key.Session, r.Status)
				}
			}
			h.checkArchived(i, a, archived)
			continue
		}
		for j, s := range a.sessions {
			r := records[fsstore.Key{Harness: "claude", Session: s.id, Instance: instance}]
			current := j == len(a.sessions)-1
			switch {
			case r == nil:
				h.t.Errorf("agent %d lives, and its session %s is lost", i, s.id)
			case current && r.Status != s.status:
				h.t.Errorf("agent %d: session %s is %s, want %s", i, s.id, r.Status, s.status)
			case !current && r.Status != s.status && r.Status != fsstore.Ended:
				h.t.Errorf("agent %d: session %s, which it has left, is %s, want %s or ended", i, s.id, r.Status, s.status)
			case !current && r.Status != fsstore.Ended && a.sessions[len(a.sessions)-1].since < h.runs.Load()-1:
				h.t.Errorf("agent %d: session %s, which it has left, is still %s", i, s.id, r.Status)
			}
		}
	}
}

// checkArchived checks that the last session of a dead agent can be resumed if
// the user did not end it. What became of a session that was in several
// processes depends on more.
func (h *history) checkArchived(i int, a *played, archived map[string]fsstore.Resumable) {
	h.t.Helper()
	for j, s := range a.sessions {
		if h.owners[s.id] > 1 {
			continue
		}
		entry, got := archived[s.id]
		last := j == len(a.sessions)-1
		want := last && (s.status != fsstore.Ended || s.reason == "other")
		// Only the newest session of a process is one that died with it; one that
		// it had left with such an end ended with no process.
		if !last && s.status == fsstore.Ended && s.reason == "other" {
			continue
		}
		if got != want {
			h.t.Errorf("agent %d died in %s (%s %s): can be resumed: %t, want %t", i, s.id, s.status, s.reason, got, want)
		}
		if age := time.Now().Unix() - entry.IdleFrom; got && (age < 0 || age > 600) {
			h.t.Errorf("%s: idle_from is %d s ago", s.id, age)
		}
	}
}
