package main

import (
	"strings"
	"testing"
)

func TestDifferences(t *testing.T) {
	show := func(rows string) observation {
		v, err := parseView(`{"sessions":[` + rows + `]}`)
		if err != nil {
			t.Fatal(err)
		}
		return observation{v, v, v}
	}
	row := func(session, status, cwd string) string {
		return `{"session_id":"` + session + `","harness_id":"claude","status":"` + status + `","detail":"","ts":1,"cwd":"` + cwd + `","recent":[{"event":"x","ts":5}]}`
	}
	old, new := show(row("a", "running", "/a")), show(row("a", "idle", "/a")+","+row("b", "running", "/a"))
	for _, tt := range []struct {
		name, rows string
		loose      bool
		want       string // in what is wrong
	}{
		{name: "old", rows: row("a", "running", "/a")},
		{name: "new", rows: row("b", "running", "/a") + "," + row("a", "idle", "/a")},
		{name: "one of each", rows: row("a", "idle", "/a")},
		{name: "times", rows: strings.ReplaceAll(row("a", "running", "/a"), `"ts":`, `"ts":9`)},
		{name: "gone", rows: "", want: "session a is missing"},
		{name: "another status", rows: row("a", "ended", "/a"), want: "session a is"},
		{name: "another directory", rows: row("a", "idle", "/x"), want: "session a is"},
		{name: "another directory, loose", rows: row("a", "idle", "/x"), loose: true},
		{name: "another session", rows: row("a", "idle", "/a") + "," + row("c", "idle", "/a"), want: "session c is"},
	} {
		wrong := strings.Join(differences(show(tt.rows), tt.loose, old, new), "\n")
		if tt.want == "" && wrong != "" || !strings.Contains(wrong, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, wrong, tt.want)
		}
	}
	for _, bad := range []string{"", "{", `{"sessions":[` + row("a", "idle", "") + "," + row("a", "idle", "") + "]}"} {
		if _, err := parseView(bad); err == nil {
			t.Errorf("%q is a view", bad)
		}
	}
}
