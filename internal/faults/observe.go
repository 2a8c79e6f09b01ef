package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// view is what one reader shows: the sessions by their names.
type view map[string]seen

// seen is one session as a reader shows it.
type seen struct {
	Row  string // everything that the time of the run does not change
	Core string // what a report says; the surroundings of a session may be unknown
}

// observation is what all readers show.
type observation []view

// procSession matches the name of a session that the scan has found.
var procSession = regexp.MustCompile(`\bproc-\d+`)

// String is the core of what is shown, by reader.
func (o observation) String() string {
	var all []string
	for i, v := range o {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			line := readers[i].args[0] + " " + name + ": " + v[name].Core
			all = append(all, strings.TrimSpace(procSession.ReplaceAllString(line, "proc-N")))
		}
	}
	return strings.Join(all, "; ")
}

// readers are the commands that list sessions.
var readers = []command{
	{program: cliProgram, args: []string{"status", "--json"}},
	{program: cliProgram, args: []string{"ps", "--json"}},
	{program: cliProgram, args: []string{"resumable", "--json", "--idle", "1h"}},
}

// observe asks all readers. Whatever the store holds, they have to succeed and
// to find every record readable.
func (w *world) observe() (o observation, wrong []string, err error) {
	for _, reader := range readers {
		r, err := w.exec(reader)
		if err != nil {
			return nil, nil, err
		}
		name := strings.Join(reader.args, " ")
		if r.status != 0 || complains(r.stderr) {
			wrong = append(wrong, fmt.Sprintf("%s: %v, %s", name, r, r.stderr))
		}
		v, err := parseView(r.stdout)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v in %q", name, err, r.stdout))
		}
		o = append(o, v)
	}
	return o, wrong, nil
}

// complains reports whether a reader says more than hints.
func complains(stderr string) bool {
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "tongs-agents: hint: ") {
			return true
		}
	}
	return false
}

// changing are the keys that tell the time of a report or of the look.
var changing = []string{"age_seconds", "uptime_ms", "ts", "started", "boottime_ns", "idle_from", "needs_attention"}

func parseView(text string) (view, error) {
	var list struct {
		Sessions []map[string]any `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	v := view{}
	for _, row := range list.Sessions {
		session, _ := row["session_id"].(string)
		if _, twice := v[session]; twice || session == "" {
			return v, fmt.Errorf("session %q is listed twice", session)
		}
		for _, key := range changing {
			delete(row, key)
		}
		recent, _ := row["recent"].([]any)
		for _, event := range recent {
			if event, ok := event.(map[string]any); ok {
				delete(event, "ts")
			}
		}
		text, err := json.Marshal(row) // in the order of the keys
		if err != nil {
			return v, err
		}
		v[session] = seen{string(text), fmt.Sprint(row["harness_id"], " ", row["status"], " ", row["detail"])}
	}
	return v, nil
}

// differences says where the readers show neither what one of the allowed
// observations has of a session. loose compares the core alone.
func differences(got observation, loose bool, allowed ...observation) []string {
	var wrong []string
	for i, v := range got {
		names := map[string]bool{}
		for _, o := range append(allowed, got) {
			for name := range o[i] {
				names[name] = true
			}
		}
		for name := range names {
			if !slices.ContainsFunc(allowed, func(o observation) bool { return same(v, o[i], name, loose) }) {
				wrong = append(wrong, fmt.Sprintf("%s: session %s is %s, want %s",
					readers[i].args[0], name, describe(v, name), wanted(allowed, i, name)))
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

func same(a, b view, name string, loose bool) bool {
	x, ok := a[name]
	y, want := b[name]
	return ok == want && (x.Row == y.Row || loose && x.Core == y.Core)
}

func describe(v view, name string) string {
	if s, ok := v[name]; ok {
		return s.Row
	}
	return "missing"
}

func wanted(allowed []observation, i int, name string) string {
	var all []string
	for _, o := range allowed {
		if d := describe(o[i], name); !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return strings.Join(all, " or ")
}

// locked names the lock files that somebody holds.
func (w *world) locked() ([]string, error) {
	var held []string
	err := w.files(func(path string, info fs.FileInfo) error {
		if !strings.HasSuffix(path, ".lock") {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			held = append(held, fmt.Sprintf("%s is locked: %v", filepath.Base(path), err))
		}
		return nil
	})
	return held, err
}

// hookErrors is where hooks note what failed.
const hookErrors = "hook-errors"

// names lists the files of the store. The note of a failed hook is no litter.
func (w *world) names() ([]string, error) {
	var names []string
	err := w.files(func(path string, info fs.FileInfo) error {
		name, err := filepath.Rel(w.state(), path)
		if name != hookErrors {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// times are the numbers in a record that tell when something was, and the texts.
var times = regexp.MustCompile(`"(ts|started|boottime_ns|idle_from)":\d+|\d{4}-\d\d-\d\dT[\d:]+Z`)

// fingerprint is equal for stores that differ in times alone.
func (w *world) fingerprint() (string, error) {
	sum := sha256.New()
	err := w.files(func(path string, info fs.FileInfo) error {
		text, err := os.ReadFile(path)
		if filepath.Base(path) == hookErrors {
			text = nil
		}
		name := roleTemp.ReplaceAllString(strings.TrimPrefix(path, w.state()), "TEMP")
		fmt.Fprintf(sum, "%q %q\n", name, times.ReplaceAll(text, nil))
		return err
	})
	return string(sum.Sum(nil)), err
}

// How much time age lets pass.
const (
	agedTemp = time.Hour
	agedLock = 25 * time.Hour
)

// age lets time pass for what crashes leave.
func (w *world) age() error {
	now := time.Now()
	return w.files(func(path string, info fs.FileInfo) error {
		switch {
		case strings.HasSuffix(path, ".tmp"):
			return os.Chtimes(path, now.Add(-agedTemp), now.Add(-agedTemp))
		case strings.HasSuffix(path, ".lock"):
			return os.Chtimes(path, now.Add(-agedLock), now.Add(-agedLock))
		}
		return nil
	})
}

// files visits the regular files of the store.
func (w *world) files(visit func(path string, info fs.FileInfo) error) error {
	err := filepath.Walk(w.state(), func(path string, info fs.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		return visit(path, info)
	})
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// restore makes the store what the template is, times included.
func (w *world) restore(template string) error {
	if err := os.RemoveAll(w.state()); err != nil {
		return err
	}
	if template == "" {
		return nil
	}
	return copyTree(template, w.state())
}

func copyTree(from, to string) error {
	return filepath.Walk(from, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		if info.IsDir() {
			return os.Mkdir(target, info.Mode())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, text, info.Mode()); err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}
