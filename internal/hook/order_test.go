package hook

import (
	"fmt"
	"slices"
	"testing"

	"tongs-agents/fsstore"
)

// permutations returns all orders of the numbers below n.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// arrive plays events that began at the times 100, 101, ... in the order in
// which they arrive, after the beginning of a turn.
func arrive(t *testing.T, events []string, order []int) *machine {
	m := newMachine(t, "claude")
	m.do("session-start at=10")
	m.do("prompt-submit at=11")
	for _, i := range order {
		m.do(fmt.Sprintf("%s at=%d", events[i], 100+i))
	}
	return m
}

// The hooks of a turn may end in any order: the record is as the newest event
// leaves it, and every event has counted.
func TestTurnInAnyOrder(t *testing.T) {
	turn := []string{"tool-use Bash", "permission-request Bash", "tool-done Bash", "stop last_assistant_message=Done."}
	for _, order := range permutations(len(turn)) {
		m := arrive(t, turn, order)
		if got, want := show(m.r), "idle: Done."; got != want {
			t.Errorf("arrival %v: got %s, want %s", order, got, want)
		}
		if got := m.r.Arrival; got != 2+4 {
			t.Errorf("arrival %v: arrival_sequence %d, want 6", order, got)
		}
	}
}

// The events of a turn in any order of their times and any order of arrival
// leave the state that they leave in order. Not so where a tool that is done
// comes last: it says only that a wait is over, and means nothing if the wait
// was not heard of yet.
func TestAnyTimesInAnyOrder(t *testing.T) {
	events := []string{"tool-use Bash", "permission-request Bash", "tool-done Bash", "stop"}
	for _, times := range permutations(len(events)) {
		var turn []string
		for _, i := range times {
			turn = append(turn, events[i])
		}
		if turn[3] == "tool-done Bash" {
			continue
		}
		want := showState(arrive(t, turn, []int{0, 1, 2, 3}).r)
		for _, order := range permutations(len(turn)) {
			if got := showState(arrive(t, turn, order).r); got != want {
				t.Errorf("%v, arrival %v: got %s, want %s", turn, order, got, want)
			}
		}
	}
}

// Tools run side by side. The end of one, which began after another one's
// question and overtook it, does not hide the question; nor does it hide the
// end of the turn.
func TestToolDoneHidesNothing(t *testing.T) {
	for _, event := range []string{"permission-request Bash", "tool-use AskUserQuestion", "stop", "interrupt", "stop-failure"} {
		turn := []string{event, "tool-done Read"}
		want := show(arrive(t, turn, []int{0, 1}).r)
		if got := show(arrive(t, turn, []int{1, 0}).r); got != want {
			t.Errorf("%s: got %s, want %s", event, got, want)
		}
	}
}

var allEvents = []string{
	"session-start", "session-start source=compact", "prompt-submit", "tool-use Bash", "tool-use AskUserQuestion",
	"tool-done Bash", "tool-done Read", "permission-request Bash", "elicitation",
	"notification notification_type=permission_prompt message=Say", "notification notification_type=idle_prompt message=Waiting",
	"notification notification_type=elicitation_response", "stop last_assistant_message=Done.", "stop tasks=2", "interrupt", "stop-failure",
	"compact", "compact-done trigger=auto", "compact-done trigger=manual", "subagent-start @a1", "subagent-stop @a1",
	"tool-use Bash @a1", "tool-done Bash @a1", "permission-request Bash @a1", "elicitation @a1", "session-end",
}

// For every two events and every status before them: the older one, if it comes
// later, changes nothing that the newer one set.
func TestLateEventSetsNothing(t *testing.T) {
	m := newMachine(t, "claude")
	for _, status := range fsstore.Statuses {
		m.r = nil
		start := *m.in(status).r
		for _, newer := range allEvents {
			m.r = &start
			m.do(newer + " at=9000")
			after := m.r
			if after.Boottime != 9000 { // it set nothing
				continue
			}
			for _, older := range allEvents {
				m.r = after
				changed := m.do(older + " at=8000 model=other cwd=/other")
				before, r := *after, *m.r
				if !changed || r.Arrival != before.Arrival+1 {
					t.Errorf("%s, %s, late %s: arrival_sequence %d after %d", status, newer, older, r.Arrival, before.Arrival)
				}
				if showState(&r) != showState(&before) || r.Detail != before.Detail || r.Tool != before.Tool ||
					r.TS != before.TS || r.LastEvent != before.LastEvent || r.Boottime != before.Boottime ||
					r.EndReason != before.EndReason || r.BackgroundTasks != before.BackgroundTasks ||
					r.Cwd != before.Cwd || r.RemovedAt != before.RemovedAt {
					t.Errorf("%s, %s, late %s: got %s, want %s", status, newer, older, show(&r), show(&before))
				}
			}
		}
	}
}

// A late event says what is not known yet, and nothing else.
func TestLateEventDescribes(t *testing.T) {
	m := newMachine(t, "claude")
	m.do("prompt-submit at=20")
	m.do("session-start at=10 cwd=/elsewhere model=opus session_title=Title transcript_path=/t/s1")
	if r := m.r; show(r) != "running: processing prompt" || r.Model != "opus" || r.Title != "Title" ||
		r.TranscriptPath != "/t/s1" || r.Cwd != "/home/dana/src/ledger-api" {
		t.Errorf("got %s, %+v", show(r), r)
	}
	m.do("session-start at=11 model=haiku session_title=Other")
	if r := m.r; r.Model != "opus" || r.Title != "Title" {
		t.Errorf("got model %q, title %q", r.Model, r.Title)
	}
}

// Subagents are counted whatever the order is, but only within the turn.
func TestLateSubagents(t *testing.T) {
	newMachine(t, "claude").story(
		`session-start at=10 => started: session started`,
		`prompt-submit at=20 => running: processing prompt`,
		`tool-use Bash at=30 => running: using Bash`,
		`subagent-start @a1 at=25 => running subagents=1: using Bash`,
		`subagent-start @a2 at=26 => running subagents=2: using Bash`,
		`subagent-stop @a1 at=27 => running subagents=1: using Bash`,
		`stop at=40 => idle`,
		`subagent-start @a3 at=35 => idle`,
		`subagent-stop @a2 at=36 => idle`,
	)
}

// Of two events of one time the one that comes later counts.
func TestEqualTimes(t *testing.T) {
	newMachine(t, "claude").story(
		`session-start at=10 => started: session started`,
		`prompt-submit at=10 => running: processing prompt`,
		`stop at=10 => idle`,
		`prompt-submit at=10 => running: processing prompt`,
	)
}

// Only a state has a time: what changes none does not make others late.
func TestReportsHaveNoTime(t *testing.T) {
	m := newMachine(t, "claude")
	m.story(
		`session-start at=10 => started: session started`,
		`prompt-submit at=20 => running: processing prompt`,
		`tool-use Bash @a1 at=50 => running: processing prompt`,
		`session-start source=compact at=60 => running: processing prompt`,
		`tool-done Read at=70 => running: processing prompt`,
		`stop at=40 => idle`,
	)
	if m.r.Boottime != 40 {
		t.Errorf("got boottime_ns %d, want 40", m.r.Boottime)
	}
}

// Times of two boots have no order.
func TestOtherBoot(t *testing.T) {
	m := newMachine(t, "claude")
	before := func() {
		m.r = nil
		m.in(fsstore.Running)
		m.r.BootID, m.r.Boottime = "00000000-0000-4000-8000-000000000000", 1_000_000
	}
	before()
	m.story(`stop at=10 => idle`)
	if m.r.BootID != thisBoot || m.r.Boottime != 10 {
		t.Errorf("got boot %s, boottime_ns %d", m.r.BootID, m.r.Boottime)
	}
	// The first event of the new boot may be one that sets no state.
	for _, first := range []string{"session-start source=compact at=10", "subagent-start @a1 at=10", "tool-done Read at=10"} {
		before()
		m.do(first)
		m.do("stop at=20")
		if m.r.Status != fsstore.Idle {
			t.Errorf("%s, then stop: got %s with boottime_ns %d", first, show(m.r), m.r.Boottime)
		}
	}
}

// A record without a boot id, as the Python program leaves it, takes any event.
func TestUnknownBoot(t *testing.T) {
	m := newMachine(t, "claude").in(fsstore.Running)
	m.r.BootID, m.r.Boottime = "", 0
	m.story(`stop at=10 => idle`)
	if m.r.BootID != thisBoot || m.r.PIDNamespace == "" {
		t.Errorf("got boot %q, namespace %q", m.r.BootID, m.r.PIDNamespace)
	}
}

// The same event twice, as it comes from a hook that is registered twice, is
// the event once.
func TestTwice(t *testing.T) {
	m := newMachine(t, "claude")
	for _, status := range fsstore.Statuses {
		for _, event := range allEvents {
			m.r = nil
			m.in(status)
			m.do(event + " at=9000")
			once := *m.r
			m.do(event + " at=9000")
			if got, want := showState(m.r)+m.r.Detail, showState(&once)+once.Detail; got != want {
				t.Errorf("%s, %s twice: got %s, want %s", status, event, show(m.r), show(&once))
			}
			if n := len(m.r.Recent); n != len(once.Recent) {
				t.Errorf("%s, %s twice: %d recent events, want %d", status, event, n, len(once.Recent))
			}
		}
	}
}

// A start that was recorded after the end of its own session is late.
func TestEndBeforeStart(t *testing.T) {
	newMachine(t, "claude").story(
		`prompt-submit at=10 => running: processing prompt`,
		`session-end at=30 => ended: session closed`,
		`session-start at=20 => ended: session closed`,
		`prompt-submit at=25 => ended: session closed`,
		`session-start at=40 => started: session started`,
	)
}
