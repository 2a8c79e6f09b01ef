package fsstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestComplete: the record that the tests below go through has every key.
func TestComplete(t *testing.T) {
	v := reflect.ValueOf(*complete())
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Legacy" {
			t.Errorf("%s is not set", name)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	minimal := &Record{
		Key:  Key{"other", "s", Unresolved},
		Kind: KindProcess, Identity: Unresolved, Status: Discovered, Arrival: 1,
		Focus: Focus{Kind: FocusUnavailable},
	}
	zeroSequence := simple("zero sequence")
	zeroSequence.HasSequence = true
	emptyWait := simple("empty wait")
	emptyWait.WaitingFor = &Wait{}
	for name, want := range map[string]*Record{
		"complete": complete(), "minimal": minimal, "simple": simple("s"), "unresolved": unresolvedRecord("s"),
		"zero sequence": zeroSequence, "empty wait": emptyWait,
	} {
		text := want.AppendJSON(nil)
		if !json.Valid(text) {
			t.Errorf("%s: encoding/json refuses %s", name, text)
		}
		if i := strings.IndexFunc(string(text), func(r rune) bool {
			return r < 0x20 || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u202e'
		}); i >= 0 {
			t.Errorf("%s: character %q in %s", name, text[i], text)
		}
		got, err := Decode(text)
		if err != nil {
			t.Errorf("%s: %v of %s", name, err, text)
			continue
		}
		equalRecords(t, name, got, want)
		if again := string(got.AppendJSON(nil)); again != string(text) {
			t.Errorf("%s: encoded again\n got %s\nwant %s", name, again, text)
		}
	}
}

// TestKeys: the JSON has the keys of docs/format.md, of the right types.
func TestKeys(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal(complete().AppendJSON(nil), &got); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{
		"schema_version": "float64", "record_kind": "string", "canonical_id": "string", "session_id": "string",
		"instance_id": "string", "harness_id": "string", "agent": "string", "repo": "string", "cwd": "string",
		"pid": "string", "process_start": "string", "process_identity": "string", "status": "string",
		"detail": "string", "tool": "string", "ts": "float64", "started": "float64", "sequence": "float64",
		"arrival_sequence": "float64", "source": "string", "last_event": "string", "terminal": "string",
		"terminal_env": "map", "focus_target": "map", "boot_id": "string", "pid_namespace": "string",
		"machine_id": "string", "title": "string", "transcript_path": "string", "model": "string",
		"resume": "[]", "mode": "string", "tty": "string", "boottime_ns": "float64", "waiting_for": "map",
		"subagents": "float64", "background_tasks": "float64", "recent": "[]", "end_reason": "string",
		"removed_at": "float64",
		"x":          "map", "": "bool", "é\"\n": "<nil>",
	}
	for key, value := range got {
		want, known := types[key]
		if !known {
			t.Errorf("unexpected key %q", key)
		} else if typ := fmt.Sprintf("%T", value); !strings.HasPrefix(typ, want) {
			t.Errorf("%s: got a %s, want %s", key, typ, want)
		}
		delete(types, key)
	}
	for key := range types {
		t.Errorf("no key %q", key)
	}
	want := []any{
		map[string]any{"event": "prompt-submit", "status": "running", "ts": 1.7e9},
		map[string]any{"event": "permission-request", "status": "waiting", "ts": 1700000001.0},
	}
	if !reflect.DeepEqual(got["recent"], want) {
		t.Errorf("recent: got %v, want %v", got["recent"], want)
	}
	if want := map[string]any{"agent_id": "agent-1", "tool": "Bash"}; !reflect.DeepEqual(got["waiting_for"], want) {
		t.Errorf("waiting_for: got %v, want %v", got["waiting_for"], want)
	}
	if want := map[string]any{"kind": "terminal", "terminal": "kitty", "desktop_target": "window 5",
		"terminal_env": map[string]any{"TERM_PROGRAM": "ghostty"}}; !reflect.DeepEqual(got["focus_target"], want) {
		t.Errorf("focus_target: got %v, want %v", got["focus_target"], want)
	}
}

// with returns the JSON text of a record with members added at its end.
func with(r *Record, members string) string {
	text := string(r.AppendJSON(nil))
	return strings.TrimSuffix(text, "}") + "," + members + "}"
}

// TestUnknownKeys: the keys of other programs are written back.
func TestUnknownKeys(t *testing.T) {
	const deep = 2000
	nested := strings.Repeat(`{"a":[`, deep) + strings.Repeat(`]}`, deep)
	for _, test := range []struct{ name, members, want string }{
		{"nested", `"x":{"a":[1,{"b":"c"}],"d":{}}`, `"x":{"a":[1,{"b":"c"}],"d":{}}`},
		{"deep", `"x":` + nested, `"x":` + nested},
		{"null", `"x":null`, `"x":null`},
		{"numbers as they are", `"x":[1.50,-0,1e400,123456789012345678901234567890]`, `"x":[1.50,-0,1e400,123456789012345678901234567890]`},
		{"order", `"z":1,"a":2,"m":3`, `"z":1,"a":2,"m":3`},
		{"of two the last", `"a":1,"b":2,"a":{"c":3}`, `"a":{"c":3},"b":2`},
		{"of two the last, null", `"a":1,"a":null`, `"a":null`},
		{"duplicates inside", `"a":{"b":1,"b":2}`, `"a":{"b":1,"b":2}`},
		{"name in escapes", `"\u0061\u00e9":1`, `"aé":1`},
		{"almost ours", `"Ts":1,"ts ":2,"tS":"x"`, `"Ts":1,"ts ":2,"tS":"x"`},
		{"name of a part", `"kind":5,"event":[],"agent_id":{}`, `"kind":5,"event":[],"agent_id":{}`},
		{"on several lines", "\"a\" : {\n\t\"b\": [ 1,\r\n 2 ],\n \"c d\": \" e \"}", `"a":{"b":[1,2],"c d":" e "}`},
		{"characters that act", "\"a\":[\"\u0085\u2028\u202e\x7f\",\"\\\\\",\"\\\"\\u2028 \"]", `"a":["\u0085\u2028\u202e\u007f","\\","\"\u2028 "]`},
		{"lone surrogate", `"a":"\ud800"`, `"a":"\ud800"`},
		{"derived keys", `"age_seconds":1,"needs_attention":true,"launch_id":"","profile_id":{},"duplicate":null,"uptime_ms":-1`, ""},
		{"derived keys beside others", `"a":1,"age_seconds":1,"b":2`, `"a":1,"b":2`},
	} {
		base := simple("s")
		got, err := Decode([]byte(with(base, test.members)))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		want := with(base, test.want)
		if test.want == "" {
			want = string(base.AppendJSON(nil))
		}
		if text := string(got.AppendJSON(nil)); text != want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, text, want)
		}
	}
}

// TestUnknownKeysThroughUpdate: an update that knows nothing of them keeps
// them.
func TestUnknownKeysThroughUpdate(t *testing.T) {
	s, path := openStore(t)
	r := simple("s")
	putText(t, path, r.Key, with(r, `"python_only": {"a": [1, 2]}, "x": null`))
	update(t, s, r.Key, func(old *Record) (*Record, error) {
		c := *old
		c.Status = Idle
		return &c, nil
	})
	got := get(t, s, r.Key)
	want := []Member{{"python_only", []byte(`{"a":[1,2]}`)}, {"x", []byte("null")}}
	if got.Status != Idle || !reflect.DeepEqual(got.Unknown, want) {
		t.Errorf("got %s with %s, want idle with %s", got.Status, got.Unknown, want)
	}
}

// TestMembers: of several members of one name the last counts, and null is the
// same as none.
func TestMembers(t *testing.T) {
	full := complete()
	for _, test := range []struct {
		name, members string
		change        func(*Record)
	}{
		{"text twice", `"title":"a","title":"b"`, func(r *Record) { r.Title = "b" }},
		{"text, then null", `"title":"a","title":null`, func(r *Record) { r.Title = "" }},
		{"null, then text", `"title":null,"title":"a"`, func(r *Record) { r.Title = "a" }},
		{"number twice", `"subagents":5,"subagents":6`, func(r *Record) { r.Subagents = 6 }},
		{"number, then null", `"subagents":5,"subagents":null`, func(r *Record) { r.Subagents = 0 }},
		{"sequence, then null", `"sequence":5,"sequence":null`, func(r *Record) { r.Sequence, r.HasSequence = 0, false }},
		{"arrival, then null", `"arrival_sequence":5,"arrival_sequence":null`, func(r *Record) { r.Arrival = 1 }},
		{"resume twice", `"resume":["a"],"resume":["b","c"]`, func(r *Record) { r.Resume = []string{"b", "c"} }},
		{"resume empty", `"resume":[]`, func(r *Record) { r.Resume = nil }},
		{"resume null", `"resume":null`, func(r *Record) { r.Resume = nil }},
		{"recent twice", `"recent":[{"event":"a","status":"idle","ts":1}],"recent":[{"event":"b","status":"idle"}]`,
			func(r *Record) { r.Recent = []Recent{{"b", Idle, 0}} }},
		{"recent null", `"recent":null`, func(r *Record) { r.Recent = nil }},
		{"waiting_for twice", `"waiting_for":{"tool":"a"},"waiting_for":{"agent_id":"b"}`,
			func(r *Record) { r.WaitingFor = &Wait{"b", ""} }},
		{"waiting_for null", `"waiting_for":null`, func(r *Record) { r.WaitingFor = nil }},
		{"env twice", `"terminal_env":{"A":"1"},"terminal_env":{"B":"2"}`, func(r *Record) { r.TerminalEnv = []Var{{"B", "2"}} }},
		{"env null", `"terminal_env":null`, func(r *Record) { r.TerminalEnv = nil }},
		{"env empty", `"terminal_env":{}`, func(r *Record) { r.TerminalEnv = nil }},
		{"variable twice", `"terminal_env":{"A":"1","B":"2","A":"3"}`, func(r *Record) { r.TerminalEnv = []Var{{"A", "3"}, {"B", "2"}} }},
		{"focus twice", `"focus_target":{"kind":"desktop","desktop_target":"x"},"focus_target":{"kind":"unavailable"}`,
			func(r *Record) { r.Focus = Focus{Kind: FocusUnavailable} }},
		{"focus with null", `"focus_target":{"kind":"desktop","terminal":null,"terminal_env":null,"desktop_target":"x","desktop_target":null,"more":null,"other":[]}`,
			func(r *Record) { r.Focus = Focus{Kind: FocusDesktop} }},
		{"pid null and back", `"pid":null,"process_start":null,"pid":"947","process_start":"85992"`, func(r *Record) {}},
	} {
		want := *full
		test.change(&want)
		got, err := Decode([]byte(with(full, test.members)))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		equalRecords(t, test.name, got, &want)
	}
}

// jsonOf returns the members of a record's JSON text.
func jsonOf(t *testing.T, r *Record) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(r.AppendJSON(nil), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestWrongTypes: a value of a wrong type refuses the record, and the error
// names the key.
func TestWrongTypes(t *testing.T) {
	notText := []string{"1", "1.5", "true", "false", "[]", "{}", `["x"]`, `{"x":"y"}`}
	notInt := []string{`"1"`, `""`, "1.5", "1e3", "1E3", "1.0", "true", "[]", "{}", "[1]", "9223372036854775808", "-9223372036854775809"}
	notObject := []string{`"x"`, "1", "true", "[]", `[{}]`}
	notArray := []string{`"x"`, "1", "true", "{}"}
	wrong := map[string][]string{
		"record_kind": notText, "canonical_id": notText, "session_id": notText, "instance_id": notText,
		"harness_id": notText, "agent": notText, "repo": notText, "cwd": notText, "process_identity": notText,
		"status": notText, "detail": notText, "tool": notText, "source": notText, "last_event": notText,
		"terminal": notText, "boot_id": notText, "pid_namespace": notText, "machine_id": notText, "title": notText,
		"transcript_path": notText, "model": notText, "mode": notText, "tty": notText, "end_reason": notText,
		"pid": notText, "process_start": notText, // a number is for schema 0 alone
		"schema_version": notInt, "ts": notInt, "started": notInt, "sequence": notInt, "arrival_sequence": notInt,
		"boottime_ns": notInt, "subagents": notInt, "background_tasks": notInt, "removed_at": notInt,
		"terminal_env": append([]string{`{"A":1}`, `{"A":null}`, `{"A":{}}`, `{"A":["x"]}`}, notObject...),
		"focus_target": append([]string{
			`{"kind":1}`, `{"kind":"desktop","terminal":[]}`, `{"kind":"terminal","terminal_env":[]}`,
			`{"kind":"terminal","terminal_env":{"A":1}}`, `{"kind":"desktop","desktop_target":{}}`}, notObject...),
		"waiting_for": append([]string{`{"agent_id":1}`, `{"tool":[]}`, `{"tool":true}`}, notObject...),
		"resume":      append([]string{`[1]`, `["a",null]`, `[["a"]]`, `["a",{}]`}, notArray...),
		"recent": append([]string{`[1]`, `["x"]`, `[[]]`, `[{"event":1}]`, `[{"status":1}]`, `[{"ts":"1"}]`, `[{"ts":1.5}]`,
			`[{"event":"a","status":"idle","ts":-1}]`, `[{"event":"a","status":"busy","ts":1}]`, `[{"event":"a"}]`}, notArray...),
	}
	members := jsonOf(t, complete())
	for key, value := range members {
		if _, listed := wrong[key]; !listed {
			if _, known := jsonOf(t, simple("s"))[key]; known {
				t.Errorf("no wrong values for %s", key)
			}
			continue
		}
		for _, bad := range wrong[key] {
			members[key] = json.RawMessage(bad)
			r, err := Decode(marshal(t, members))
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), key) {
				t.Errorf("%s: %s: got %v, want ErrInvalid that names the key", key, bad, err)
			}
			if r != nil {
				t.Errorf("%s: %s: got a record with the error", key, bad)
			}
		}
		members[key] = value
	}
}

// TestValues: a value of the right type that the schema does not allow.
func TestValues(t *testing.T) {
	for _, test := range []struct{ key, value string }{
		{"schema_version", "0"}, {"schema_version", "2"}, {"schema_version", "-1"}, {"schema_version", "null"},
		{"record_kind", `""`}, {"record_kind", `"Session"`}, {"record_kind", "null"},
		{"canonical_id", `""`}, {"canonical_id", `"fleet:v1:codex:0"`}, {"canonical_id", "null"},
		{"session_id", `""`}, {"session_id", `"another"`}, {"session_id", "null"},
		{"instance_id", `""`}, {"instance_id", `"947:85993"`}, {"instance_id", "null"},
		{"harness_id", `"claude"`}, {"harness_id", `"unknown"`}, {"harness_id", `""`}, {"harness_id", "null"},
		{"agent", `"claude"`}, {"agent", `"Codex"`}, {"agent", `""`}, {"agent", "null"},
		{"pid", `"-1"`}, {"pid", `"1.5"`}, {"pid", `"0x10"`}, {"pid", `" 1"`}, {"pid", `"١"`},
		{"process_start", `"1e3"`}, {"process_start", `"x"`},
		{"process_identity", `""`}, {"process_identity", `"known"`}, {"process_identity", `"unresolved"`}, {"process_identity", "null"},
		{"status", `""`}, {"status", `"busy"`}, {"status", `"Running"`}, {"status", "null"},
		{"ts", "-1"}, {"started", "-1"}, {"sequence", "-1"}, {"boottime_ns", "-1"}, {"subagents", "-1"},
		{"background_tasks", "-1"}, {"removed_at", "-1"},
		{"arrival_sequence", "0"}, {"arrival_sequence", "-1"},
		{"mode", `"tty"`}, {"mode", `"Headless"`},
		{"focus_target", `{}`}, {"focus_target", `{"kind":"tab"}`}, {"focus_target", "null"},
		{"focus_target", `{"kind":"desktop","terminal_env":{"A":"1"}}`},
		{"focus_target", `{"kind":"unavailable","terminal_env":{"A":"1"}}`},
	} {
		members := jsonOf(t, complete())
		members[test.key] = json.RawMessage(test.value)
		_, err := Decode(marshal(t, members))
		names := map[string]string{ // where another key tells
			"session_id": "canonical_id", "instance_id": "canonical_id", "harness_id": "agent", "agent": "agent",
		}
		name := test.key
		if names[name] != "" {
			name = names[name]
		}
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %s: got %v, want ErrInvalid that names %s", test.key, test.value, err, name)
		}
	}
	// An unregistered harness in both keys, with the right canonical id.
	r := complete()
	r.Harness = "unknown"
	if _, err := Decode(r.AppendJSON(nil)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "harness_id") {
		t.Errorf("unknown harness: got %v, want ErrInvalid that names harness_id", err)
	}
	for _, harness := range []string{
		"claude", "codex", "gemini", "opencode", "pi", "qwen", "copilot", "cursor", "droid", "goose", "kiro", "crush", "other",
	} {
		r := complete()
		r.Harness = harness
		if _, err := Decode(r.AppendJSON(nil)); err != nil {
			t.Errorf("%s: %v", harness, err)
		}
	}
	for _, status := range Statuses {
		r := complete()
		r.Status = status
		if got, err := Decode(r.AppendJSON(nil)); err != nil || got.Status != status {
			t.Errorf("%s: got %+v, %v", status, got, err)
		}
	}
	if len(Statuses) != 7 {
		t.Errorf("got %d statuses, want 7", len(Statuses))
	}
}

// TestIdentity: what a record without a process may say.
func TestIdentity(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Record)
		want   string // the key that the error names, "" for none
	}{
		{"unresolved", func(r *Record) {}, ""},
		{"with a pid", func(r *Record) { r.PID = "1" }, "process_identity"},
		{"with a start", func(r *Record) { r.ProcessStart = "1" }, "process_identity"},
		{"with an instance", func(r *Record) { r.Instance = "1:2" }, "process_identity"},
		{"with a terminal", func(r *Record) { r.Focus.Kind = FocusTerminal }, "process_identity"},
		{"with a desktop", func(r *Record) { r.Focus.Kind = FocusDesktop }, "process_identity"},
		{"identified", func(r *Record) { r.Identity = Identified }, "instance_id"},
		{"identified emitter without a pid", func(r *Record) { r.Identity, r.Instance = Identified, "token" }, ""},
	} {
		r := unresolvedRecord("s")
		test.change(r)
		_, err := Decode(r.AppendJSON(nil))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want ErrInvalid that names %s", test.name, err, test.want)
		}
	}
}

func TestBadText(t *testing.T) {
	good := string(complete().AppendJSON(nil))
	title := func(value string) string { return strings.Replace(good, "fix the tests", value, 1) }
	for name, text := range map[string]string{
		"NUL":                       title(`a\u0000b`),
		"lone surrogate":            title(`\ud800`),
		"second half alone":         title(`\udc00\ud800`),
		"no UTF-8":                  title("\xff"),
		"cut UTF-8":                 title("\xe2\x98"),
		"overlong UTF-8":            title("\xc0\x80"),
		"surrogate in UTF-8":        title("\xed\xa0\x80"),
		"raw NUL":                   title("\x00"),
		"raw newline":               title("\n"),
		"no UTF-8 between":          good[:1] + "\xff" + good[1:],
		"byte order mark":           "\ufeff" + good,
		"NUL in a session":          strings.Replace(good, `"session_id":"session`, `"session_id":"\u0000session`, 1),
		"NUL in a variable's name":  strings.Replace(good, "TERM_PROGRAM", `T\u0000`, 1),
		"NUL in a variable's value": strings.Replace(good, `:"work"`, `:"\u0000"`, 1),
		"NUL in an argument":        strings.Replace(good, `["codex"`, `["\u0000"`, 1),
		"NUL in the wait":           strings.Replace(good, "agent-1", `\u0000`, 1),
		"NUL in an event":           strings.Replace(good, `"event":"prompt-submit"`, `"event":"\u0000"`, 1),
		"NUL in an unknown name":    with(complete(), `"a\u0000":1`),
		"surrogate in a name":       with(complete(), `"\ud800":1`),
		"empty":                     "",
		"white space":               " \n",
		"half":                      good[:len(good)/2],
		"all but the end":           good[:len(good)-1],
		"two":                       good + good,
		"more behind":               good + "x",
		"array":                     "[" + good + "]",
		"null":                      "null",
		"number":                    "1",
		"no key":                    "{1:2}",
		"comma at the end":          strings.TrimSuffix(good, "}") + ",}",
		"unknown value broken":      with(complete(), `"x":[1,}`),
		"unknown value too deep":    with(complete(), `"x":`+strings.Repeat("[", 10000)+strings.Repeat("]", 10000)),
	} {
		if text == good {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if _, err := Decode([]byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if _, err := Decode([]byte(" \n\t" + good + "\r\n ")); err != nil {
		t.Errorf("with white space around: %v", err)
	}
	deepest := with(complete(), `"x":`+strings.Repeat("[", 9999)+strings.Repeat("]", 9999))
	if _, err := Decode([]byte(deepest)); err != nil || !json.Valid([]byte(deepest)) {
		t.Errorf("as deep as encoding/json allows: %v", err)
	}
}

// TestArrival: a producer may leave the arrival sequence to the store.
func TestArrival(t *testing.T) {
	members := jsonOf(t, simple("s"))
	delete(members, "arrival_sequence")
	text := marshal(t, members)
	if got, err := Decode(text); err != nil || got.Arrival != 1 {
		t.Errorf("Decode: got %+v, %v, want arrival 1", got, err)
	}
	r := simple("s")
	if _, err := newDecoder(1).decodeStored(recordFile(r.digest()), text); !errors.Is(err, ErrInvalid) {
		t.Errorf("stored: got %v, want ErrInvalid", err)
	}
}

func TestStoredName(t *testing.T) {
	r := complete()
	text := r.AppendJSON(nil)
	got, err := newDecoder(1).decodeStored(recordFile(r.digest()), text)
	if err != nil {
		t.Fatal(err)
	}
	equalRecords(t, "stored", got, r)
	for _, name := range []string{
		recordFile(simple("s").digest()), // another record's
		"session-of-codex.json",          // a legacy one
		"fleet-v2-" + r.digest() + ".json",
	} {
		if _, err := newDecoder(1).decodeStored(name, text); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "canonical_id") {
			t.Errorf("%s: got %v, want ErrInvalid that names canonical_id", name, err)
		}
	}
}

// TestLegacy: files of schema 0 have few keys, and their own types.
func TestLegacy(t *testing.T) {
	base := Record{
		Key: Key{"claude", "file-name", ""}, Kind: KindSession, Legacy: true, Identity: Unresolved,
		Status: Running, Focus: Focus{Kind: FocusUnavailable},
	}
	for _, test := range []struct {
		name, text string
		change     func(*Record)
	}{
		{"least", `{"status":"running"}`, func(r *Record) {}},
		{"schema 0", `{"schema_version":0,"status":"running"}`, func(r *Record) {}},
		{"schema null", `{"schema_version":null,"status":"running"}`, func(r *Record) {}},
		{"agent", `{"agent":"codex","status":"running"}`, func(r *Record) { r.Harness = "codex" }},
		{"harness_id", `{"harness_id":"gemini","status":"running"}`, func(r *Record) { r.Harness = "gemini" }},
		{"session id", `{"session_id":"s","status":"running"}`, func(r *Record) { r.Session = "s" }},
		{"pid as a number", `{"pid":4242,"process_start":81868,"status":"running"}`,
			func(r *Record) { r.PID, r.ProcessStart, r.Identity = "4242", "81868", Identified }},
		{"pid as text", `{"pid":"4242","status":"running"}`, func(r *Record) { r.PID, r.Identity = "4242", Identified }},
		{"nulls", `{"pid":null,"agent":null,"session_id":null,"tool":null,"status":"running"}`, func(r *Record) {}},
		{"as Python wrote it", "{\n  \"agent\": \"claude\",\n  \"repo\": \"r\",\n  \"cwd\": \"/r\",\n  \"status\": \"idle\",\n  \"detail\": \"d\",\n" +
			"  \"ts\": 5,\n  \"started\": 4,\n  \"terminal\": \"kitty\",\n  \"terminal_env\": {\"A\": \"1\"},\n  \"old\": [\n 1]\n}\n",
			func(r *Record) {
				r.Repo, r.Cwd, r.Status, r.Detail, r.TS, r.Started = "r", "/r", Idle, "d", 5, 4
				r.Terminal, r.TerminalEnv, r.Unknown = "kitty", []Var{{"A", "1"}}, []Member{{"old", []byte("[1]")}}
			}},
	} {
		want := base
		test.change(&want)
		got, err := newDecoder(1).decodeStored("file-name.json", []byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		equalRecords(t, test.name, got, &want)
		if text := got.AppendJSON(nil); !json.Valid(text) || strings.Contains(string(text), "schema_version") {
			t.Errorf("%s: encoded as %s", test.name, text)
		}
	}
	for name, text := range map[string]string{
		"no status":            `{}`,
		"unknown agent":        `{"agent":"x","status":"running"}`,
		"pid negative":         `{"pid":-1,"status":"running"}`,
		"pid with a fraction":  `{"pid":1.5,"status":"running"}`,
		"pid true":             `{"pid":true,"status":"running"}`,
		"ts as text":           `{"ts":"5","status":"running"}`,
		"session id too long":  `{"session_id":"` + strings.Repeat("x", MaxSession+1) + `","status":"running"}`,
		"in a schema 1 record": `{"status":"running"}`,
	} {
		file := "file-name.json"
		if name == "in a schema 1 record" {
			file = recordFile(strings.Repeat("0", 64))
		}
		if r, err := newDecoder(1).decodeStored(file, []byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %+v, %v, want ErrInvalid", name, r, err)
		}
	}
	if _, err := Decode([]byte(`{"status":"running"}`)); !errors.Is(err, ErrInvalid) {
		t.Errorf("Decode: got %v, want ErrInvalid", err)
	}
}

// TestLegacyIsNeverWritten: an update of the same session makes a file of its
// own.
func TestLegacyIsNeverWritten(t *testing.T) {
	s, path := openStore(t)
	const text = `{"agent":"claude","pid":4242,"status":"running"}`
	file := path + "/sessions/s.json"
	writeText(t, file, text)
	update(t, s, simple("s").Key, to(simple("s")))
	checkText(t, file, text)
	records, bad, err := s.All()
	if len(records) != 2 || len(bad) != 0 || err != nil {
		t.Errorf("All: got %d records, %v, %v, want both", len(records), bad, err)
	}
}

// TestFuture: a time ahead of ours is refused from a producer, and read as now
// where it is stored.
func TestFuture(t *testing.T) {
	s, path := openStore(t)
	now := time.Now()
	ahead := simple("ahead")
	ahead.TS = now.Unix() + 100000
	put(t, path, ahead)
	stored := get(t, s, ahead.Key)
	if stored == nil || stored.TS != ahead.TS {
		t.Fatalf("stored: got %+v", stored)
	}
	if a := Annotate(stored, now); a.Age != 0 || a.NeedsAttention {
		t.Errorf("Annotate: got age %d, attention %v, want 0, false", a.Age, a.NeedsAttention)
	}

	other := simple("other")
	other.TS = now.Unix() + 100000
	if _, err := s.Import(other, patience); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "ts") {
		t.Errorf("Import: got %v, want ErrInvalid that names ts", err)
	}
	if _, err := s.Update(other.Key, Rules{Create: true, Wait: patience}, to(other)); !errors.Is(err, ErrInvalid) {
		t.Errorf("Update: got %v, want ErrInvalid", err)
	}
	other.TS = now.Unix() + MaxAhead - 60
	if _, err := s.Import(other, patience); err != nil {
		t.Errorf("Import of what is a little ahead: %v", err)
	}

	// A change that leaves the time alone, such as a tombstone, is possible.
	removed := update(t, s, ahead.Key, func(old *Record) (*Record, error) {
		c := *old
		c.RemovedAt = now.Unix()
		return &c, nil
	})
	if removed.TS != ahead.TS || removed.RemovedAt == 0 {
		t.Errorf("tombstone: got %+v", removed)
	}
	if _, err := s.Update(ahead.Key, Rules{Wait: patience}, func(old *Record) (*Record, error) {
		c := *old
		c.TS++
		return &c, nil
	}); !errors.Is(err, ErrInvalid) {
		t.Errorf("one more second ahead: got %v, want ErrInvalid", err)
	}
}

func TestAddRecent(t *testing.T) {
	r := simple("s")
	for i := range int64(20) {
		r.AddRecent(Recent{fmt.Sprintf("event-%d", i), Running, 1700000000 + i})
	}
	if len(r.Recent) != MaxRecent || r.Recent[0].Event != "event-12" || r.Recent[MaxRecent-1].Event != "event-19" {
		t.Errorf("got %v, want the last %d", r.Recent, MaxRecent)
	}
	before := append([]Recent(nil), r.Recent...)
	c := *r
	c.AddRecent(Recent{"event-19", Running, 1800000000})
	if len(c.Recent) != MaxRecent || c.Recent[MaxRecent-1].TS != 1800000000 || c.Recent[0].Event != "event-12" {
		t.Errorf("repeated event: got %v, want it to move on", c.Recent)
	}
	if !reflect.DeepEqual(r.Recent, before) {
		t.Errorf("a copy changed the original: %v", r.Recent)
	}
	r.AddRecent(Recent{strings.Repeat("x", 400), Idle, 1})
	r.AddRecent(Recent{strings.Repeat("y", 400), Idle, 1})
	if err := r.Validate(); err != nil || len(r.Recent) < 2 {
		t.Errorf("long events: %d are left, %v", len(r.Recent), err)
	}
	r.AddRecent(Recent{strings.Repeat("z", MaxEvent), Idle, 1})
	if err := r.Validate(); err != nil || r.Recent[len(r.Recent)-1].Event[0] != 'z' {
		t.Errorf("the longest event: %v, %v", r.Recent, err)
	}
}
