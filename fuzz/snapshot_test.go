package fuzz

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tongs-agents/fsstore"
)

// FuzzSnapshot gives the hook any snapshot after one of an instance that it may
// be about. One that is refused changes nothing. One that is taken leaves
// records and indexes, which name the sessions that have not ended.
func FuzzSnapshot(f *testing.F) {
	for _, text := range []string{
		`{"id":"e1","status":{"s1":"idle","s3":"busy"},"blocking":["s1"],"errors":["s3"],"titles":{"s1":"t"},"cwds":{"s1":"/x"},"cwd":"/w","cmdline":["opencode","serve"]}`,
		`{"id":"e1","status":{}}`,
		`{"id":"e1","status":{},"blocking":["s2"],"errors":["s1","\u00e9\"\\"]}`,
		`{"id":"1","status":{"s1":"retry"}}`,
		`{"id":1,"pid":null,"status":{"s1":"busy"},"titles":{"s1":null}}`,
		`{"id":"e1","pid":"1","status":{"s1":"idle","s1":"busy"}}`,
		`{"id":"e1","status":{"s1":"running"}}`,
		`{"id":"e1","status":{"s1\u0000":"idle"}}`,
		`{"id":"unresolved","status":{"s1":"idle"}}`,
		`{"status":{"s1":"idle"},"id":"e1","id":"e2"}`,
		`{"id":"e1","status":{"s1":"idle"}`,
		`[]`,
	} {
		f.Add([]byte(text), "opencode")
	}
	state := f.TempDir()
	f.Setenv("TONGS_AGENTS_STATE_DIR", state)
	for _, name := range []string{"TONGS_AGENTS_DISABLE", "TONGS_AGENTS_PRIVATE", fsstore.EnvLaunchID} {
		f.Setenv(name, "")
	}
	f.Fuzz(func(t *testing.T, payload []byte, agent string) {
		if err := os.RemoveAll(filepath.Join(state, "sessions")); err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot(t, []byte(`{"id":"e1","status":{"s1":"busy","s2":"idle"},"errors":["s2"]}`), 1, "opencode"); err != nil {
			t.Fatal(err)
		}
		for boottime := int64(2); boottime < 4; boottime++ {
			before := sessionFiles(t, state)
			_, err := snapshot(t, payload, boottime, agent)
			check(t, state)
			if err != nil && err.Error() != "nothing changes" && !slices.Equal(before, sessionFiles(t, state)) {
				t.Errorf("refused (%v), but changed", err)
			}
			checkIndexes(t, state)
		}
		closeBelow(t, state)
	})
}

func snapshot(t *testing.T, payload []byte, boottime int64, agent string) (string, error) {
	t.Helper()
	return give(t, payload, boottime, "snapshot", "--agent", agent)
}

// sessionFiles returns the files of the store with their contents.
func sessionFiles(t *testing.T, state string) []string {
	t.Helper()
	dir := filepath.Join(state, "sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, e.Name()+" "+string(text))
	}
	return files
}

// checkIndexes checks that the indexes are what they must be, and that there is
// no live record that none of them names.
func checkIndexes(t *testing.T, state string) {
	t.Helper()
	s, err := fsstore.Open(state, fsstore.Read)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	contents, err := s.Contents()
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[fsstore.Key]bool)
	for _, name := range contents.Instances() {
		i, err := s.Instance(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, session := range i.Sessions {
			named[fsstore.Key{Harness: i.Harness, Session: session, Instance: i.ID}] = true
		}
	}
	records, _, err := s.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if ended := r.Status == fsstore.Ended; named[r.Key] == ended {
			t.Errorf("%+v: ended %t, named by an index %t", r.Key, ended, named[r.Key])
		}
	}
}
