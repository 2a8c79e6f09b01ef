package main

import (
	"fmt"
	"slices"
	"strings"
)

// answer makes the reference of a scenario, and tries the fault of a trial.
func (w *world) answer(q question) (answer, error) {
	ref, err := w.reference(q.Scenario)
	switch {
	case err != nil:
		return answer{}, err
	case q.Trial == nil:
		return answer{Calls: ref.calls}, nil
	}
	return w.try(ref, *q.Trial)
}

// attempts are how often a fault is tried that hits another call than it
// should: a run can differ a little from the one before.
const attempts = 5

// try runs a scenario with a fault and says what was wrong after it.
func (w *world) try(ref *reference, t trial) (answer, error) {
	i := slices.IndexFunc(ref.calls, func(c Call) bool { return c.Role == t.Call.Role && c.Nth == t.Call.Nth })
	if i < 0 {
		return answer{Missed: true}, nil
	}
	t.Call.N = ref.calls[i].N // directories have another order in every world
	for range attempts {
		if err := w.restore(ref.template); err != nil {
			return answer{}, err
		}
		r, err := w.traced(ref.run, options(t)...)
		if err != nil {
			return answer{Failures: []string{err.Error()}}, nil
		}
		hit, ok := hit(r, t)
		if !ok || !t.Call.Runtime && ref.roles.role(hit) != t.Call.Role {
			continue
		}
		a := answer{Line: hit.line, Status: r.String()}
		a.Crashed = t.Fault != kill && t.Call.Runtime && (r.signal != "" || r.status == 2)
		a.Failures, err = w.wrong(ref, t, r)
		return a, err
	}
	return answer{Missed: true}, nil
}

// options make strace inject the fault. To see only the calls of one name is
// faster with its BPF filter, but what that filter stops no signal can.
func options(t trial) []string {
	only := []string{"-e", "trace=" + t.Call.Name, "-e"}
	if t.Fault == kill {
		return append(only, fmt.Sprintf("inject=%s:signal=KILL:when=%d", t.Call.Name, t.Call.N))
	}
	return append([]string{"--seccomp-bpf"}, append(only, fmt.Sprintf("inject=%s:error=%s:when=%d", t.Call.Name, t.Fault, t.Call.N))...)
}

// hit finds the call that the fault has hit.
func hit(r ran, t trial) (event, bool) {
	events := r.trace
	if !t.Call.Runtime {
		events = mainThread(events)
	}
	var last event
	for _, e := range events {
		switch {
		case e.name == "":
		case t.Fault != kill && e.injected():
			return e, true
		case t.Fault == kill && e.result == "":
			last = e
		}
	}
	return last, last.name != "" && r.signal == kill
}

// wrong says what a fault has broken: what the program promises, what readers
// see, locks, and the work that comes after it.
func (w *world) wrong(ref *reference, t trial, r ran) ([]string, error) {
	wrong, err := w.locked()
	if err != nil {
		return nil, err
	}
	left, err := w.judge(ref)
	if err != nil {
		return nil, err
	}
	// Who cannot look at the surroundings of a session knows less of it.
	loose := t.Fault != kill && !strings.Contains(t.Call.Role, "STATE")
	if t.Fault == "EINTR" && !t.Call.Runtime { // is no failure
		wrong = append(wrong, differences(left.seen, false, ref.new)...)
	} else {
		wrong = append(wrong, differences(left.seen, loose, ref.old, ref.new)...)
	}
	wrong = append(wrong, left.wrong...)
	if ref.run.program == hookProgram && r.shell != 0 {
		wrong = append(wrong, fmt.Sprintf("the shell form ends with %d", r.shell))
	}
	if t.Fault != kill && !t.Call.Runtime {
		wrong = append(wrong, ref.check(t, r, ref, left.seen)...)
	}
	return wrong, nil
}

// judgement is what a fault has left in the store.
type judgement struct {
	seen  observation
	wrong []string // whatever the fault was
}

// judge looks at the store, and lets go on what comes after. Stores that differ
// in times alone are judged once.
func (w *world) judge(ref *reference) (judgement, error) {
	print, err := w.fingerprint()
	if err != nil {
		return judgement{}, err
	}
	if j, ok := ref.judged[print]; ok {
		return j, nil
	}
	var j judgement
	if j.seen, j.wrong, err = w.observe(); err != nil {
		return j, err
	}
	after, err := w.goOn(ref)
	if err != nil {
		return j, err
	}
	final, unread, err := w.observe()
	if err != nil {
		return j, err
	}
	j.wrong = slices.Concat(j.wrong, after, unread)
	for _, d := range differences(final, true, ref.final) {
		j.wrong = append(j.wrong, "after the next: "+d)
	}
	files, err := w.names()
	if err != nil {
		return j, err
	}
	for _, name := range files {
		if !slices.Contains(ref.files, name) {
			j.wrong = append(j.wrong, "litter: "+name)
		}
	}
	for _, name := range ref.files {
		if !slices.Contains(files, name) {
			j.wrong = append(j.wrong, "missing: "+name)
		}
	}
	ref.judged[print] = j
	return j, nil
}

// goOn lets the next event come, time pass, and a maintenance run.
func (w *world) goOn(ref *reference) (wrong []string, err error) {
	r, err := w.exec(ref.next)
	if err != nil {
		return nil, err
	}
	if r.status != 0 || r.stderr != "" {
		wrong = append(wrong, fmt.Sprintf("the next: %v, %s", r, r.stderr))
	}
	if err := w.age(); err != nil {
		return nil, err
	}
	if r, err = w.exec(cleanup); err != nil {
		return nil, err
	}
	if r.status != 0 || r.stderr != "" {
		wrong = append(wrong, fmt.Sprintf("the next cleanup: %v, %s", r, r.stderr))
	}
	return wrong, nil
}
