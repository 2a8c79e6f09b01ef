package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/internal/sha256"
	"tongs-agents/linux"
	"tongs-agents/proc"
)

// shoot gives a snapshot to the hook a second after the last event. $PID stands
// for this process.
func shoot(t testing.TB, text string) (string, error) {
	t.Helper()
	clock++
	return shootAt(t, clock, text)
}

// shootAt is shoot at a time of its own, by both clocks.
func shootAt(t testing.TB, at int64, text string) (string, error) {
	t.Helper()
	c, err := parseArgs([]string{"snapshot", "--agent", "opencode"})
	if err != nil {
		t.Fatal(err)
	}
	e := event{via: "hook", parent: unix.Getppid(), ts: at, boottime: at}
	text = strings.ReplaceAll(text, "$PID", strconv.Itoa(os.Getpid()))
	a, err := readSnapshot(c, jsonstream.NewReader(strings.NewReader(text).Read, make([]byte, 4096)), e)
	if err != nil {
		return "", err
	}
	return a.do()
}

// shot is shoot of a snapshot that nothing is wrong with.
func shot(t testing.TB, text string) {
	t.Helper()
	var drop dropped
	if _, err := shoot(t, text); err != nil && !errors.As(err, &drop) {
		t.Fatalf("%s: %v", text, err)
	}
}

// sessions returns the records of the store by their sessions.
func sessions(t *testing.T) map[string]*fsstore.Record {
	t.Helper()
	found := make(map[string]*fsstore.Record)
	for _, r := range allStored(t) {
		if found[r.Session] != nil {
			t.Fatalf("two records of %s", r.Session)
		}
		found[r.Session] = r
	}
	return found
}

// showSessions is show of all records, in the order of their sessions.
func showSessions(records map[string]*fsstore.Record) string {
	var lines []string
	for session, r := range records {
		lines = append(lines, session+" "+show(r))
	}
	sort.Strings(lines)
	return strings.Join(lines, "; ")
}

// openHere opens the store of the test.
func openHere(t *testing.T) *fsstore.Store {
	t.Helper()
	dir, err := fsstore.StateDir()
	if err != nil {
		t.Fatal(err)
	}
	s, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ownInstance is the instance of this process.
func ownInstance(t *testing.T) string {
	t.Helper()
	self, err := proc.Root.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return instanceOf(self)
}

// indexed returns the sessions that the index of an instance names.
func indexed(t *testing.T, instance string) string {
	t.Helper()
	held, err := openHere(t).HoldInstance("opencode", instance, lockWait)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if held.Stored == nil {
		return "none"
	}
	return strings.Join(held.Stored.Sessions, " ")
}

func TestSnapshot(t *testing.T) {
	noEnvironment(t)
	t.Setenv("TMUX", "/tmp/tmux-0/default,1,0")
	shot(t, `{"unknown":[{}],"titles":{"a":"My\n title","gone":"x"},"cwd":"/srv/other","blocking":null,
		"cwds":{"a":"/home/dana/src/ledger-api","gone":"/x"},"id":"$PID","cmdline":["bun","/x.js"],"status":{"a":"busy","b":"idle"},"pid":null}`)
	got := sessions(t)
	if text := showSessions(got); text != "a running: processing prompt; b idle" {
		t.Fatalf("got %s", text)
	}
	host := proc.Root.Host()
	r := got["a"]
	if r.Harness != "opencode" || r.Instance != ownInstance(t) || r.Instance != r.PID+":"+r.ProcessStart || r.Identity != fsstore.Identified ||
		r.Kind != fsstore.KindSession || r.TS != clock || r.Started != clock || r.Boottime != clock || r.Arrival != 1 || r.HasSequence ||
		r.Source != "plugin" || r.LastEvent != "opencode.snapshot" || r.Title != "My title" || r.Cwd != "/home/dana/src/ledger-api" ||
		r.Repo != "ledger-api" || r.BootID != host.BootID || r.PIDNamespace != host.PIDNamespace || r.MachineID != host.MachineID ||
		strings.Join(r.Resume, " ") != "opencode --session a" || r.Terminal != "tmux" || r.Mode == "" {
		t.Errorf("got %+v", r)
	}
	if r := got["b"]; r.Cwd != "/srv/other" || r.Title != "" {
		t.Errorf("b: got %+v", r)
	}
	held, err := openHere(t).HoldInstance("opencode", r.Instance, lockWait)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if i := held.Stored; i == nil || i.Harness != "opencode" || i.ID != r.Instance || i.PID != r.PID || i.ProcessStart != r.ProcessStart ||
		i.BootID != r.BootID || i.PIDNamespace != r.PIDNamespace || i.MachineID != r.MachineID || i.Boottime != clock ||
		strings.Join(i.Sessions, " ") != "a b" {
		t.Errorf("index: got %+v", i)
	}
}

// Without a cwd it is that of the process.
func TestSnapshotCwdOfProcess(t *testing.T) {
	noEnvironment(t)
	shot(t, `{"id":"x","pid":$PID,"status":{"a":"idle"}}`)
	want, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := sessions(t)["a"].Cwd; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Lines are a snapshot without id, and the records after it.
func TestSnapshotStories(t *testing.T) {
	tests := []struct {
		name  string
		story []string
	}{
		{"a turn", []string{
			`"status":{"a":"idle"} => a idle`,
			`"status":{"a":"busy"} => a running: processing prompt`,
			`"status":{"a":"retry"} => a running: retrying`,
			`"status":{"a":"busy"} => a running: processing prompt`,
			`"status":{"a":"busy"},"blocking":["a"] => a waiting(): waiting for user input`,
			`"status":{"a":"busy"},"blocking":[] => a running: processing prompt`,
			`"status":{"a":"idle"} => a idle`,
			`"status":{} => a ended: session closed`,
		}},
		{"a failed turn", []string{
			`"status":{"a":"busy"} => a running: processing prompt`,
			`"status":{"a":"busy"},"errors":["a"] => a running: processing prompt`,
			`"status":{"a":"idle"},"errors":["a"] => a error: turn failed (API error)`,
			`"status":{"a":"idle"} => a error: turn failed (API error)`,
			`"status":{"a":"idle"},"errors":[] => a error: turn failed (API error)`,
			`"status":{"a":"busy"},"errors":["a"] => a running: processing prompt`,
			`"status":{"a":"idle"},"errors":[] => a idle`,
			`"status":{"a":"idle"},"errors":["a"] => a error: turn failed (API error)`,
			`"status":{"a":"retry"} => a running: retrying`,
			`"status":{"a":"idle"},"errors":["a"] => a error: turn failed (API error)`,
			`"status":{"a":"idle"},"errors":["a"],"blocking":["a"] => a waiting(): waiting for user input`,
			`"status":{"a":"idle"} => a idle`,
		}},
		{"several", []string{
			`"status":{"a":"idle","b":"busy"} => a idle; b running: processing prompt`,
			`"status":{"b":"busy","c":"idle"},"blocking":["b","b"] => a ended: session closed; b waiting(): waiting for user input; c idle`,
			`"status":{"a":"busy"} => a running: processing prompt; b ended: session closed; c ended: session closed`,
		}},
		{"named outside of status", []string{
			`"status":{},"blocking":["a"],"errors":["b"],"titles":{"c":"x"},"cwds":{"d":"/x"} => a waiting(): waiting for user input; b error: turn failed (API error)`,
			`"status":{},"blocking":[],"titles":{"a":"x","b":"x"} => a ended: session closed; b ended: session closed`,
		}},
		{"the last of equal keys", []string{`"status":{"a":"idle","a":"busy"} => a running: processing prompt`}},
		{"odd ids", []string{`"status":{"a/b":"idle","é\"\\\n":"busy"} => a/b idle; é"\` + "\n" + ` running: processing prompt`}},
		{"none", []string{`"status":{} => `, `"status":{},"titles":{"a":"x"} => `}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			noEnvironment(t)
			for _, line := range tt.story {
				text, want, _ := strings.Cut(line, " => ")
				shot(t, `{"id":"$PID",`+text+`}`)
				if got := showSessions(sessions(t)); got != want {
					t.Errorf("%s: got %s; want %s", text, got, want)
				}
			}
		})
	}
}

// refusals are snapshots, each of which changes nothing, and the key that is
// the reason.
var refusals = []struct{ name, text, key string }{
	{"no id", `{"status":{"n":"busy"}}`, "id"},
	{"id null", `{"id":null,"status":{"n":"busy"}}`, "id"},
	{"id empty", `{"id":"","status":{"n":"busy"}}`, "id"},
	{"id unresolved", `{"id":"unresolved","status":{"n":"busy"}}`, "id"},
	{"id list", `{"id":[],"status":{"n":"busy"}}`, "id"},
	{"id fraction", `{"id":1.5,"status":{"n":"busy"}}`, "id"},
	{"id negative", `{"id":-1,"status":{"n":"busy"}}`, "id"},
	{"id too long", `{"id":"` + strings.Repeat("e", fsstore.MaxInstance+1) + `","status":{"n":"busy"}}`, "id"},
	{"id with NUL", `{"id":"a\u0000","status":{"n":"busy"}}`, "id"},
	{"id of no process", fmt.Sprintf(`{"id":"%d","status":{"n":"busy"}}`, noProcess), "id"},
	{"id beyond any pid", `{"id":"99999999999999999999","status":{"n":"busy"}}`, "id"},
	{"pid of no process", fmt.Sprintf(`{"id":"$PID","pid":%d,"status":{"n":"busy"}}`, noProcess), "pid"},
	{"pid zero", `{"id":"$PID","pid":0,"status":{"n":"busy"}}`, "pid"},
	{"pid object", `{"id":"$PID","pid":{},"status":{"n":"busy"}}`, "pid"},
	{"pid text", `{"id":"$PID","pid":"self","status":{"n":"busy"}}`, "pid"},
	{"no status", `{"id":"$PID"}`, "status"},
	{"status null", `{"id":"$PID","status":null}`, "status"},
	{"status list", `{"id":"$PID","status":["n"]}`, "status"},
	{"status text", `{"id":"$PID","status":"busy"}`, "status"},
	{"status of a session null", `{"id":"$PID","status":{"n":"busy","a":null}}`, "status"},
	{"status of a session object", `{"id":"$PID","status":{"n":{"type":"busy"}}}`, "status"},
	{"status unknown", `{"id":"$PID","status":{"n":"busy","a":"running"}}`, "status"},
	{"status empty", `{"id":"$PID","status":{"n":""}}`, "status"},
	{"status with NUL", `{"id":"$PID","status":{"n":"bu\u0000sy"}}`, "status"},
	{"status twice", `{"id":"$PID","status":{"n":"busy"},"status":{}}`, "status"},
	{"session empty", `{"id":"$PID","status":{"n":"busy","":"busy"}}`, "status"},
	{"session too long", `{"id":"$PID","status":{"n":"busy","` + strings.Repeat("s", fsstore.MaxSession+1) + `":"busy"}}`, "status"},
	{"session with NUL", `{"id":"$PID","status":{"n":"busy","a\u0000":"busy"}}`, "status"},
	{"session with a lone surrogate", `{"id":"$PID","status":{"n":"busy","a\ud800":"busy"}}`, "status"},
	{"session of no UTF-8", "{\"id\":\"$PID\",\"status\":{\"n\":\"busy\",\"a\xff\":\"busy\"}}", "status"},
	{"blocking text", `{"id":"$PID","status":{"n":"busy"},"blocking":"n"}`, "blocking"},
	{"blocking object", `{"id":"$PID","status":{"n":"busy"},"blocking":{"n":true}}`, "blocking"},
	{"blocking of numbers", `{"id":"$PID","status":{"n":"busy"},"blocking":["n",1]}`, "blocking"},
	{"blocking of null", `{"id":"$PID","status":{"n":"busy"},"blocking":[null]}`, "blocking"},
	{"blocking of an empty session", `{"id":"$PID","status":{"n":"busy"},"blocking":[""]}`, "blocking"},
	{"blocking with a lone surrogate", `{"id":"$PID","status":{"n":"busy"},"blocking":["\udc00"]}`, "blocking"},
	{"errors false", `{"id":"$PID","status":{"n":"busy"},"errors":false}`, "errors"},
	{"errors of lists", `{"id":"$PID","status":{"n":"busy"},"errors":[["n"]]}`, "errors"},
	{"errors too long", `{"id":"$PID","status":{"n":"busy"},"errors":["` + strings.Repeat("s", fsstore.MaxSession+1) + `"]}`, "errors"},
	{"titles list", `{"id":"$PID","status":{"n":"busy"},"titles":[]}`, "titles"},
	{"title number", `{"id":"$PID","status":{"n":"busy"},"titles":{"n":1}}`, "titles"},
	{"title of an empty session", `{"id":"$PID","status":{"n":"busy"},"titles":{"":"x"}}`, "titles"},
	{"cwds text", `{"id":"$PID","status":{"n":"busy"},"cwds":"/x"}`, "cwds"},
	{"cwd of a session true", `{"id":"$PID","status":{"n":"busy"},"cwds":{"n":true}}`, "cwds"},
	{"cwd of a session too long", `{"id":"$PID","status":{"n":"busy"},"cwds":{"n":"` + strings.Repeat("/", fsstore.MaxCwd+1) + `"}}`, "cwds"},
	{"cwd number", `{"id":"$PID","status":{"n":"busy"},"cwd":1}`, "cwd"},
	{"cwd with NUL", `{"id":"$PID","status":{"n":"busy"},"cwd":"/\u0000"}`, "cwd"},
	{"cmdline text", `{"id":"$PID","status":{"n":"busy"},"cmdline":"opencode"}`, "cmdline"},
	{"cmdline of numbers", `{"id":"$PID","status":{"n":"busy"},"cmdline":["opencode",1]}`, "cmdline"},
	{"too many sessions", `{"id":"$PID","status":{` + manySessions(140, fsstore.MaxSession, `":"busy"`) + `}}`, "status"},
	{"too many sessions that block", `{"id":"$PID","status":{"n":"busy"},"blocking":[` + manySessions(140, fsstore.MaxSession, `"`) + `]}`, "status"},
	{"too much text", `{"id":"$PID","status":{"n":"busy"},"titles":{` + manySessions(9000, 4, `":"x"`) + `}}`, "status"},
	{"list", `[]`, "payload"},
	{"text", `"status"`, "payload"},
	{"half", `{"id":"$PID","status":{"n":"busy"}`, ""},
	{"nothing", ``, ""},
}

// manySessions is a list of sessions with ids of a length, each with what
// follows it.
func manySessions(n, length int, rest string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"%0*d%s`, length, i, rest)
	}
	return strings.Join(parts, ",")
}

// tree returns the files below a directory with their contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %q\n", path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSnapshotRefused(t *testing.T) {
	noEnvironment(t)
	dir, _ := fsstore.StateDir()
	shot(t, `{"id":"$PID","status":{"a":"busy"}}`)
	before := tree(t, dir)
	for _, tt := range refusals {
		_, err := shoot(t, tt.text)
		if err == nil || tt.key != "" && !strings.HasPrefix(err.Error(), "snapshot: "+tt.key+" ") {
			t.Errorf("%s: got %v, want an error about %s", tt.name, err, tt.key)
		}
		if tree(t, dir) != before {
			t.Fatalf("%s: the store has changed: %s", tt.name, showSessions(sessions(t)))
		}
	}
}

// As many sessions as an index holds are taken.
func TestSnapshotOfManySessions(t *testing.T) {
	noEnvironment(t)
	const count = 120
	shot(t, `{"id":"$PID","status":{`+manySessions(count, fsstore.MaxSession, `":"busy"`)+`}}`)
	shot(t, `{"id":"$PID","status":{}}`)
	got := sessions(t)
	for session, r := range got {
		if r.Status != fsstore.Ended {
			t.Errorf("%.9s…: got %s", session, show(r))
		}
	}
	if len(got) != count {
		t.Errorf("got %d records", len(got))
	}
}

// What is known is not written again: the age is that of the state.
func TestSnapshotUnchanged(t *testing.T) {
	noEnvironment(t)
	const text = `{"id":"$PID","status":{"a":"busy","b":"idle","c":"idle"},"errors":["c"],"titles":{"a":"one"},"cwds":{"a":"/srv/a"}`
	shot(t, text+`}`)
	before := sessions(t)
	for range 3 {
		if _, err := shoot(t, text+`}`); err != nothingChanges {
			t.Errorf("got %v", err)
		}
	}
	for session, r := range sessions(t) {
		if b := before[session]; r.Arrival != 1 || r.TS != b.TS || r.Boottime != b.Boottime {
			t.Errorf("%s: got arrival %d, ts %d, before %d", session, r.Arrival, r.TS, b.TS)
		}
	}
	// One session changes.
	shot(t, `{"id":"$PID","status":{"a":"busy","b":"busy","c":"idle"},"titles":{"a":"one"},"cwds":{"a":"/srv/a"}}`)
	for session, want := range map[string]int64{"a": 1, "b": 2, "c": 1} {
		if r := sessions(t)[session]; r.Arrival != want {
			t.Errorf("%s: got arrival %d, want %d", session, r.Arrival, want)
		}
	}
}

// Another title or directory is no activity.
func TestSnapshotTitle(t *testing.T) {
	noEnvironment(t)
	shot(t, `{"id":"$PID","status":{"a":"busy"},"titles":{"a":"one"},"cwd":"/srv/a"}`)
	before := sessions(t)["a"]
	shot(t, `{"id":"$PID","status":{"a":"busy"},"titles":{"a":"two"},"cwd":"/srv/b"}`)
	r := sessions(t)["a"]
	if r.Title != "two" || r.Cwd != "/srv/b" || r.Repo != "b" || r.TS != before.TS || r.Boottime != before.Boottime ||
		r.Arrival != 2 || len(r.Recent) != 1 || r.Status != fsstore.Running {
		t.Errorf("got %+v", r)
	}
	shot(t, `{"id":"$PID","status":{"a":"busy"},"titles":{"a":null}}`) // forgotten: they stay
	if r := sessions(t)["a"]; r.Title != "two" || r.Cwd != "/srv/b" || r.Arrival != 2 {
		t.Errorf("forgotten: got %+v", r)
	}
}

func TestSnapshotPrivate(t *testing.T) {
	noEnvironment(t)
	t.Setenv("TONGS_AGENTS_PRIVATE", "1")
	shot(t, `{"id":"$PID","status":{"a":"busy"},"titles":{"a":"secret"}}`)
	if r := sessions(t)["a"]; r.Title != "" || r.Status != fsstore.Running {
		t.Errorf("got %+v", r)
	}
}

func TestSnapshotRevival(t *testing.T) {
	noEnvironment(t)
	shot(t, `{"id":"$PID","status":{"a":"busy"}}`)
	first := clock
	shot(t, `{"id":"$PID","status":{}}`)
	if r := sessions(t)["a"]; r.Started != first {
		t.Errorf("ended: got started %d, want %d", r.Started, first)
	}
	shot(t, `{"id":"$PID","status":{"a":"idle"}}`)
	if r := sessions(t)["a"]; r.Status != fsstore.Idle || r.Started != clock || r.TS != clock {
		t.Errorf("got %s, started %d, want %d", show(r), r.Started, clock)
	}
	shot(t, `{"id":"$PID","status":{}}`)
	if got := showSessions(sessions(t)); got != "a ended: session closed" {
		t.Errorf("got %s", got)
	}
}

// An older snapshot changes nothing, even after one that changed nothing.
func TestSnapshotOrder(t *testing.T) {
	noEnvironment(t)
	clock += 10
	at := clock
	const idle, busy = `{"id":"$PID","status":{"a":"idle"}}`, `{"id":"$PID","status":{"a":"busy","b":"busy"}}`
	shootAt(t, at-5, idle)
	shootAt(t, at, idle)
	for _, late := range []string{busy, `{"id":"$PID","status":{}}`} {
		if _, err := shootAt(t, at-1, late); err == nil {
			t.Error("an older snapshot was taken")
		}
	}
	if got := showSessions(sessions(t)); got != "a idle" {
		t.Errorf("got %s", got)
	}
	shootAt(t, at, busy) // of two at once the later arrival counts
	if got := showSessions(sessions(t)); got != "a running: processing prompt; b running: processing prompt" {
		t.Errorf("got %s", got)
	}
}

// Nothing orders events of two boots.
func TestSnapshotOfAnotherBoot(t *testing.T) {
	noEnvironment(t)
	shot(t, `{"id":"plugin","status":{"a":"busy","b":"busy"}}`)
	store := openHere(t)
	held, err := store.HoldInstance("opencode", "plugin", lockWait)
	if err != nil {
		t.Fatal(err)
	}
	old := *held.Stored
	old.BootID, old.Boottime = "an earlier boot", clock+1e6
	if err := held.Write(&old); err != nil {
		t.Fatal(err)
	}
	held.Release()
	for _, session := range old.Sessions {
		key := fsstore.Key{Harness: "opencode", Session: session, Instance: "plugin"}
		if _, err := store.Update(key, fsstore.Rules{Wait: lockWait}, func(r *fsstore.Record) (*fsstore.Record, error) {
			r.BootID, r.Boottime = old.BootID, old.Boottime
			return r, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	shot(t, `{"id":"plugin","status":{"a":"busy"}}`)
	got := sessions(t)
	if text := showSessions(got); text != "a running: processing prompt; b ended: session closed" {
		t.Errorf("got %s", text)
	}
	if r := got["a"]; r.BootID != thisBoot || r.Boottime != clock || r.TS != clock {
		t.Errorf("got boot %s, boottime %d, ts %d", r.BootID, r.Boottime, r.TS)
	}
}

// An emitter that names no process is identified by its id. Its reports are the
// only sign of its life.
func TestSnapshotWithoutProcess(t *testing.T) {
	noEnvironment(t)
	const text = `{"id":"server-1","status":{"a":"idle"},"cmdline":["bun","/x/opencode.js","serve","--port","0"]}`
	shot(t, text)
	r := sessions(t)["a"]
	if r.Instance != "server-1" || r.PID != "" || r.ProcessStart != "" || r.Identity != fsstore.Identified || r.Mode != fsstore.Daemon || r.BootID != thisBoot {
		t.Errorf("got %+v", r)
	}
	first := r.TS
	clock += 200
	shot(t, text)
	if r := sessions(t)["a"]; r.TS != first {
		t.Errorf("after 200 s: got ts %d, want %d", r.TS, first)
	}
	clock += 200
	shot(t, text)
	if r := sessions(t)["a"]; r.TS != clock || r.Arrival != 2 || r.Status != fsstore.Idle {
		t.Errorf("after 400 s: got ts %d, want %d", r.TS, clock)
	}
	shot(t, `{"id":"server-1","status":{"b":"idle"}}`)
	if got := showSessions(sessions(t)); got != "a ended: session closed; b idle" {
		t.Errorf("got %s", got)
	}
	if r := sessions(t)["b"]; r.Mode != "" {
		t.Errorf("without a command line: got mode %q", r.Mode)
	}
}

// A session may go from one instance to another.
func TestSnapshotMove(t *testing.T) {
	noEnvironment(t)
	shot(t, `{"id":"one","status":{"a":"idle"}}`)
	shot(t, `{"id":"two","status":{"a":"busy"}}`)
	shot(t, `{"id":"one","status":{}}`)
	records, _, err := openHere(t).All()
	if err != nil || len(records) != 2 {
		t.Fatal(records, err)
	}
	for _, r := range records {
		if want := map[string]fsstore.Status{"one": fsstore.Ended, "two": fsstore.Running}[r.Instance]; r.Status != want {
			t.Errorf("%s: got %s, want %s", r.Instance, r.Status, want)
		}
	}
}

// A notice is an event like others: what is older does not undo it.
func TestSnapshotBesideNotice(t *testing.T) {
	noEnvironment(t)
	shot(t, `{"id":"$PID","status":{"a":"idle","b":"busy"}}`)
	at := clock
	notice := func(session string, status fsstore.Status, at int64) {
		key := fsstore.Key{Harness: "opencode", Session: session, Instance: ownInstance(t)}
		_, err := openHere(t).Update(key, fsstore.Rules{Wait: lockWait}, func(r *fsstore.Record) (*fsstore.Record, error) {
			r.Status, r.Detail, r.Boottime, r.TS = status, "said", at, at
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	notice("a", fsstore.Idle, at+10)
	notice("b", fsstore.Waiting, at+20)
	for _, step := range []struct {
		at         int64
		text, want string
	}{
		{at + 15, `"status":{"a":"idle","b":"busy"}`, "a idle: said; b waiting: said"},
		{at + 16, `"status":{"a":"busy","b":"busy"}`, "a running: processing prompt; b waiting: said"},
		{at + 25, `"status":{"a":"busy","b":"busy"}`, "a running: processing prompt; b running: processing prompt"},
	} {
		shootAt(t, step.at, `{"id":"$PID",`+step.text+`}`)
		if got := showSessions(sessions(t)); got != step.want {
			t.Errorf("%s: got %s; want %s", step.text, got, step.want)
		}
	}
	clock = at + 30
}

// The end of a session is not forgotten while its record is newer than the
// snapshot, or cannot be had.
func TestSnapshotEndComesLater(t *testing.T) {
	noEnvironment(t)
	shot(t, `{"id":"$PID","status":{"a":"busy","b":"busy","c":"busy"}}`)
	store := openHere(t)
	key := fsstore.Key{Harness: "opencode", Session: "a", Instance: ownInstance(t)}
	at := clock
	if _, err := store.Update(key, fsstore.Rules{Wait: lockWait}, func(r *fsstore.Record) (*fsstore.Record, error) {
		r.Boottime = at + 10
		return r, nil
	}); err != nil {
		t.Fatal(err)
	}
	shootAt(t, at+5, `{"id":"$PID","status":{"b":"busy"}}`)
	if got := showSessions(sessions(t)); got != "a running: processing prompt; b running: processing prompt; c ended: session closed" {
		t.Errorf("got %s", got)
	}
	if got := indexed(t, key.Instance); got != "b a" {
		t.Errorf("index: got %s", got)
	}
	clock = at + 20
	shot(t, `{"id":"$PID","status":{}}`)
	if got := showSessions(sessions(t)); got != "a ended: session closed; b ended: session closed; c ended: session closed" {
		t.Errorf("got %s", got)
	}
	if got := indexed(t, key.Instance); got != "" {
		t.Errorf("index: got %s", got)
	}
}

// A session whose record is locked keeps none of the others back, and all of
// them wait for no more than 2 s.
func TestSnapshotLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for 2 s")
	}
	noEnvironment(t)
	shot(t, `{"id":"$PID","status":{"a":"busy","b":"busy","c":"busy","d":"idle"}}`)
	dir, _ := fsstore.StateDir()
	for _, session := range []string{"a", "b"} {
		name := filepath.Join(dir, "sessions", lockOf(session))
		fd, err := linux.Openat(linux.CWD, name, unix.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := fd.Flock(unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		defer fd.Close()
	}
	_, err := shoot(t, `{"id":"$PID","status":{"b":"idle","d":"busy","e":"idle"}}`)
	if !errors.Is(err, fsstore.ErrLockTimeout) {
		t.Errorf("got %v", err)
	}
	if got := showSessions(sessions(t)); got != "a running: processing prompt; b running: processing prompt; c ended: session closed; d running: processing prompt; e idle" {
		t.Errorf("got %s", got)
	}
	if got := indexed(t, ownInstance(t)); got != "b d e a" {
		t.Errorf("index: got %s", got)
	}
}

// lockOf returns the name of the lock of a session.
func lockOf(session string) string {
	return ".fleet-v1-session-" + sha256.Hex([]byte(`["opencode","`+session+`"]`)) + ".lock"
}
