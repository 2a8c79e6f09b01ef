package listing

import (
	"fmt"
	"testing"

	"tongs-agents/fsstore"
)

func TestFilter(t *testing.T) {
	rows := readStore(t, makeStore(t,
		record("codex", "a", fsstore.Waiting, 1, func(r *fsstore.Record) { r.Cwd, r.Mode = "/src/app", fsstore.Headless }),
		record("claude", "b", fsstore.Running, 1, func(r *fsstore.Record) { r.Cwd = "/src/app/sub" }),
		record("claude", "c", fsstore.Ended, 1, func(r *fsstore.Record) {
			r.Recent = []fsstore.Recent{{Event: "e", Status: fsstore.Running}, {Event: "f", Status: fsstore.Ended}}
		}),
	)).Rows
	for _, test := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "a b c"},
		{Filter{Agents: []string{"claude"}}, "b c"},
		{Filter{Agents: []string{"claude", "codex"}, States: []string{"waiting", "ended"}}, "a c"},
		{Filter{Modes: []string{fsstore.Headless}}, "a"},
		{Filter{States: []string{"running"}, Last: true}, "b c"},
		{Filter{Dirs: []string{"/src/app"}}, "a b"},
		{Filter{Dirs: []string{"/src/app/sub", "/other"}}, "b"},
		{Filter{Dirs: []string{"/other"}}, ""},
	} {
		got := ""
		for _, r := range test.filter.Apply(rows) {
			got += r.Session + " "
		}
		if want := fmt.Sprint(test.want, " "); got != want && got != test.want {
			t.Errorf("%+v lets through %q, want %q", test.filter, got, test.want)
		}
	}
	if len(rows) != 3 {
		t.Error("the rows have changed")
	}
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		path, dir string
		want      bool
	}{
		{"/src/app", "/src/app", true},
		{"/src/app/sub", "/src/app", true},
		{"/src/application", "/src/app", false},
		{"/src", "/src/app", false},
		{"/src", "/", true},
		{"/", "/", true},
		{"", "/", false}, // not known
		{"", "/src", false},
	} {
		if got := within(test.path, test.dir); got != test.want {
			t.Errorf("within(%q, %q) = %v, want %v", test.path, test.dir, got, test.want)
		}
	}
}
