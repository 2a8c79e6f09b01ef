package fsstore

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// listed makes a record for the tests below, alive unless Tool is "dead".
func listed(name string, change ...func(*Record)) *Record {
	r := simple("s")
	r.Title = name
	r.Boottime, r.BootID, r.PIDNamespace = 1000, "boot", "1"
	for _, c := range change {
		c(r)
	}
	return r
}

// Parts of such a record.
func inSession(id string) func(*Record)   { return func(r *Record) { r.Session = id } }
func ofHarness(id string) func(*Record)   { return func(r *Record) { r.Harness = id } }
func withStatus(s Status) func(*Record)   { return func(r *Record) { r.Status = s } }
func at(boottime int64) func(*Record)     { return func(r *Record) { r.Boottime = boottime } }
func withTS(ts int64) func(*Record)       { return func(r *Record) { r.TS = ts } }
func inMode(mode string) func(*Record)    { return func(r *Record) { r.Mode = mode } }
func inBoot(boot string) func(*Record)    { return func(r *Record) { r.BootID = boot } }
func inNamespace(ns string) func(*Record) { return func(r *Record) { r.PIDNamespace = ns } }
func removed(r *Record)                   { r.RemovedAt = 1 }
func wasLeft(r *Record)                   { r.Status, r.LastEvent = Ended, r.Harness+"."+EventSuperseded }
func isDead(r *Record)                    { r.Tool = "dead" }
func legacy(r *Record)                    { r.Legacy, r.Instance = true, "" }
func isProcess(r *Record)                 { r.Kind, r.Session = KindProcess, "proc-"+r.PID }
func notFound(r *Record) {
	r.Instance, r.Identity, r.PID, r.ProcessStart = Unresolved, Unresolved, "", ""
}
func inProcess(pid string) func(*Record) {
	return func(r *Record) { r.PID, r.Instance = pid, pid+":"+r.ProcessStart }
}
func startedAt(start string) func(*Record) {
	return func(r *Record) { r.ProcessStart, r.Instance = start, r.PID+":"+start }
}

func TestPrefer(t *testing.T) {
	type test struct {
		name    string
		records []*Record
		want    string // titles, with a star when marked as duplicate
		asked   string // whose process was asked about
	}
	tests := []test{
		{"nothing", nil, "", ""},
		{"one", []*Record{listed("a")}, "a", ""},
		{"one ended", []*Record{listed("a", withStatus(Ended))}, "a", ""},
		{"one dead", []*Record{listed("a", isDead)}, "a", ""},
		{"one tombstone", []*Record{listed("a", removed)}, "", ""},
		{"two sessions", []*Record{listed("b", inSession("t"), inProcess("5")), listed("a")}, "b a", ""},
		{"session of two harnesses", []*Record{listed("a"), listed("b", ofHarness("codex"))}, "a b", ""},

		{"legacy alone", []*Record{listed("a", legacy)}, "a", ""},
		{"legacy hidden", []*Record{listed("a", legacy), listed("b", inProcess("5"))}, "b", ""},
		{"legacy hidden by an ended one", []*Record{listed("a", legacy), listed("b", withStatus(Ended))}, "b", ""},
		{"legacy hidden by an unresolved one", []*Record{listed("a", legacy), listed("b", notFound)}, "b", ""},
		{"legacy of another session", []*Record{listed("a", legacy, inSession("t"), inProcess("5")), listed("b")}, "a b", ""},
		{"legacy of another harness", []*Record{listed("a", legacy, ofHarness("codex")), listed("b")}, "a b", ""},

		{"unresolved alone", []*Record{listed("a", notFound)}, "a", ""},
		{"unresolved hidden", []*Record{listed("a", notFound), listed("b")}, "b", ""},
		{"unresolved hidden, though newer", []*Record{listed("a", notFound, at(2000)), listed("b", withStatus(Ended))}, "b", ""},
		{"unresolved of another session", []*Record{listed("a", notFound, inSession("t")), listed("b")}, "a b", ""},
		{"unresolved of another harness", []*Record{listed("a", notFound, ofHarness("codex")), listed("b")}, "a b", ""},

		{"process alone", []*Record{listed("a", isProcess)}, "a", ""},
		{"process hidden", []*Record{listed("a", isProcess), listed("b")}, "b", ""},
		{"process of another pid", []*Record{listed("a", isProcess), listed("b", inProcess("5"))}, "a b", ""},
		{"process of another start", []*Record{listed("a", isProcess), listed("b", startedAt("5"))}, "a b", ""},
		{"process of another harness", []*Record{listed("a", isProcess), listed("b", ofHarness("codex"))}, "a b", ""},
		{"process and a record without a process", []*Record{listed("a", isProcess, startedAt("")), listed("b", notFound)}, "a b", ""},

		{"ended beside alive", []*Record{listed("a", withStatus(Ended)), listed("b", inProcess("5"))}, "b", "b"},
		{"dead beside alive", []*Record{listed("a", isDead), listed("b", inProcess("5"))}, "b", "a b"},
		{"dead beside ended", []*Record{listed("a", isDead), listed("b", inProcess("5"), withStatus(Ended))}, "a b", "a"},
		{"alive twice", []*Record{listed("a"), listed("b", inProcess("5"))}, "a* b*", "a b"},
		{"alive twice, and ended", []*Record{listed("a"), listed("b", inProcess("5")), listed("c", inProcess("6"), withStatus(Ended))}, "a* b*", "a b"},
		{"alive, dead and ended", []*Record{listed("a", isDead), listed("b", inProcess("5")), listed("c", inProcess("6"), withStatus(Ended))}, "b", "a b"},
		{"alive beside a tombstone", []*Record{listed("a", removed), listed("b", inProcess("5"))}, "b", ""},
		{"alive in two harnesses", []*Record{listed("a"), listed("b", ofHarness("codex"), inProcess("5"))}, "a b", ""},

		{"superseded by boottime", []*Record{listed("a", inSession("t"), at(2000), withTS(1)), listed("b", withTS(9))}, "a", ""},
		{"superseded by ts without a time", []*Record{listed("a", at(0), withTS(5)), listed("b", inSession("t"), withTS(6))}, "b", ""},
		{"superseded by ts of one time", []*Record{listed("a", withTS(7)), listed("b", inSession("t"), withTS(6))}, "a", ""},
		{"superseded of three", []*Record{listed("a", inSession("1"), at(1)), listed("b", inSession("3"), at(3)), listed("c", inSession("2"), at(2))}, "b", ""},
		{"superseded by an ended one", []*Record{listed("a", at(1)), listed("b", inSession("t"), at(2), withStatus(Ended))}, "b", ""},
		{"superseded, and ended last", []*Record{listed("a", at(0), withTS(9), wasLeft), listed("b", inSession("t"), at(0), withTS(5))}, "b", ""},
		{"superseded, and ended last, in its time", []*Record{listed("a", at(9), wasLeft), listed("b", inSession("t"), at(5))}, "b", ""},
		{"superseded by one that ended before", // that end is the process's last event
			[]*Record{listed("a", at(0), withTS(9), wasLeft), listed("b", inSession("t"), at(0), withTS(5), withStatus(Ended))}, "b", ""},
		{"superseded, and alive again", []*Record{listed("a", at(0), withTS(9), wasLeft, withStatus(Idle)), listed("b", inSession("t"), at(0), withTS(5))}, "a", ""},
		{"superseded, both", []*Record{listed("a", at(0), withTS(9), wasLeft), listed("b", inSession("t"), at(0), withTS(5), wasLeft)}, "a", ""},
		{"process in its daemon mode", []*Record{listed("a", inMode(Daemon)), listed("b", inMode(Daemon), inSession("t"))}, "a b", ""},
		{"one of them in daemon mode", []*Record{listed("a", inMode(Daemon), at(2)), listed("b", inSession("t"), at(1))}, "a b", ""},
		{"of another boot", []*Record{listed("a", inBoot("x")), listed("b", inSession("t"))}, "a b", ""},
		{"of another namespace", []*Record{listed("a", inNamespace("2")), listed("b", inSession("t"))}, "a b", ""},
		{"of another start", []*Record{listed("a", startedAt("5")), listed("b", inSession("t"))}, "a b", ""},
		{"without a process", []*Record{listed("a", notFound), listed("b", notFound, inSession("t"))}, "a b", ""},
		{"superseded, but alive elsewhere", // the session went on in another process
			[]*Record{listed("a", at(1)), listed("b", inSession("t"), at(2)), listed("c", inProcess("5"))}, "b c", ""},

		{"tombstone supersedes", []*Record{listed("a", at(1)), listed("b", inSession("t"), at(2), removed)}, "", ""},
		{"tombstone superseded", []*Record{listed("a", at(1), removed), listed("b", inSession("t"), at(2))}, "b", ""},
		{"tombstone hides its process", []*Record{listed("a", isProcess), listed("b", removed)}, "", ""},
		{"tombstone hides its legacy record", []*Record{listed("a", legacy), listed("b", removed)}, "", ""},
		{"tombstone hides its unresolved record", []*Record{listed("a", notFound), listed("b", removed)}, "", ""},
		{"tombstone among three", []*Record{listed("a"), listed("b", inProcess("5"), removed), listed("c", inProcess("6"))}, "a* c*", "a c"},
	}
	for _, h := range []string{"claude", "codex", "gemini", "qwen", "copilot", "pi"} {
		tests = append(tests, test{"superseded of " + h,
			[]*Record{listed("a", ofHarness(h), at(1)), listed("b", ofHarness(h), at(2), inSession("t"))}, "b", ""})
	}
	for _, h := range []string{"opencode", "other"} {
		tests = append(tests, test{"several sessions of " + h,
			[]*Record{listed("a", ofHarness(h), at(1)), listed("b", ofHarness(h), at(2), inSession("t"))}, "a b", ""})
	}
	for _, test := range tests {
		for order := range 3 { // as given, reversed, shuffled
			records := slices.Clone(test.records)
			var before []Record
			switch order {
			case 1:
				slices.Reverse(records)
			case 2:
				rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			}
			for _, r := range records {
				before = append(before, *r)
			}
			asked := make(map[string]int)
			preferred, hidden := Prefer(records, func(r *Record) bool {
				asked[r.Title]++
				return r.Tool == "dead"
			})
			var got []string
			position := -1
			for _, p := range preferred {
				name := p.Title
				if p.Duplicate {
					name += "*"
				}
				got = append(got, name)
				if at := slices.Index(records, p.Record); at <= position {
					t.Errorf("%s: not in the order given: %v", test.name, got)
				} else {
					position = at
				}
			}
			if len(preferred)+len(hidden) != len(records) {
				t.Errorf("%s: %d of %d records are shown, %d hidden", test.name, len(preferred), len(records), len(hidden))
			}
			slices.Sort(got)
			want := strings.Fields(test.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s, order %d: got %q, want %q", test.name, order, got, want)
			}
			wantAsked := make(map[string]int)
			for _, name := range strings.Fields(test.asked) {
				wantAsked[name] = 1
			}
			if !reflect.DeepEqual(asked, wantAsked) {
				t.Errorf("%s, order %d: asked about %v, want %v", test.name, order, asked, wantAsked)
			}
			for i, r := range records {
				equalRecords(t, test.name, r, &before[i])
			}
		}
	}
}

// A record is hidden for a reason, and for another record that stands.
func TestHidden(t *testing.T) {
	a, b := listed("a"), listed("b", inProcess("5"))
	for _, test := range []struct {
		why    string
		hidden *Record
		by     *Record
	}{
		{"its session has a record of schema 1", listed("x", legacy), a},
		{"its session has a record that names the process", listed("x", notFound), a},
		{"the session of its process is known", listed("x", isProcess), a},
		{"its process works on another session", listed("x", inSession("t"), at(1)), a},
		{"its session lives in another process", listed("x", isDead), b},
		{"it was removed", listed("x", removed, inSession("t"), inProcess("7")), nil},
	} {
		records := []*Record{test.hidden}
		for _, r := range []*Record{a, b} {
			if test.by == nil || r == test.by {
				records = append(records, r)
			}
		}
		_, hidden := Prefer(records, func(r *Record) bool { return r.Tool == "dead" })
		if want := []Hidden{{test.hidden, test.why, test.by}}; !reflect.DeepEqual(hidden, want) {
			t.Errorf("hidden %+v, want %+v", hidden, want)
		}
	}
}

// TestPreferSameInAnyOrder: the order in which a directory lists its files
// decides nothing, even between records that look alike.
func TestPreferSameInAnyOrder(t *testing.T) {
	var records []*Record
	for i := range 6 {
		records = append(records, listed(fmt.Sprint(i), inSession(fmt.Sprint("s", i)), withTS(1)))
	}
	for name, records := range map[string][]*Record{
		"alike": records,
		"one without a time": {
			listed("a", inSession("1"), at(0), withTS(5)), listed("b", inSession("2"), at(100), withTS(1)),
			listed("c", inSession("3"), at(50), withTS(9)),
		},
	} {
		first := ""
		for range 20 {
			rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			got, _ := Prefer(records, nil)
			if len(got) != 1 {
				t.Fatalf("%s: %d records are shown, want one", name, len(got))
			}
			if first == "" {
				first = got[0].Title
			}
			if got[0].Title != first {
				t.Fatalf("%s: got %s, then %s", name, first, got[0].Title)
			}
		}
	}
}
