package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
)

// While the command runs, the changes of one session become one; those of
// several keep their order.
func TestRunner(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DIR", dir)
	r := startRunner(`echo "$TONGS_AGENTS_SESSION $TONGS_AGENTS_FROM $TONGS_AGENTS_TO $TONGS_AGENTS_ATTENTION" >>"$DIR/out"
test "$TONGS_AGENTS_SESSION" != first || until test -e "$DIR/go"; do sleep 0.01; done`, io.Discard, io.Discard)
	add := func(session, from, to string, needs bool) {
		row := &fsstore.Annotated{NeedsAttention: to == "waiting"}
		row.Key = fsstore.Key{Harness: "claude", Session: session}
		r.add(listing.Transition{Row: row, From: from, To: to, Needs: needs})
	}
	want := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			got, err := os.ReadFile(filepath.Join(dir, "out"))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if string(got) == text {
				return
			}
			if time.Now().After(deadline) || !strings.HasPrefix(text, string(got)) {
				t.Fatalf("the command ran with\n%swant\n%s", got, text)
			}
		}
	}
	add("first", "new", "running", false)
	want("first new running \n")
	add("a", "running", "waiting", true)
	add("b", "idle", "running", false)
	add("a", "waiting", "running", false)
	add("b", "running", "waiting", true)
	add("b", "waiting", "waiting", false)
	add("first", "running", "error", false)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want("first new running \na running running \nb idle waiting 1\nfirst running error \n")
}
