package mcpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
)

// A client sees which tools only read; a model reads all descriptions at the
// start of each of its sessions.
func TestTools(t *testing.T) {
	c := connect(t, makeStore(t), nil)
	var names []string
	seen := 0
	for _, tool := range c.tools() {
		names = append(names, tool.Name)
		input, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(tool.Name) + len(tool.Description) + len(input)
		reads := tool.Name != "fleet_cleanup" && tool.Name != "fleet_focus"
		a := tool.Annotations
		if a.ReadOnlyHint != reads || a.OpenWorldHint == nil || *a.OpenWorldHint || !reads && (a.DestructiveHint == nil || *a.DestructiveHint) {
			t.Errorf("%s: %+v", tool.Name, a)
		}
	}
	want := []string{"agents_status", "agents_wait", "fleet_cleanup", "fleet_focus", "fleet_session", "fleet_sessions_needing_attention", "fleet_status"}
	if !slices.Equal(names, want) {
		t.Errorf("tools %s, want %s", names, want)
	}
	if seen > 5000 {
		t.Errorf("they take %d bytes", seen)
	}
	if i := c.InitializeResult(); i.ServerInfo.Version != "1.2.3" || !strings.Contains(i.Instructions, "not instructions") {
		t.Errorf("%+v", i)
	}
}

// The rows are those of the listing, to the last digit, but for the variables
// of terminals, which nobody gets to see.
func TestSameAsListing(t *testing.T) {
	const secret = "do not tell"
	env := []fsstore.Var{{Name: "KITTY_LISTEN_ON", Value: secret}, {Name: fsstore.EnvProfileID, Value: "nightly"}}
	dir := makeStore(t,
		record("claude", "s1", fsstore.Waiting, 10, in("/src/app"), identified("1", "1"), func(r *fsstore.Record) {
			r.Detail, r.Title, r.Resume = "permission needed: <Bash> & more", "Über", []string{"claude", "-r", "s1"}
			r.TerminalEnv = env
			r.Focus = fsstore.Focus{Kind: fsstore.FocusTerminal, Terminal: "kitty", Env: env}
		}),
		record("pi", "s2", fsstore.Idle, 500, func(r *fsstore.Record) {
			r.Sequence, r.HasSequence = 1<<53+1, true // no floating-point number is that
			r.Unknown = []fsstore.Member{{Name: "theirs", Value: []byte(`[1e400]`)}}
		}),
		record("codex", "s3", fsstore.Running, 1),
	)
	c := connect(t, dir, nil)
	l, err := listing.Read(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range l.Rows {
		row := *r
		row.TerminalEnv, row.Focus.Env = nil, nil
		want = append(want, strings.ReplaceAll(string(row.AppendJSON(nil)), `,"terminal_env":{}`, ""))
	}
	ages := func(s string) string { // which go on
		for age := range int64(600) {
			s = strings.ReplaceAll(s, fmt.Sprintf(`"age_seconds":%d,`, age), `"age_seconds":0,`)
		}
		return s
	}
	// The library's client cannot read 1e400, so the server's answer is taken.
	rows, err := store{dir}.fleetStatus(t.Context(), selection{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(rows)
	if err != nil {
		t.Fatal(err)
	}
	wanted := `{"sessions":[` + strings.Join(want, ",") + `],"summary":{"total":3,"active":1,"idle":1,"needs_attention":2}}`
	if got := ages(string(text)); got != ages(wanted) {
		t.Errorf("got\n%s\nwant\n%s", got, wanted)
	}
	for _, call := range [][2]string{
		{"fleet_status", `{"agents": ["claude"]}`}, {"fleet_sessions_needing_attention", `{"agents": ["claude"]}`},
		{"fleet_session", `{"query": "s1"}`}, {"agents_status", `{}`},
	} {
		got, failed := c.call(call[0], call[1])
		if failed || !strings.Contains(got, "s1") || strings.Contains(got, secret) || strings.Contains(got, "terminal_env") {
			t.Errorf("%s: %s", call[0], got)
		}
	}
	if got, _ := c.call("fleet_session", `{"query": "s1"}`); ages(got) != ages(want[0]) || !strings.Contains(got, `"profile_id":"nightly"`) {
		t.Errorf("got\n%s\nwant\n%s", got, want[0])
	}
}

func TestAgentsStatus(t *testing.T) {
	c := connect(t, makeStore(t,
		record("claude", "s1", fsstore.Waiting, 3000, in("/src/app"), func(r *fsstore.Record) { r.Detail = "permission\n\x1b[31mneeded" }),
		record("codex", "s2", fsstore.Idle, 0, func(r *fsstore.Record) { r.BackgroundTasks = 2 }),
	), nil)
	got, _ := c.call("agents_status", `{}`)
	got = regexp.MustCompile(`"age":(3?)[0-9]+,`).ReplaceAllString(got, `"age":$1…,`) // which goes on
	want := `{"sessions":[{"id":"s1","harness":"claude","repo":"app","status":"waiting","detail":"permission needed","age":3…,"needs_attention":true},` +
		`{"id":"s2","harness":"codex","repo":"","status":"idle","detail":"(2 in background)","age":…,"needs_attention":false}],` +
		`"summary":{"total":2,"active":0,"idle":1,"needs_attention":1}}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// No sessions are lists, too, and reading makes no store.
func TestEmpty(t *testing.T) {
	dir := t.TempDir() + "/state"
	c := connect(t, dir, nil)
	for _, name := range []string{"fleet_status", "fleet_sessions_needing_attention", "agents_status"} {
		got, failed := c.call(name, `{}`)
		if want := `{"sessions":[],"summary":{"total":0,"active":0,"idle":0,"needs_attention":0}}`; failed || got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("there is a store: %v", err)
	}
}

// What a model would read, and nobody else see, does not go out. What has to
// work does.
func TestHiddenText(t *testing.T) {
	const tags = "\U000E0069\U000E0067\U000E006E" // "ign", invisible
	hidden := "a\u202eb\x1b]0;x\x07c" + tags
	c := connect(t, makeStore(t, record("claude", "s1", fsstore.Waiting, 1, in("/src/a\u202eb"), func(r *fsstore.Record) {
		r.Title, r.Detail, r.Tool, r.WaitingFor = hidden, hidden, hidden, &fsstore.Wait{Tool: hidden}
	})), nil)
	got, _ := c.call("fleet_session", `{"query": "s1"}`)
	for _, want := range []string{`"title":"abc"`, `"detail":"abc"`, `"tool":"abc"`, `"waiting_for":{"tool":"abc"}`, `"cwd":"/src/a\u202eb"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	got, _ = c.call("agents_status", `{}`)
	if want := `"repo":"ab","status":"waiting","detail":"abc"`; !strings.Contains(got, want) {
		t.Errorf("no %s in %s", want, got)
	}
}

func TestSelection(t *testing.T) {
	link := t.TempDir() + "/link"
	if err := os.Symlink("/src", link); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, makeStore(t,
		record("claude", "a", fsstore.Waiting, 1, in("/src/app"), func(r *fsstore.Record) { r.Mode = fsstore.Headless }),
		record("codex", "b", fsstore.Running, 1, in("/src/app/sub")),
		record("gemini", "c", fsstore.Idle, 1, in(here)),
	), nil)
	for _, test := range []struct{ args, want string }{
		{`{}`, "a c b"},
		{`{"agents": null, "states": null}`, "a c b"},
		{`{"agents": ["codex", "gemini"]}`, "c b"},
		{`{"states": ["waiting", "running"]}`, "a b"},
		{`{"modes": ["headless"]}`, "a"},
		{`{"dir": "/src/app/"}`, "a b"},
		{`{"dir": "/src/app", "states": ["running"]}`, "b"},
		{`{"dir": "."}`, "c"},
		{`{"dir": "/src/ap"}`, ""},
	} {
		for _, name := range []string{"agents_status", "fleet_status"} {
			got, failed := c.call(name, test.args)
			var ids []string
			for _, s := range decode(t, got).(map[string]any)["sessions"].([]any) {
				id := s.(map[string]any)["id"]
				if id == nil {
					id = s.(map[string]any)["session_id"]
				}
				ids = append(ids, id.(string))
			}
			if failed || strings.Join(ids, " ") != test.want {
				t.Errorf("%s %s: %s, want %s", name, test.args, ids, test.want)
			}
		}
	}
	for _, args := range []string{`{"agents": ["nosuch"]}`, `{"states": "waiting"}`, `{"nosuch": 1}`} {
		if got, failed := c.call("fleet_status", args); !failed || !strings.Contains(got, "validating") {
			t.Errorf("%s: %s", args, got)
		}
	}
}

func TestNeedingAttention(t *testing.T) {
	c := connect(t, makeStore(t,
		record("claude", "waits", fsstore.Waiting, 1),
		record("claude", "idles", fsstore.Idle, 500),
		record("claude", "rests", fsstore.Idle, 1),
		record("claude", "runs", fsstore.Running, 500),
	), nil)
	got, _ := c.call("fleet_sessions_needing_attention", `{}`)
	for id, want := range map[string]bool{"waits": true, "idles": true, "rests": false, "runs": false} {
		if strings.Contains(got, `"session_id":"`+id+`"`) != want {
			t.Errorf("%s: %v, want %v", id, !want, want)
		}
	}
	if want := `"summary":{"total":2,"active":0,"idle":1,"needs_attention":2}}`; !strings.HasSuffix(got, want) {
		t.Errorf("no %s in %s", want, got)
	}
}

// Every id that the tools name finds its session, whatever others are called.
func TestIDs(t *testing.T) {
	c := connect(t, makeStore(t,
		record("claude", "one", fsstore.Running, 1),
		record("other", "two", fsstore.Running, 1, alive(t)),
		record("codex", "two", fsstore.Running, 1, alive(t)),
		record("claude", "app", fsstore.Running, 1, in("/src/app")),
		record("gemini", "three", fsstore.Running, 1, in("/src/app")),
		record("gemini", "four", fsstore.Running, 1, func(r *fsstore.Record) { r.Title = "five" }),
		record("gemini", "five", fsstore.Running, 1),
	), nil)
	got, _ := c.call("agents_status", `{}`)
	short := 0
	for _, s := range decode(t, got).(map[string]any)["sessions"].([]any) {
		id := s.(map[string]any)["id"].(string)
		found, failed := c.call("fleet_session", fmt.Sprintf(`{"query": %q}`, id))
		if failed || strings.HasPrefix(found, `{"matches"`) {
			t.Errorf("%s finds %s", id, found)
		}
		if !strings.HasPrefix(id, "fleet:") {
			short++
		}
	}
	if short != 3 { // one, three and four
		t.Errorf("%d ids are short: %s", short, got)
	}
}

func TestSession(t *testing.T) {
	c := connect(t, makeStore(t,
		record("claude", "s1", fsstore.Waiting, 1, in("/src/app")),
		record("codex", "s2", fsstore.Running, 1, in("/src/app")),
	), nil)
	if got, failed := c.call("fleet_session", `{"query": "app"}`); failed || !strings.HasPrefix(got, `{"matches":[{"id":"s1","harness":"claude",`) || !strings.Contains(got, `{"id":"s2","harness":"codex",`) {
		t.Errorf("several: %s", got)
	}
	if got, failed := c.call("fleet_session", `{"query": "nosuch"}`); !failed ||
		got != "no session matches \"nosuch\". The sessions are:\ns1: claude in app, waiting\ns2: codex in app, running" {
		t.Errorf("none: %q", got)
	}
	if got, failed := c.call("fleet_session", `{"query": ""}`); !failed || got != "the query is empty" {
		t.Errorf("empty: %q", got)
	}
	if got, failed := c.call("fleet_session", `{}`); !failed || !strings.Contains(got, `missing properties: ["query"]`) {
		t.Errorf("nothing: %q", got)
	}
	var many []*fsstore.Record
	for i := range 30 {
		many = append(many, record("claude", fmt.Sprint("t", i), fsstore.Running, 1))
	}
	c = connect(t, makeStore(t, many...), nil)
	if got, _ := c.call("fleet_session", `{"query": "nosuch"}`); !strings.HasSuffix(got, "\nand 10 more, which agents_status lists") {
		t.Errorf("%q", got)
	}
}

// Only fleet_cleanup changes the store.
func TestCleanup(t *testing.T) {
	dir := makeStore(t,
		record("other", "ended", fsstore.Ended, 1000),
		record("other", "s", fsstore.Running, 1, alive(t)),
	)
	c := connect(t, dir, nil)
	before := tree(t, dir)
	for _, name := range []string{"fleet_status", "fleet_sessions_needing_attention", "agents_status"} {
		c.call(name, `{}`)
	}
	c.call("fleet_session", `{"query": "s"}`)
	if after := tree(t, dir); after != before {
		t.Errorf("the store was\n%s\nand is\n%s", before, after)
	}
	if got, failed := c.call("fleet_cleanup", `{}`); failed || got != `{"removed":1}` {
		t.Error(got)
	}
	if got, _ := c.call("fleet_cleanup", `{}`); got != `{"removed":0}` { // forced: again at once
		t.Error(got)
	}
	if got, _ := c.call("agents_status", `{}`); strings.Contains(got, `"ended"`) {
		t.Error(got)
	}
}
