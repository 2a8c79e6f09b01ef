// Package fuzz has a target for each parser and each round trip, on exported
// functions. Inputs that once failed stay in testdata.
package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tongs-agents/fsstore"
)

const simple = `{"schema_version":1,"record_kind":"session",` +
	`"canonical_id":"fleet:v1:claude:72aa6989b85cd7a3af035899300a31ddcc197585fcd97c0cf10b840e43f85f98",` +
	`"session_id":"5b0c1a1e-7d2e-4e0a-9a83-0f3b1ad5a111","instance_id":"4242:81868","harness_id":"claude","agent":"claude",` +
	`"process_identity":"identified","status":"running","pid":"4242","process_start":"81868","focus_target":{"kind":"terminal"}`

// FuzzRecord adds members to a valid record, where they take the place of its
// own or are unknown. What Decode makes of it is what encoding/json reads, and
// it survives being written and read again.
func FuzzRecord(f *testing.F) {
	for _, members := range []string{
		"", `,"title":"a\u00e9\n😀"`, `,"title":null`, `,"title":"a","title":null`, `,"title":5`, `,"ts":5,"ts":null,"sequence":0`,
		`,"sequence":1,"sequence":null`, `,"arrival_sequence":null`, `,"arrival_sequence":-1`, `,"arrival_sequence":7`,
		`,"ts":-1`, `,"ts":9223372036854775807`, `,"ts":1e3`, `,"subagents":1.0`, `,"boottime_ns":-0`,
		`,"terminal_env":{"A":"1","B":"2","A":"3"}`, `,"terminal_env":{"A":1}`, `,"terminal_env":{"":"x"}`,
		`,"focus_target":{"kind":"desktop","terminal":null,"desktop_target":"x","more":[1]}`, `,"focus_target":{}`,
		`,"resume":["a"],"resume":["b",""]`, `,"resume":[null]`, `,"waiting_for":{"tool":"Bash","agent_id":"x","y":[]}`,
		`,"recent":[{"event":"a","status":"idle","ts":1,"x":{}},{"status":"error"}]`, `,"recent":[null]`,
		`,"x":{"b":[1,2.50e+1,null],"a":"\ud83d\ude00"},"y":null,"x":[]`, `,"x":"\ud800"`, `,"x":"\u0000"`, ",\"x\" : [ 1 ,\n 2 ]",
		`,"":1,"\u0061":2`, `,"age_seconds":5,"duplicate":{}`, `,"schema_version":2`, `,"mode":"daemon","tty":"pts/7"`,
		",\"x\":\"\u2028\u202e\x7f\u0085\"", `,"removed_at":5,"end_reason":"other","model":"m"`, `,"pid":4242`, `,"pid":""`,
		"\xff", `,"x":` + strings.Repeat("[", 50) + strings.Repeat("]", 50), `,"x":"a\"b\\"`, `,"agent":"codex"`,
	} {
		f.Add([]byte(simple + members + "}"))
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := fsstore.Decode(text)
		if err != nil {
			if !errors.Is(err, fsstore.ErrInvalid) || r != nil {
				t.Errorf("got %+v, %v, want nothing and ErrInvalid", r, err)
			}
			return
		}
		if err := r.Validate(); err != nil {
			t.Errorf("decoded, but %v: %s", err, text)
		}
		var in map[string]json.RawMessage
		if err := json.Unmarshal(text, &in); err != nil || !utf8.Valid(text) {
			t.Fatalf("decoded %q, which is not JSON: %v", text, err)
		}
		written := r.AppendJSON(nil)
		var out map[string]json.RawMessage
		if err := json.Unmarshal(written, &out); err != nil {
			t.Fatalf("%v: %q", err, written)
		}
		if bytes.ContainsFunc(written, func(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u202e' }) {
			t.Errorf("a character that acts in %q", written)
		}
		again, err := fsstore.Decode(written)
		if err != nil {
			t.Fatalf("%v of %s", err, written)
		}
		if !reflect.DeepEqual(again, r) {
			t.Errorf("read again\n got %+v\nwant %+v", again, r)
		}
		if twice := again.AppendJSON(nil); !bytes.Equal(twice, written) {
			t.Errorf("written again\n got %s\nwant %s", twice, written)
		}
		compare(t, in, out)
	})
}

// derived are the keys that are never stored.
var derived = []string{"age_seconds", "needs_attention", "launch_id", "profile_id", "duplicate", "uptime_ms"}

// compare checks that every member of a record was written with the value that
// encoding/json reads in the original.
func compare(t *testing.T, in, out map[string]json.RawMessage) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(in))
	for key := range out {
		if _, there := in[key]; !there {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if slices.Contains(derived, key) {
			if v, there := out[key]; there {
				t.Errorf("%s was written: %s", key, v)
			}
			continue
		}
		got, want := known(t, key, out[key]), known(t, key, in[key])
		if key == "arrival_sequence" && want == int64(0) {
			want = int64(1) // the store's to set
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v of %s, want %v of %s", key, got, out[key], want, in[key])
		}
	}
}

// known reads a value as the type that the key has. None and null are the same
// as the empty value of a known key.
func known(t *testing.T, key string, text json.RawMessage) any {
	t.Helper()
	there := text != nil
	if !there {
		text = json.RawMessage("null")
	}
	switch key {
	case "schema_version", "ts", "started", "arrival_sequence", "boottime_ns", "subagents", "background_tasks", "removed_at":
		return as[int64](t, text)
	case "sequence": // 0 is not the same as none
		if p := as[*int64](t, text); p != nil {
			return *p
		}
		return nil
	case "record_kind", "canonical_id", "session_id", "instance_id", "harness_id", "agent", "repo", "cwd", "pid", "process_start",
		"process_identity", "status", "detail", "tool", "source", "last_event", "terminal", "boot_id", "pid_namespace", "machine_id",
		"title", "transcript_path", "model", "mode", "tty", "end_reason":
		return as[string](t, text)
	case "terminal_env":
		return env(as[map[string]string](t, text))
	case "resume":
		return append([]string{}, as[[]string](t, text)...)
	case "waiting_for":
		var w struct{ Agent, Tool string }
		m := as[map[string]json.RawMessage](t, text)
		if m == nil {
			return nil
		}
		w.Agent, w.Tool = as[string](t, m["agent_id"]), as[string](t, m["tool"])
		return w
	case "focus_target":
		m := as[map[string]json.RawMessage](t, text)
		return []any{
			as[string](t, m["kind"]), as[string](t, m["terminal"]), as[string](t, m["desktop_target"]),
			env(as[map[string]string](t, m["terminal_env"])),
		}
	case "recent":
		events := []any{}
		for _, m := range as[[]map[string]json.RawMessage](t, text) {
			events = append(events, []any{as[string](t, m["event"]), as[string](t, m["status"]), as[int64](t, m["ts"])})
		}
		return events
	}
	// Unknown: every digit of a number counts.
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return []any{v, there}
}

// env makes no variables and an empty set of them the same.
func env(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func as[T any](t *testing.T, text json.RawMessage) T {
	t.Helper()
	var v T
	if text == nil {
		return v
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return v
}
