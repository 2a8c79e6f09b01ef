package fsstore

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestTextLimits: every text of the schema at its limit and one byte beyond.
func TestTextLimits(t *testing.T) {
	for _, test := range []struct {
		key string // that the error names
		max int
		set func(r *Record, text string)
	}{
		{"session_id", 512, func(r *Record, s string) { r.Session = s }},
		{"instance_id", 512, func(r *Record, s string) { r.Instance = s }},
		{"repo", 512, func(r *Record, s string) { r.Repo = s }},
		{"cwd", 4096, func(r *Record, s string) { r.Cwd = s }},
		{"pid", 128, func(r *Record, s string) { r.PID = s }},
		{"process_start", 128, func(r *Record, s string) { r.ProcessStart = s }},
		{"detail", 512, func(r *Record, s string) { r.Detail = s }},
		{"tool", 256, func(r *Record, s string) { r.Tool = s }},
		{"source", 32, func(r *Record, s string) { r.Source = s }},
		{"last_event", 512, func(r *Record, s string) { r.LastEvent = s }},
		{"terminal", 64, func(r *Record, s string) { r.Terminal = s }},
		{"terminal_env", 128, func(r *Record, s string) { r.TerminalEnv = []Var{{s, "1"}} }},
		{"terminal_env", 1024, func(r *Record, s string) { r.TerminalEnv = []Var{{"A", s}} }},
		{"focus_target.terminal", 64, func(r *Record, s string) { r.Focus.Terminal = s }},
		{"focus_target.desktop_target", 512, func(r *Record, s string) { r.Focus.DesktopTarget = s }},
		{"focus_target.terminal_env", 128, func(r *Record, s string) { r.Focus.Env = []Var{{s, "1"}} }},
		{"focus_target.terminal_env", 1024, func(r *Record, s string) { r.Focus.Env = []Var{{"A", s}} }},
		{"boot_id", 64, func(r *Record, s string) { r.BootID = s }},
		{"pid_namespace", 64, func(r *Record, s string) { r.PIDNamespace = s }},
		{"machine_id", 64, func(r *Record, s string) { r.MachineID = s }},
		{"title", 512, func(r *Record, s string) { r.Title = s }},
		{"transcript_path", 4096, func(r *Record, s string) { r.TranscriptPath = s }},
		{"model", 128, func(r *Record, s string) { r.Model = s }},
		{"resume", 1024, func(r *Record, s string) { r.Resume = []string{"codex", s} }},
		{"tty", 64, func(r *Record, s string) { r.TTY = s }},
		{"waiting_for.tool", 256, func(r *Record, s string) { r.WaitingFor = &Wait{Tool: s} }},
		{"waiting_for.agent_id", 512, func(r *Record, s string) { r.WaitingFor = &Wait{AgentID: s} }},
		{"recent", 512, func(r *Record, s string) { r.Recent = []Recent{{s, Idle, 1}} }},
		{"end_reason", 64, func(r *Record, s string) { r.EndReason = s }},
	} {
		fill := func(n int) string { return strings.Repeat("1", n) } // fits the decimal ones too
		for _, n := range []int{test.max, test.max + 1} {
			r := complete()
			test.set(r, fill(n))
			got, err := Decode(r.AppendJSON(nil))
			if validateErr := r.Validate(); (validateErr == nil) != (err == nil) {
				t.Errorf("%s, %d bytes: Validate: %v, Decode: %v", test.key, n, validateErr, err)
			}
			if n == test.max {
				if err != nil {
					t.Errorf("%s, %d bytes: %v", test.key, n, err)
				} else {
					equalRecords(t, test.key, got, r)
				}
				continue
			}
			checkLimit(t, fmt.Sprintf("%s, %d bytes", test.key, n), err, test.key)
		}
		if test.key == "pid" || test.key == "process_start" {
			continue
		}
		// The limit is in bytes, whatever the characters are.
		r := complete()
		test.set(r, strings.Repeat("é", test.max/2)+"é")
		_, err := Decode(r.AppendJSON(nil))
		checkLimit(t, test.key+" of é", err, test.key)
		for what, bad := range map[string]string{"NUL": "a\x00b", "no UTF-8": "a\xffb"} {
			r := complete()
			test.set(r, bad)
			checkLimit(t, test.key+" with "+what, r.Validate(), test.key)
		}
	}
}

func checkLimit(t *testing.T, what string, err error, key string) {
	t.Helper()
	if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "invalid record: "+key+" ") {
		t.Errorf("%s: got %v, want ErrInvalid that names %s", what, err, key)
	}
}

// TestListLimits: every list of the schema at its limit and one beyond.
func TestListLimits(t *testing.T) {
	env := func(n int) []Var {
		var env []Var
		for i := range n {
			env = append(env, Var{"V" + strconv.Itoa(i), ""})
		}
		return env
	}
	// Recent events whose JSON is as long as asked.
	recent := func(size int) []Recent {
		events := []Recent{{strings.Repeat("e", 400), Idle, 1}, {strings.Repeat("f", 400), Idle, 1}, {"", Idle, 1}}
		events[2].Event = strings.Repeat("g", size-len(appendRecent(nil, events)))
		return events
	}
	for _, test := range []struct {
		key string
		max int
		set func(r *Record, n int)
	}{
		{"terminal_env", 32, func(r *Record, n int) { r.TerminalEnv = env(n) }},
		{"focus_target.terminal_env", 32, func(r *Record, n int) { r.Focus.Env = env(n) }},
		{"resume", 32, func(r *Record, n int) { r.Resume = strings.Split(strings.Repeat("a ", n-1)+"a", " ") }},
		{"recent", 8, func(r *Record, n int) { r.Recent = make([]Recent, n); fillRecent(r.Recent) }},
		{"recent", 1024, func(r *Record, n int) { r.Recent = recent(n) }},
	} {
		for _, n := range []int{test.max, test.max + 1} {
			what := fmt.Sprintf("%s, %d", test.key, n)
			r := complete()
			test.set(r, n)
			got, err := Decode(r.AppendJSON(nil))
			if n > test.max {
				checkLimit(t, what, err, test.key)
			} else if err != nil {
				t.Errorf("%s: %v", what, err)
			} else {
				equalRecords(t, what, got, r)
			}
		}
	}
	// A variable needs a name, and a record of more variables than a valid one
	// can have is read in linear time.
	r := complete()
	r.TerminalEnv = []Var{{"", "1"}}
	checkLimit(t, "variable without a name", r.Validate(), "terminal_env")
	r.TerminalEnv = env(10000)
	_, err := Decode(r.AppendJSON(nil))
	checkLimit(t, "10000 variables", err, "terminal_env")
}

func fillRecent(events []Recent) {
	for i := range events {
		events[i] = Recent{"e", Idle, 1}
	}
}

func TestNumberLimits(t *testing.T) {
	for _, test := range []struct {
		key   string
		least int64
		set   func(r *Record, n int64)
	}{
		{"ts", 0, func(r *Record, n int64) { r.TS = n }},
		{"started", 0, func(r *Record, n int64) { r.Started = n }},
		{"sequence", 0, func(r *Record, n int64) { r.Sequence = n }},
		{"arrival_sequence", 1, func(r *Record, n int64) { r.Arrival = n }},
		{"boottime_ns", 0, func(r *Record, n int64) { r.Boottime = n }},
		{"subagents", 0, func(r *Record, n int64) { r.Subagents = n }},
		{"background_tasks", 0, func(r *Record, n int64) { r.BackgroundTasks = n }},
		{"removed_at", 0, func(r *Record, n int64) { r.RemovedAt = n }},
		{"recent", 0, func(r *Record, n int64) { r.Recent = []Recent{{"e", Idle, n}} }},
	} {
		for _, n := range []int64{test.least, math.MaxInt64} {
			r := complete()
			test.set(r, n)
			got, err := Decode(r.AppendJSON(nil))
			if err != nil {
				t.Errorf("%s, %d: %v", test.key, n, err)
				continue
			}
			equalRecords(t, test.key, got, r)
		}
		for _, n := range []int64{test.least - 1, math.MinInt64} {
			r := complete()
			test.set(r, n)
			_, err := Decode(r.AppendJSON(nil))
			checkLimit(t, fmt.Sprintf("%s, %d", test.key, n), err, test.key)
		}
	}
}

// TestUnknownSize: a record with more members of other programs than could be
// written is refused, before they are all searched for doubles.
func TestUnknownSize(t *testing.T) {
	var members strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&members, `"%0200x":0,`, i)
	}
	_, err := Decode([]byte(with(simple("s"), members.String()+`"x":0`)))
	checkLimit(t, "2000 unknown members", err, "record")
}

// TestSize: a record that is too long loses its recent events, then its
// environment, and only then fails.
func TestSize(t *testing.T) {
	s, path := openStore(t)
	// size returns a record whose JSON is as long as asked.
	size := func(n int) *Record {
		r := complete()
		r.RemovedAt, r.HasSequence, r.Sequence, r.Arrival = 0, false, 0, 1
		// Ten more bytes than without: comma, quotes, colon, name.
		r.Unknown = []Member{{"filler", nil}}
		r.Unknown[0].Value = []byte(`"` + strings.Repeat("x", n-len(r.AppendJSON(nil))-2) + `"`)
		if got := len(r.AppendJSON(nil)); got != n {
			t.Fatalf("made %d bytes, want %d", got, n)
		}
		return r
	}
	var base = complete()
	recent := len(`,"recent":`) + len(appendRecent(nil, base.Recent))
	var o object
	o.b = append(o.b, '{')
	o.env("terminal_env", base.TerminalEnv)
	o.env("terminal_env", base.Focus.Env)
	// Both empty objects stay.
	env := len(o.b) - len(`{"terminal_env":{},"terminal_env":{}`)

	for _, test := range []struct {
		name              string
		size              int
		recent, env, fits bool
	}{
		{"fits", MaxRecord, true, true, true},
		{"one byte too long", MaxRecord + 1, false, true, true},
		{"fits without recent events", MaxRecord + recent, false, true, true},
		{"one byte more", MaxRecord + recent + 1, false, false, true},
		{"fits without environment", MaxRecord + recent + env, false, false, true},
		{"too long", MaxRecord + recent + env + 1, false, false, false},
	} {
		r := size(test.size)
		r.Session = "session-of-codex"
		written, err := s.Update(r.Key, Rules{Create: true, Wait: patience}, func(old *Record) (*Record, error) { return r, nil })
		if !test.fits {
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "65536 bytes") {
				t.Errorf("%s: got %v, want ErrInvalid", test.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		want := *r
		want.Arrival = written.Arrival
		if !test.recent {
			want.Recent = nil
		}
		if !test.env {
			want.TerminalEnv, want.Focus.Env = nil, nil
		}
		equalRecords(t, test.name+", stored", get(t, s, r.Key), &want)
		equalRecords(t, test.name+", returned", written, &want)
		if err := removeRecord(path, r.Key); err != nil {
			t.Fatal(err)
		}
	}
	checkNoTemp(t, path)
}
