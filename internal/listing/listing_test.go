package listing

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/proc"
)

var now = time.Unix(1_700_000_000, 0)

// record makes a record that was reported some seconds ago.
func record(harness, session string, status fsstore.Status, ago int64, change ...func(*fsstore.Record)) *fsstore.Record {
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: harness, Session: session, Instance: fsstore.Unresolved},
		Kind: fsstore.KindSession, Identity: fsstore.Unresolved, Status: status,
		TS: now.Unix() - ago, Arrival: 1, Source: "hook", Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
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
		r.Identity, r.Instance = fsstore.Identified, r.PID+":"+r.ProcessStart
	}
}

// start returns the start of a process that lives.
func start(t *testing.T, pid int) string {
	t.Helper()
	p, err := proc.Root.Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p.Start
}

// child starts a process and returns it with the start of its life.
func child(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, start(t, cmd.Process.Pid)
}

// makeStore writes records into a store of their own.
func makeStore(t *testing.T, records ...*fsstore.Record) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, r := range records {
		if _, err := store.Import(r, time.Second); err != nil {
			t.Fatalf("%s: %v", r.Session, err)
		}
	}
	return dir
}

func readStore(t *testing.T, dir string) Listing {
	t.Helper()
	l, err := Read(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func sessions(l Listing) string {
	var names []string
	for _, r := range l.Rows {
		names = append(names, r.Session)
	}
	return strings.Join(names, " ")
}

func TestMissingStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none", "state")
	for range 2 {
		if l, err := Read(dir, now); err != nil || len(l.Rows) != 0 || len(l.Unreadable) != 0 {
			t.Errorf("Read of a missing store = %+v, %v", l, err)
		}
	}
	if _, err := os.Lstat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Errorf("a reader has made the directory: %v", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // without sessions
		t.Fatal(err)
	}
	if l, err := Read(dir, now); err != nil || len(l.Rows) != 0 {
		t.Errorf("Read of an empty store = %+v, %v", l, err)
	}
}

func TestUnusableStore(t *testing.T) {
	dir := makeStore(t, record("claude", "s", fsstore.Idle, 1))
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	file := dir + "-file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, file} {
		if l, err := Read(path, now); err == nil || len(l.Rows) != 0 {
			t.Errorf("Read(%s) = %+v, %v; want an error", path, l, err)
		}
	}
}

func TestOrder(t *testing.T) {
	background := func(r *fsstore.Record) { r.BackgroundTasks = 1 }
	records := []*fsstore.Record{
		record("claude", "waits-longest", fsstore.Waiting, 900),
		record("claude", "waits-longer", fsstore.Waiting, 800),
		record("claude", "waits", fsstore.Waiting, 1),
		record("claude", "idle-longest", fsstore.Idle, 5000), // after all that wait
		record("claude", "idle-long", fsstore.Idle, 121),
		record("claude", "failed", fsstore.Error, 5),
		record("claude", "idle-just", fsstore.Idle, 119),
		record("claude", "idle-tasks", fsstore.Idle, 5000, background),
		record("claude", "runs", fsstore.Running, 1), // the last report first
		record("claude", "runs-silent", fsstore.Running, 700),
		record("claude", "same-a", fsstore.Started, 10),
		record("claude", "same-b", fsstore.Started, 10),
		record("codex", "same-b", fsstore.Started, 10),
		record("claude", "found", fsstore.Discovered, 1),
		record("claude", "over", fsstore.Ended, 1),
	}
	want := "waits-longest waits-longer waits idle-longest idle-long failed idle-just idle-tasks runs runs-silent same-a same-b same-b found over"
	for i := range 5 { // in whatever order they were written
		got := sessions(readStore(t, makeStore(t, records...)))
		if got != want {
			t.Fatalf("order\n%s, want\n%s", got, want)
		}
		slices.Reverse(records[i:])
	}
	rows := readStore(t, makeStore(t, records...)).Rows
	if a, b := rows[11].Harness, rows[12].Harness; a != "claude" || b != "codex" {
		t.Errorf("of one session id the order is %s, %s", a, b)
	}
}

func TestSummary(t *testing.T) {
	for _, test := range []struct {
		records []*fsstore.Record
		want    Summary
	}{
		{nil, Summary{}},
		{[]*fsstore.Record{
			record("claude", "a", fsstore.Running, 1),
			record("claude", "b", fsstore.Started, 1),
			record("claude", "c", fsstore.Idle, 1),
			record("claude", "d", fsstore.Idle, 121),
			record("claude", "e", fsstore.Waiting, 1),
			record("claude", "f", fsstore.Error, 1),
			record("claude", "g", fsstore.Ended, 1000),
			record("claude", "h", fsstore.Discovered, 1000),
		}, Summary{Total: 8, Active: 2, Idle: 2, NeedsAttention: 2}},
	} {
		got := Summarize(readStore(t, makeStore(t, test.records...)).Rows)
		if got != test.want {
			t.Errorf("summary of %d records = %+v, want %+v", len(test.records), got, test.want)
		}
	}
}

// All front ends call Read: the same store gives the same rows.
func TestSameRows(t *testing.T) {
	var records []*fsstore.Record
	for i := range int64(50) {
		status := fsstore.Statuses[i%int64(len(fsstore.Statuses))]
		records = append(records, record("claude", fmt.Sprint("s", i), status, i%7*40, in(1000+int(i), "1")))
	}
	dir := makeStore(t, records...)
	first := readStore(t, dir)
	if len(first.Rows) != 50 {
		t.Errorf("%d rows, want 50", len(first.Rows))
	}
	for range 3 {
		if again := readStore(t, dir); !reflect.DeepEqual(again, first) {
			t.Fatalf("rows differ:\n%+v\n%+v", again, first)
		}
	}
	for i := range first.Rows { // a row is the stored record and what Annotate says of it
		r := first.Rows[i]
		if want := fsstore.Annotate(&r.Record, now); !reflect.DeepEqual(*r, want) {
			t.Errorf("row %d is %+v, want %+v", i, *r, want)
		}
	}
}

// Reading changes nothing, makes nothing and takes no lock.
func TestReadOnly(t *testing.T) {
	dir := makeStore(t, record("claude", "a", fsstore.Running, 1), record("codex", "b", fsstore.Waiting, 1))
	before := tree(t, dir)
	readStore(t, dir)
	if after := tree(t, dir); after != before {
		t.Errorf("the store was\n%s, and after it was read is\n%s", before, after)
	}
}

func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUnreadable(t *testing.T) {
	dir := makeStore(t, record("claude", "good", fsstore.Running, 1))
	for _, name := range []string{"b.json", "a.json", "c.json"} {
		if err := os.WriteFile(filepath.Join(dir, "sessions", name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := readStore(t, dir)
	if got := sessions(l); got != "good" {
		t.Errorf("sessions %s, want good", got)
	}
	var names []string
	for _, u := range l.Unreadable {
		names = append(names, u.Name)
		if u.Err == nil {
			t.Errorf("%s is unreadable without a reason", u.Name)
		}
	}
	if got := fmt.Sprint(names); got != "[sessions/a.json sessions/b.json sessions/c.json]" {
		t.Errorf("unreadable %s, want them by name", got)
	}
}

// A session alone is shown whatever became of its process; of one that is in
// several processes only what lives.
func TestProcesses(t *testing.T) {
	cmd, childStart := child(t)
	self, other := in(os.Getpid(), start(t, os.Getpid())), in(cmd.Process.Pid, childStart)
	dead := in(os.Getpid(), "1")
	dir := makeStore(t,
		record("other", "alone", fsstore.Running, 1, dead),
		record("other", "moved", fsstore.Running, 1, dead),
		record("other", "moved", fsstore.Running, 2, self),
		record("other", "resumed", fsstore.Ended, 1, self),
		record("other", "resumed", fsstore.Running, 2, other),
		record("other", "twice", fsstore.Running, 1, self),
		record("other", "twice", fsstore.Running, 2, other),
		record("other", "gone", fsstore.Running, 1, dead),
		record("other", "gone", fsstore.Ended, 2, other),
	)
	show := func() string {
		var lines []string
		for _, r := range readStore(t, dir).Rows {
			line := r.Session + " " + string(r.Status)
			if r.Duplicate {
				line += " duplicate"
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	want := "alone running\ngone ended\ngone running\nmoved running\nresumed running\ntwice running duplicate\ntwice running duplicate"
	if got := show(); got != want {
		t.Errorf("while both live\n%s\nwant\n%s", got, want)
	}
	cmd.Process.Kill()
	cmd.Wait()
	want = "alone running\ngone ended\ngone running\nmoved running\nresumed ended\nresumed running\ntwice running"
	if got := show(); got != want {
		t.Errorf("after one has ended\n%s\nwant\n%s", got, want)
	}
}

// Processes are asked about sessions with several records, and no others: a
// listing of 10,000 reads no more than their files.
func TestProcessesAsked(t *testing.T) {
	var records []*fsstore.Record
	for i := range 100 {
		records = append(records, record("other", fmt.Sprint("s", i), fsstore.Running, 1, in(1000+i, "1")))
	}
	records = append(records, record("other", "s7", fsstore.Running, 1, in(99999, "1")), record("other", "s9", fsstore.Ended, 1, in(99999, "1")))
	host := liveness.NewProcesses(proc.Root)
	asked := map[string]int{}
	fsstore.Prefer(records, func(r *fsstore.Record) bool {
		asked[r.Session]++
		return host.Dead(r)
	})
	if got := fmt.Sprint(asked); got != "map[s7:2 s9:1]" {
		t.Errorf("asked about %s, want map[s7:2 s9:1]", got)
	}
}
