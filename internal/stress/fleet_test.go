package main

import (
	"testing"

	"tongs-agents/fsstore"
)

// row is a row of a host's session after its nth event.
func row(session string, n int64) shown {
	r := shown{Harness: "other", Session: session, Kind: "session", Arrival: n}
	r.Status, r.Detail, r.Title, r.Cwd = content(n)
	return r
}

// TestJudge: each way in which a listing can be wrong is found, by one check.
func TestJudge(t *testing.T) {
	alive := session{invoked: 3, acked: 2, begun: true}
	with := func(change func(*session)) session {
		s := alive
		change(&s)
		return s
	}
	changed := func(change func(*shown)) []shown {
		r := row("host-0", 2)
		change(&r)
		return []shown{r}
	}
	tests := []struct {
		name    string
		command string
		was     session
		now     func(*session) // nothing happens meanwhile if it is nil
		rows    []shown
		want    string
	}{
		{"what was over", "status", alive, nil, []shown{row("host-0", 2)}, ""},
		{"what had begun", "ps", alive, nil, []shown{row("host-0", 3)}, ""},
		{"older", "status", alive, nil, []shown{row("host-0", 1)}, "recent"},
		{"older than seen", "status", with(func(s *session) { s.seen = 3 }), nil, []shown{row("host-0", 2)}, "recent"},
		{"newer", "status", alive, nil, []shown{row("host-0", 4)}, "recent"},
		{"of two events", "status", alive, nil, changed(func(r *shown) { r.Detail = row("", 1).Detail }), "whole"},
		{"ended too early", "status", alive, nil, changed(func(r *shown) { r.Status = fsstore.Ended }), "whole"},
		{"missing", "status", alive, nil, nil, "missing"},
		{"missing in ps", "ps", alive, nil, nil, "missing"},
		{"twice", "status", alive, nil, []shown{row("host-0", 2), row("host-0", 2)}, "missing"},
		{"not begun yet", "status", session{invoked: 1}, nil, nil, ""},
		{"ends meanwhile", "ps", alive, func(s *session) { s.ending = true }, nil, ""},
		{"dies meanwhile", "status", alive, func(s *session) { s.leaving = true }, nil, ""},
		{"dead in ps", "ps", with(func(s *session) { s.leaving, s.dead = true, true }), nil, []shown{row("host-0", 2)}, "ghosts"},
		{"dead in status", "status", with(func(s *session) { s.leaving, s.dead = true, true }), nil, []shown{row("host-0", 2)}, ""},
		{"swept", "status", with(func(s *session) { s.leaving, s.dead, s.swept = true, true, true }), nil, []shown{row("host-0", 2)}, "ghosts"},
		{"never was", "status", session{}, nil, []shown{row("host-1", 1)}, "ghosts"},
	}
	for _, test := range tests {
		m := &many{fleet: newFleet(), whole: &check{}, recent: &check{}, missing: &check{}, ghosts: &check{}}
		id := m.fleet.add("host").id
		m.fleet.change(m.fleet.all[0], func(s *session) {
			*s = test.was
			s.id = id
		})
		before := m.fleet.snapshot()
		if test.now != nil {
			m.fleet.change(m.fleet.all[0], test.now)
		}
		m.judge(test.command, test.rows, before)
		for name, c := range map[string]*check{"whole": m.whole, "recent": m.recent, "missing": m.missing, "ghosts": m.ghosts} {
			if failed := c.failures > 0; failed != (name == test.want) {
				t.Errorf("%s: %s has %d failures", test.name, name, c.failures)
			}
		}
	}
}

// TestTornHook: the same for what hooks have written.
func TestTornHook(t *testing.T) {
	using := func(n, arrival int64) shown {
		return shown{
			Harness: agentProgram, Status: fsstore.Running, Detail: "using " + toolName(n), Tool: toolName(n),
			Cwd: "/src/app", Arrival: arrival,
		}
	}
	with := func(r shown, change func(*shown)) shown {
		change(&r)
		return r
	}
	ended := shown{Harness: agentProgram, Status: fsstore.Ended, Detail: "session closed", Cwd: "/src/app", Arrival: 9}
	tests := []struct {
		name  string
		row   shown
		final int64
		torn  bool
	}{
		{"an event", using(7, 7), 0, false},
		{"a late one of a burst", using(8, 6), 0, false},
		{"of another burst", using(12, 7), 0, true},
		{"a name cut off", with(using(7, 7), func(r *shown) { r.Tool, r.Detail = r.Tool[:1], "using "+r.Tool[:1] }), 0, true},
		{"of two events", with(using(7, 7), func(r *shown) { r.Detail = "using " + toolName(6) }), 0, true},
		{"the end", ended, 9, false},
		{"an end that was none", ended, 0, true},
	}
	for _, test := range tests {
		if why := test.row.torn(test.final); (why != "") != test.torn {
			t.Errorf("%s: got %q, want torn: %t", test.name, why, test.torn)
		}
	}
}

// TestCheckOrder: a lost event, one that came twice, and one that overtook.
func TestCheckOrder(t *testing.T) {
	tests := []struct {
		name  string
		all   []counted
		wrong bool
	}{
		{"in order", []counted{{2, 3, 4}, {1, 1, 2}}, false},
		{"at once", []counted{{2, 1, 3}, {1, 2, 4}}, false},
		{"lost", []counted{{1, 1, 2}, {3, 3, 4}}, true},
		{"twice", []counted{{1, 1, 2}, {1, 3, 4}}, true},
		{"overtook", []counted{{2, 1, 2}, {1, 3, 4}}, true},
	}
	for _, test := range tests {
		c := &check{}
		checkOrder(c, test.all)
		if wrong := c.failures > 0; wrong != test.wrong {
			t.Errorf("%s: %d failures", test.name, c.failures)
		}
	}
}

// TestFlat: a leak is found, a warm-up is none.
func TestFlat(t *testing.T) {
	steps := func(third1, third2, third3 int) []int { return []int{third1, third1, third2, third2, third3, third3} }
	tests := []struct {
		name                string
		memory, descriptors []int
		wrong               [2]bool
	}{
		{"a warm-up", steps(8<<10, 30<<10, 31<<10), steps(5, 9, 9), [2]bool{}},
		{"memory", steps(8<<10, 30<<10, 38<<10), steps(5, 9, 9), [2]bool{true, false}},
		{"one descriptor", steps(8<<10, 30<<10, 31<<10), steps(5, 9, 10), [2]bool{false, true}},
		{"a moment", steps(8<<10, 30<<10, 31<<10), []int{5, 5, 9, 9, 9, 12}, [2]bool{}},
	}
	for _, test := range tests {
		m := &many{memory: &check{}, descriptors: &check{}}
		m.checkFlat(&sampled{name: "program", memory: test.memory, descriptors: test.descriptors})
		if wrong := [2]bool{m.memory.failures > 0, m.descriptors.failures > 0}; wrong != test.wrong {
			t.Errorf("%s: got %v, want %v", test.name, wrong, test.wrong)
		}
	}
}
