package fsstore

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAnnotate(t *testing.T) {
	now := time.Unix(1700000000, 999999999)
	for _, test := range []struct {
		name      string
		status    Status
		ago       int64
		tasks     int64
		age       int64
		attention bool
	}{
		{"running", Running, 10, 0, 10, false},
		{"running for long", Running, 100000, 0, 100000, false},
		{"waiting", Waiting, 0, 0, 0, true},
		{"waiting with tasks", Waiting, 5, 3, 5, true},
		{"waiting, ahead", Waiting, -50, 0, 0, true},
		{"idle", Idle, 0, 0, 0, false},
		{"idle, just before", Idle, 119, 0, 119, false},
		{"idle for two minutes", Idle, 120, 0, 120, false},
		{"idle for longer", Idle, 121, 0, 121, true},
		{"idle with tasks", Idle, 121, 1, 121, false},
		{"idle, ahead", Idle, -1000, 0, 0, false},
		{"started", Started, 1000, 0, 1000, false},
		{"error", Error, 1000, 0, 1000, false},
		{"ended", Ended, 1000, 0, 1000, false},
		{"discovered", Discovered, 1000, 0, 1000, false},
		{"far ahead", Running, 1700000000 - 1<<63 + 1, 0, 0, false},
		{"never", Idle, 1700000000, 0, 1700000000, true},
	} {
		r := simple("s")
		r.Status, r.TS, r.BackgroundTasks = test.status, now.Unix()-test.ago, test.tasks
		got := Annotate(r, now)
		if got.Age != test.age || got.NeedsAttention != test.attention {
			t.Errorf("%s: got age %d, attention %v, want %d, %v", test.name, got.Age, got.NeedsAttention, test.age, test.attention)
		}
	}
	if got := Annotate(simple("s"), time.Time{}); got.Age != 0 {
		t.Errorf("at the zero time: got age %d, want 0", got.Age)
	}
}

// TestAnnotateCopy: the annotated record is a copy, and the original stays.
func TestAnnotateCopy(t *testing.T) {
	r := complete()
	a := Annotate(r, time.Unix(r.TS+5, 0))
	equalRecords(t, "annotated", &a.Record, r)
	if want := strings.Repeat("0a", 16); a.LaunchID != want || a.ProfileID != "work" || a.Age != 5 || !a.NeedsAttention {
		t.Errorf("got launch %q, profile %q, age %d, attention %v", a.LaunchID, a.ProfileID, a.Age, a.NeedsAttention)
	}
	a.Status, a.Title, a.RemovedAt = Idle, "changed", 1
	a.AddRecent(Recent{"new", Idle, 1})
	equalRecords(t, "original", r, complete())
}

func TestAnnotatedJSON(t *testing.T) {
	r := complete()
	a := Annotate(r, time.Unix(r.TS+5, 0))
	a.Duplicate = true
	text := a.AppendJSON([]byte("before "))
	if !strings.HasPrefix(string(text), "before {") {
		t.Errorf("got %s, want it appended", text)
	}
	var got map[string]any
	if err := json.Unmarshal(text[len("before "):], &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"age_seconds": 5.0, "needs_attention": true, "launch_id": strings.Repeat("0a", 16), "profile_id": "work",
		"duplicate": true, "title": "fix the tests",
	} {
		if got[key] != want {
			t.Errorf("%s: got %v, want %v", key, got[key], want)
		}
	}
	// What is derived is never stored, so the rest is the record.
	back, err := Decode(text[len("before "):])
	if err != nil {
		t.Fatal(err)
	}
	equalRecords(t, "decoded", back, r)

	plain := Annotate(simple("s"), time.Unix(0, 0))
	if err := json.Unmarshal(plain.AppendJSON(nil), &got); err != nil {
		t.Error(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(plain.AppendJSON(nil), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"launch_id", "profile_id", "duplicate"} {
		if v, there := keys[key]; there {
			t.Errorf("%s: got %v, want none", key, v)
		}
	}
	if keys["age_seconds"] != 0.0 || keys["needs_attention"] != false {
		t.Errorf("got age %v, attention %v", keys["age_seconds"], keys["needs_attention"])
	}
}

func TestLookupEnv(t *testing.T) {
	r := complete()
	if got := r.LookupEnv("TERM_PROGRAM"); got != "ghostty" {
		t.Errorf("got %q, want ghostty", got)
	}
	if got := r.LookupEnv("NONE"); got != "" {
		t.Errorf("got %q for none", got)
	}
	if reflect.DeepEqual(r, simple("s")) {
		t.Error("records of different content are equal")
	}
}
