package main

import (
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

// reference returns what a scenario comes to, which it finds out once.
func (w *world) reference(name string) (*reference, error) {
	if ref := w.references[name]; ref != nil {
		return ref, nil
	}
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
	ref := &reference{scenario: scenarios[i], judged: map[string]judgement{}, roles: &roles{
		strings.NewReplacer(w.state(), "STATE", w.dir, "WORLD", filepath.Dir(w.dir), "DIR"), map[string]string{},
	}}
	for _, step := range []func(*reference) error{w.template, w.play, w.finish, w.compare} {
		if err := step(ref); err != nil {
			return nil, err
		}
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

// play runs the scenario once, and sees that it comes to what it should.
func (w *world) play(ref *reference) (err error) {
	if ref.old, err = w.undisturbed(); err != nil {
		return err
	}
	if err := w.nameDigests(ref.roles.digests); err != nil {
		return err
	}
	r, err := w.traced(ref.run)
	if err != nil {
		return err
	}
	if ref.new, err = w.undisturbed(); err != nil {
		return err
	}
	if err := w.nameDigests(ref.roles.digests); err != nil { // of those that are new
		return err
	}
	ref.calls = ref.roles.calls(mainThread(r.trace))
	wrong := ref.check(trial{}, r, ref, ref.new)
	if got := ref.new.String(); got != ref.want {
		wrong = append(wrong, fmt.Sprintf("the readers show %s, want %s", got, ref.want))
	}
	return faultless(wrong)
}

// finish lets go on what comes after it.
func (w *world) finish(ref *reference) error {
	wrong, err := w.goOn(ref)
	if err != nil {
		return err
	}
	if err := faultless(wrong); err != nil {
		return err
	}
	if ref.final, err = w.undisturbed(); err != nil {
		return err
	}
	ref.files, err = w.names()
	return err
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
	if err != nil {
		return o, err
	}
	return o, faultless(wrong)
}

// faultless is the error that something is wrong although there was no fault.
func faultless(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("without a fault: %s", strings.Join(wrong, "\n"))
}
