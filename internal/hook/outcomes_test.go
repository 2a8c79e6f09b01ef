package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/proc"
)

// standIn starts a process that bears the name of a harness, and returns its
// pid. It lives as long as the test.
func standIn(t *testing.T, h *harness.Harness) int { return standInAt(t, h, "") }

// run is RunArgs for a hook whose parent is the given process. No record
// written is nil without an error.
func run(t *testing.T, parent int, args []string, payload []byte) (*fsstore.Record, error) {
	t.Helper()
	c, err := parseArgs(args)
	if err != nil {
		return nil, err
	}
	clock++
	e := event{via: "hook", parent: parent, ts: clock, boottime: clock}
	reader := jsonstream.NewBytes(payload)
	var ch change
	if c.event == fleetEvent {
		ch, err = readEmission(c, reader, e)
	} else {
		ch, err = readEvent(c, reader, e)
	}
	if err != nil {
		return nil, err
	}
	return store(ch)
}

// clock is the time of the latest event that run made up, for both its clocks.
var clock int64 = 1000

// allStored returns the records of the store.
func allStored(t *testing.T) []*fsstore.Record {
	t.Helper()
	dir, err := fsstore.StateDir()
	if err != nil {
		t.Fatal(err)
	}
	s, err := fsstore.Open(dir, fsstore.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records, bad, err := s.All()
	if err != nil || len(bad) > 0 {
		t.Fatalf("unreadable %v, %v", bad, err)
	}
	return records
}

// stored returns the only record of the store, or nil.
func stored(t *testing.T) *fsstore.Record {
	t.Helper()
	switch records := allStored(t); len(records) {
	case 0:
		return nil
	case 1:
		return records[0]
	default:
		t.Fatalf("got %d records", len(records))
		return nil
	}
}

// showAll is show with the rest of what a payload says.
func showAll(r *fsstore.Record) string {
	text := show(r)
	for _, f := range []struct{ name, value string }{
		{"tool", r.Tool}, {"title", r.Title}, {"model", r.Model}, {"end_reason", r.EndReason},
	} {
		if f.value != "" {
			text += " | " + f.name + "=" + f.value
		}
	}
	return text
}

func TestOutcomes(t *testing.T) {
	samples, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil || len(samples) == 0 {
		t.Fatalf("samples: %v, %v", samples, err)
	}
	missing := make(map[string]bool)
	for _, sample := range samples {
		missing[strings.TrimPrefix(sample, "testdata/payloads/")] = true
	}

	noEnvironment(t)
	parents := make(map[string]int)
	for _, o := range outcomes {
		delete(missing, o.sample)
		id, _, _ := strings.Cut(o.sample, "/")
		h := harness.ByID(id)
		if parents[id] == 0 {
			parents[id] = standIn(t, h)
		}
		t.Run(o.sample+" after "+or(string(o.before), "nothing"), func(t *testing.T) {
			if source(h.Observed) != o.source {
				t.Errorf("observed: %t, but that of the row of %s is %t", o.source, id, h.Observed)
			}
			t.Setenv("TONGS_AGENTS_STATE_DIR", t.TempDir())
			payload, err := os.ReadFile(filepath.Join("testdata/payloads", o.sample))
			if err != nil {
				t.Fatal(err)
			}
			args := append([]string{"--agent", id}, strings.Fields(o.args)...)
			if o.before != "" {
				prepare(t, h, parents[id], payload, o.before)
			}
			before := stored(t)
			r, err := run(t, parents[id], args, payload)
			after := stored(t)
			if o.want == "" {
				var drop dropped
				if r != nil || err != nil && !errors.As(err, &drop) && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("got %s, %v; want nothing, by the rules", show(r), err)
				}
				if (before == nil) != (after == nil) || after != nil && after.Arrival != before.Arrival {
					t.Errorf("got %s; want no change", show(after))
				}
				return
			}
			if err != nil || after == nil {
				t.Fatalf("got %s, %v; want %s", show(after), err, o.want)
			}
			if got := showAll(after); got != o.want {
				t.Errorf("got  %s\nwant %s", got, o.want)
			}
			want := sampleCwd
			if o.before == "" && !strings.Contains(string(payload), want) { // the harness does not say it
				if want, err = proc.Root.Cwd(parents[id]); err != nil {
					t.Fatal(err)
				}
			}
			if after.Cwd != want {
				t.Errorf("cwd: got %s, want %s", after.Cwd, want)
			}
			if after.Harness != id || after.Identity != fsstore.Identified {
				t.Errorf("got %s, %s", after.Harness, after.Identity)
			}
		})
	}
	for sample := range missing {
		t.Errorf("no outcome of %s", sample)
	}
}

const sampleCwd = "/home/dana/src/ledger-api"

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// prepare writes the record of the session that the payload names, in the given
// status. While waiting it waits for the tool of the payload.
func prepare(t *testing.T, h *harness.Harness, parent int, sample []byte, s fsstore.Status) {
	t.Helper()
	p, err := decodePayload(jsonstream.NewBytes(sample), h.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := proc.Root.Process(parent)
	if err != nil {
		t.Fatal(err)
	}
	key := fsstore.Key{Harness: h.ID, Session: or(p.session, "none"), Instance: instanceOf(owner)}
	if h.Hooks.NoSession {
		key.Session = key.Instance
	}
	dir, _ := fsstore.StateDir()
	st, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := event{
		via: "hook", payload: &payload{cwd: sampleCwd}, kind: harness.SessionStart, harness: h,
		key: key, owner: owner, ts: 1, boottime: 1,
	}
	e.boot, _ = proc.Root.BootID()
	_, err = st.Update(key, fsstore.Rules{Create: true}, func(*fsstore.Record) (*fsstore.Record, error) {
		r := e.apply(st, nil)
		r.Status, r.Detail = s, "before"
		if s == fsstore.Waiting {
			r.WaitingFor = &fsstore.Wait{Tool: p.tool}
		}
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
