package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reference is a scenario without a fault.
type reference struct {
	scenario
	template        string // a copy of the old state; empty: there is no store
	calls           []Call
	roles           *roles
	old, new, final observation
	files           []string             // that are left in the end
	judged          map[string]judgement // by fingerprint of the store
}

// answer makes the reference of a scenario, and tries the fault of a trial.
func (w *world) answer(q question) (answer, error) {
	ref, err := w.reference(q.Scenario)
	if err != nil || q.Trial == nil {
		if ref == nil {
			return answer{}, err
		}
		return answer{Calls: ref.calls}, err
	}
	return w.try(ref, *q.Trial)
}

func (w *world) reference(name string) (*reference, error) {
	if ref := w.references[name]; ref != nil {
		return ref, nil
	}
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
	ref := &reference{scenario: scenarios[i], judged: map[string]judgement{}, roles: &roles{
		strings.NewReplacer(w.state(), "STATE", w.dir, "WORLD", filepath.Dir(w.dir), "DIR"), map[string]string{},
	}}
	if err := w.template(ref); err != nil {
		return nil, err
	}
	var err error
	if ref.old, err = w.undisturbed(); err != nil {
		return nil, err
	}
	if err := w.nameDigests(ref.roles.digests); err != nil {
		return nil, err
	}
	r, err := w.traced(ref.run)
	if err != nil {
		return nil, err
	}
	if ref.new, err = w.undisturbed(); err != nil {
		return nil, err
	}
	if err := w.nameDigests(ref.roles.digests); err != nil {
		return nil, err
	}
	wrong := ref.check(trial{}, r, ref, ref.new)
	if got := ref.new.String(); got != ref.want {
		wrong = append(wrong, fmt.Sprintf("the readers show %s, want %s", got, ref.want))
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("without a fault: %s", strings.Join(wrong, "\n"))
	}
	ref.calls = ref.roles.calls(mainThread(r.trace))
	if wrong, err := w.goOn(ref); err != nil || len(wrong) > 0 {
		return nil, fmt.Errorf("without a fault: %s%w", strings.Join(wrong, "\n"), err)
	}
	if ref.final, err = w.undisturbed(); err != nil {
		return nil, err
	}
	if ref.files, err = w.names(); err != nil {
		return nil, err
	}
	if err := w.compare(ref); err != nil {
		return nil, err
	}
	w.references[name] = ref
	return ref, nil
}

// template makes the old state, and leaves the store to be a copy of it, as it
// is before each trial.
func (w *world) template(ref *reference) error {
	if err := w.restore(""); err != nil || ref.setUp == nil {
		return err
	}
	if err := ref.setUp(w); err != nil {
		return err
	}
	ref.template = filepath.Join(w.dir, "template-"+ref.name)
	if err := os.Rename(w.state(), ref.template); err != nil {
		return err
	}
	return w.restore(ref.template)
}

// compare makes sure that the program as it is installed makes the same calls
// of ours, whatever threads they come from.
func (w *world) compare(ref *reference) error {
	if err := w.restore(ref.template); err != nil {
		return err
	}
	c := ref.run
	c.installed = true
	r, err := w.traced(c)
	if err != nil {
		return err
	}
	var got, want []string
	for _, c := range ref.roles.calls(r.trace) {
		if !c.Runtime {
			got = append(got, c.Role)
		}
	}
	for _, c := range ref.calls {
		if !c.Runtime {
			want = append(want, c.Role)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	for i := range max(len(got), len(want)) {
		if i == len(got) || i == len(want) || got[i] != want[i] {
			return fmt.Errorf("the installed program makes other calls: %q, traced: %q", got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
	return nil
}

// undisturbed observes a store that no fault has hit.
func (w *world) undisturbed() (observation, error) {
	o, wrong, err := w.observe()
	if len(wrong) > 0 {
		err = fmt.Errorf("without a fault: %s", strings.Join(wrong, "\n"))
	}
	return o, err
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

// checkHook: status 0 and not a word, whatever happens.
func checkHook(t trial, r ran, ref *reference, got observation) (wrong []string) {
	if r.status != 0 || r.signal != "" {
		wrong = append(wrong, r.String())
	}
	if r.stdout != "" || r.stderr != "" {
		wrong = append(wrong, fmt.Sprintf("it printed %q and %q", r.stdout, r.stderr))
	}
	return wrong
}

// checkCLI: status 0, or 1 and why. It reports whether there is more to check:
// what was printed is not if the fault is in the printing.
func checkCLI(t trial, r ran) (wrong []string, more bool) {
	printing := t.Call.Name == "write" && (strings.HasSuffix(t.Call.Role, " stdout") || strings.HasSuffix(t.Call.Role, " stderr"))
	switch {
	case printing && t.Fault == "EPIPE" && r.signal == "SIGPIPE": // as a program in a pipe ends
		return nil, false
	case r.signal != "" || r.status > 1:
		return []string{r.String() + ": " + r.stderr}, false
	case printing:
		return nil, false
	case r.status == 0 && r.stderr != "":
		return []string{"it says " + r.stderr}, false
	case r.status == 1 && !strings.HasPrefix(r.stderr, "tongs-agents: error: "):
		return []string{fmt.Sprintf("exit status 1, but it says %q", r.stderr)}, false
	}
	return nil, true
}

// checkImport: an answer for each record, which is true.
func checkImport(t trial, r ran, ref *reference, got observation) []string {
	wrong, more := checkCLI(t, r)
	if !more || r.status == 1 && r.stdout == "" {
		return wrong
	}
	var result struct {
		Records []struct {
			Line    int
			Written bool
			Error   string
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		return []string{fmt.Sprintf("%v in %q", err, r.stdout)}
	}
	all := true
	for _, a := range result.Records {
		session := map[int]string{1: "s", 2: "n"}[a.Line]
		want := ref.old
		if a.Written {
			want = ref.new
		}
		if all = all && a.Written; !same(got[0], want[0], session, true) {
			wrong = append(wrong, fmt.Sprintf("the answer of line %d is written %t %s, but the record is %s", a.Line, a.Written, a.Error, describe(got[0], session)))
		}
	}
	all = all && len(result.Records) == 2
	unread := strings.Contains(r.stderr, "standard input: ") // there might have been more
	if r.status == 0 && !all || r.status == 1 && all && !unread {
		wrong = append(wrong, fmt.Sprintf("%v with the answers %s", r, r.stdout))
	}
	return wrong
}

// checkNotify: done and said so, or neither.
func checkNotify(t trial, r ran, ref *reference, got observation) []string {
	wrong, more := checkCLI(t, r)
	if !more {
		return wrong
	}
	want, printed := ref.old, r.stdout == ""
	if r.status == 0 {
		want, printed = ref.new, json.Valid([]byte(r.stdout))
	}
	if !printed {
		wrong = append(wrong, fmt.Sprintf("%v, but it printed %q", r, r.stdout))
	}
	for _, d := range differences(got[:1], true, want[:1]) {
		wrong = append(wrong, fmt.Sprintf("%v, but %s", r, d))
	}
	return wrong
}

// checkCleanup: it says what it has done, and whether something failed.
func checkCleanup(t trial, r ran, ref *reference, got observation) []string {
	wrong, more := checkCLI(t, r)
	if !more {
		return wrong
	}
	type change struct {
		Session string `json:"session_id"`
	}
	var result struct {
		Removed, Added, Mended []change
		Skipped                string
	}
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		return []string{fmt.Sprintf("%v in %q", err, r.stdout)}
	}
	want := map[int]string{1: "unavailable"}[r.status]
	if t.Fault == "EAGAIN" && strings.Contains(t.Call.Role, "maintenance.lock") { // somebody else holds it
		want = "busy"
	}
	if result.Skipped != want {
		wrong = append(wrong, fmt.Sprintf("%v, but skipped is %q", r, result.Skipped))
	}
	for _, c := range result.Removed {
		if s, there := got[0][c.Session]; there {
			wrong = append(wrong, fmt.Sprintf("removed %s, but it is %s", c.Session, s.Row))
		}
	}
	for _, c := range slices.Concat(result.Added, result.Mended) {
		if !same(got[0], ref.new[0], c.Session, true) {
			wrong = append(wrong, fmt.Sprintf("changed %s, but it is %s", c.Session, describe(got[0], c.Session)))
		}
	}
	return wrong
}
