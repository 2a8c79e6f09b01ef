package fsstore

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/internal/jsonstream"
)

// TestVectors: the names of records are the same in every implementation.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/canonical-ids.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Harness     string `json:"harness_id"`
		Session     string `json:"session_id"`
		Instance    string `json:"instance_id"`
		Tuple       string `json:"tuple_utf8_hex"` // of some
		CanonicalID string `json:"canonical_id"`
		File        string
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 12 {
		t.Errorf("got %d vectors, want 12", len(vectors))
	}
	s, path := openStore(t)
	tuples := 0
	for _, v := range vectors {
		key := Key{v.Harness, v.Session, v.Instance}
		if v.Tuple != "" {
			tuples++
			b := []byte{'['}
			for i, part := range []string{v.Harness, v.Session, v.Instance} {
				if i > 0 {
					b = append(b, ',')
				}
				b = jsonstream.AppendMinimal(b, part)
			}
			if got := hex.EncodeToString(append(b, ']')); got != v.Tuple {
				t.Errorf("%+v: tuple\n got %s\nwant %s", key, got, v.Tuple)
			}
		}
		if got := key.CanonicalID(); got != v.CanonicalID {
			t.Errorf("%+v: canonical id: got %s, want %s", key, got, v.CanonicalID)
		}

		r := simple(v.Session)
		if v.Instance == Unresolved {
			r = unresolvedRecord(v.Session)
		}
		r.Key = key
		written := update(t, s, key, to(r))
		if got := get(t, s, key); got == nil || got.Key != key || written.Key != key {
			t.Errorf("%+v: stored under another key: %+v", key, got)
		}
		if _, err := os.Stat(filepath.Join(path, "sessions", v.File)); err != nil {
			t.Error(err)
		}
	}
	if tuples < 11 {
		t.Errorf("got %d tuples, want 11", tuples)
	}
	records, bad, err := s.All()
	if len(records) != len(vectors) || len(bad) != 0 || err != nil {
		t.Errorf("All: got %d records, unreadable %v, %v, want %d", len(records), bad, err, len(vectors))
	}
	for _, name := range names(t, path, "sessions") {
		switch {
		case isRecordFile(name),
			strings.HasPrefix(name, ".fleet-v1-session-") && len(name) == len(".fleet-v1-session-.lock")+64,
			strings.HasPrefix(name, ".fleet-v1-") && len(name) == len(".fleet-v1-.lock")+64:
		default:
			t.Errorf("sessions/ holds %q", name)
		}
	}
}

// TestLockNames: the Python implementation takes the same locks.
func TestLockNames(t *testing.T) {
	s, path := openStore(t)
	update(t, s, Key{"claude", "session-1", Unresolved}, to(unresolvedRecord("session-1")))
	got := strings.Join(names(t, path, "sessions"), "\n")
	want := strings.Join([]string{
		".fleet-v1-a2d76972dd4940dc7a503751ebd9ec405bd2cf29106324b3ffb5633133440b7b.lock",
		// SHA-256 of ["claude","session-1"], by sha256sum(1).
		".fleet-v1-session-d768a79ec4152c1e23cec02fa42828270fd8d38d86999ce723d217291d4f23db.lock",
		"fleet-v1-a2d76972dd4940dc7a503751ebd9ec405bd2cf29106324b3ffb5633133440b7b.json",
	}, "\n")
	if got != want {
		t.Errorf("sessions/ holds\n%s\nwant\n%s", got, want)
	}
}

func TestIsRecordFile(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	for name, want := range map[string]bool{
		"fleet-v1-" + digest + ".json":                  true,
		"fleet-v1-" + digest[1:] + ".json":              false,
		"fleet-v1-0" + digest + ".json":                 false,
		"fleet-v1-" + strings.ToUpper(digest) + ".json": false,
		"fleet-v2-" + digest + ".json":                  false,
		"fleet-v1-" + digest + ".JSON":                  false,
		"fleet-v1-" + digest[1:] + "/.json":             false,
		"5b0c1a1e-7d2e-4e0a-9a83-0f3b1ad5a111.json":     false,
		"": false,
	} {
		if got := isRecordFile(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
