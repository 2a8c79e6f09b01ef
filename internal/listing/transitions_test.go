package listing

import (
	"slices"
	"testing"

	"tongs-agents/fsstore"
)

func TestTransitions(t *testing.T) {
	first := []*fsstore.Record{record("claude", "a", fsstore.Waiting, 0), record("claude", "b", fsstore.Running, 0)}
	for _, test := range []struct {
		name string
		then []*fsstore.Record
		want []string
	}{
		{"nothing", first, nil},
		{"a state", []*fsstore.Record{first[0], record("claude", "b", fsstore.Error, 0)}, []string{"b running error"}},
		{"into waiting", []*fsstore.Record{first[0], record("claude", "b", fsstore.Waiting, 0)}, []string{"b running waiting needs"}},
		{"out of waiting", []*fsstore.Record{record("claude", "a", fsstore.Running, 0), first[1]}, []string{"a waiting running"}},
		{"into idle for long", []*fsstore.Record{first[0], record("claude", "b", fsstore.Idle, 200)}, []string{"b running idle needs"}},
		{"from one need to another", []*fsstore.Record{record("claude", "a", fsstore.Idle, 200), first[1]}, []string{"a waiting idle"}},
		{"a detail", []*fsstore.Record{first[0], record("claude", "b", fsstore.Running, 0, func(r *fsstore.Record) { r.Detail = "x" })}, nil},
		{"a new one", append(slices.Clone(first), record("pi", "a", fsstore.Started, 0)), []string{"a new started"}},
		{"a new one that waits", append(slices.Clone(first), record("pi", "a", fsstore.Waiting, 0)), []string{"a new waiting needs"}},
		{"one that is gone", first[:1], []string{"b running gone"}},
		{"all gone", nil, []string{"a waiting gone", "b running gone"}},
		{"an end", []*fsstore.Record{first[0], record("claude", "b", fsstore.Ended, 0)}, []string{"b running ended"}},
		{"its process becomes known", []*fsstore.Record{first[0], record("claude", "b", fsstore.Running, 0, in(5, "1"))}, nil},
		{"in another process, with another state", []*fsstore.Record{first[0], record("claude", "b", fsstore.Started, 0, in(5, "1"))}, []string{"b running started"}},
		{"of another agent", []*fsstore.Record{first[0], record("pi", "b", fsstore.Running, 0)}, []string{"b new running", "b running gone"}},
	} {
		var ts Transitions
		if got := words(ts.Next(annotated(first...))); got != nil {
			t.Errorf("%s: what was already is %q", test.name, got)
		}
		if got := words(ts.Next(annotated(test.then...))); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if got := words(ts.Next(annotated(test.then...))); got != nil {
			t.Errorf("%s: it is told again: %q", test.name, got)
		}
	}
}

func TestTransitionsInTime(t *testing.T) {
	steps := func(steps ...[]*fsstore.Record) (got [][]string) {
		var ts Transitions
		for _, s := range steps {
			got = append(got, words(ts.Next(annotated(s...))))
		}
		return got
	}
	for _, test := range []struct {
		name string
		got  [][]string
		want [][]string
	}{
		{"idle comes to need the user once", steps(
			[]*fsstore.Record{record("claude", "a", fsstore.Idle, 100)},
			[]*fsstore.Record{record("claude", "a", fsstore.Idle, 121)},
			[]*fsstore.Record{record("claude", "a", fsstore.Idle, 300)},
		), [][]string{nil, {"a idle attention needs"}, nil}},
		{"an ended session goes in silence", steps(
			[]*fsstore.Record{record("claude", "a", fsstore.Ended, 0)}, nil,
		), [][]string{nil, nil}},
		{"of an empty store", steps(nil, []*fsstore.Record{record("claude", "a", fsstore.Idle, 0)}), [][]string{nil, {"a new idle"}}},
		{"found, then reported", steps(
			[]*fsstore.Record{record("claude", "process", fsstore.Discovered, 0, in(5, "1"), func(r *fsstore.Record) { r.Kind = fsstore.KindProcess })},
			[]*fsstore.Record{record("claude", "a", fsstore.Waiting, 0, in(5, "1"))},
			[]*fsstore.Record{record("claude", "a", fsstore.Waiting, 0, in(5, "1")), record("claude", "b", fsstore.Running, 0, in(5, "2"))},
		), [][]string{nil, {"a discovered waiting needs"}, {"b new running"}}},
		{"opened twice", steps(
			[]*fsstore.Record{record("claude", "a", fsstore.Running, 0, in(5, "1"))},
			[]*fsstore.Record{record("claude", "a", fsstore.Running, 0, in(5, "1")), record("claude", "a", fsstore.Idle, 0, in(6, "1"))},
			[]*fsstore.Record{record("claude", "a", fsstore.Idle, 0, in(6, "1"))},
		), [][]string{nil, {"a new idle"}, {"a running gone"}}},
	} {
		if !slices.EqualFunc(test.got, test.want, slices.Equal) {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
}

func annotated(records ...*fsstore.Record) []*fsstore.Annotated {
	rows := []*fsstore.Annotated{}
	for _, r := range records {
		row := fsstore.Annotate(r, now)
		rows = append(rows, &row)
	}
	return rows
}

func words(changes []Transition) []string {
	var words []string
	for _, c := range changes {
		word := c.Row.Session + " " + c.From + " " + c.To
		if c.Needs {
			word += " needs"
		}
		words = append(words, word)
	}
	return words
}
