package metrics

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"tongs-agents/fsstore"
)

var now = time.Unix(1_700_000_000, 0)

// record makes a record of no process that was reported some seconds ago.
func record(harness, session string, status fsstore.Status, ago int64) *fsstore.Record {
	return &fsstore.Record{
		Key:  fsstore.Key{Harness: harness, Session: session, Instance: fsstore.Unresolved},
		Kind: fsstore.KindSession, Identity: fsstore.Unresolved, Status: status,
		TS: now.Unix() - ago, Arrival: 1, Source: "hook", Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
	}
}

func makeStore(t *testing.T, records ...*fsstore.Record) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, r := range records {
		if _, err := store.Import(r, time.Second); err != nil {
			t.Fatalf("%s: %v", r.Session, err)
		}
	}
	return dir
}

// read returns the metrics of a store as Prometheus reads them, by name and
// labels, after its own linter has looked at them.
func read(t *testing.T, dir string, build Build) map[string]float64 {
	t.Helper()
	s, err := Read(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	text := Append(nil, s, build)
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	got := make(map[string]float64)
	for name, f := range families {
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", name)
		}
		for _, m := range f.GetMetric() {
			key := name
			for _, l := range m.GetLabel() {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			if _, twice := got[key]; twice {
				t.Errorf("%s is there twice", key)
			}
			switch f.GetType() {
			case dto.MetricType_GAUGE:
				got[key] = m.GetGauge().GetValue()
			case dto.MetricType_COUNTER:
				got[key] = m.GetCounter().GetValue()
			default:
				t.Errorf("%s is a %v", name, f.GetType())
			}
		}
	}
	return got
}

func check(t *testing.T, got map[string]float64, want map[string]float64) {
	t.Helper()
	for key, value := range want {
		if v, there := got[key]; !there || v != value {
			t.Errorf("%s is %v (there: %v), want %v", key, v, there, value)
		}
	}
}

func TestNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	got := read(t, dir, Build{"1.2.3", "go1.26"})
	want := map[string]float64{
		"tongs_agents_oldest_wait_seconds":                       0,
		"tongs_agents_resumable_sessions":                        0,
		"tongs_agents_unreadable_records":                        0,
		"tongs_agents_maintenance_last_run_timestamp_seconds":    0,
		"tongs_agents_hook_errors_total":                         0,
		"tongs_agents_hook_last_error_timestamp_seconds":         0,
		"tongs_agents_build_info version=1.2.3 goversion=go1.26": 1,
	}
	check(t, got, want)
	if len(got) != len(want) {
		t.Errorf("got %v, want %d of them", got, len(want))
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the store was made: %v", err)
	}
}

func TestMetrics(t *testing.T) {
	cutOff := func(status fsstore.Status, pid string) *fsstore.Record {
		r := record("claude", "cut-off-"+pid, status, 30)
		r.Cwd, r.Repo, r.Resume = "/src/app", "app", []string{"claude", "--resume", r.Session}
		r.PID, r.ProcessStart, r.Instance, r.Identity = pid, "1", pid+":1", fsstore.Identified
		return r
	}
	dir := makeStore(t,
		record("claude", "a", fsstore.Waiting, 50), record("claude", "b", fsstore.Waiting, 7),
		record("claude", "c", fsstore.Idle, 500), record("claude", "d", fsstore.Idle, 5),
		record("codex", "e", fsstore.Ended, 9000), record("other", "f", fsstore.Error, 9000),
		record("other", "never", fsstore.Waiting, now.Unix()),               // its time is not known
		cutOff(fsstore.Running, "5000000"), cutOff(fsstore.Idle, "5000001"), // more than any pid
	)
	store, err := fsstore.Open(dir, fsstore.Write)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.SetStamp("00000000-0000-4000-8000-000000000000"); err != nil {
		t.Fatal(err)
	}
	stamp := filepath.Join(dir, "sessions", ".fleet-maintenance.stamp")
	if err := os.Chtimes(stamp, now, now.Add(-77*time.Second)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := fsstore.NoteHookError(dir, "no space", 1_699_999_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sessions", "torn.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}

	got := read(t, dir, Build{`a"b\c` + "\n", "go"})
	check(t, got, map[string]float64{
		"tongs_agents_sessions harness=claude status=waiting":    2,
		"tongs_agents_sessions harness=claude status=idle":       3,
		"tongs_agents_sessions harness=claude status=running":    1,
		"tongs_agents_sessions harness=claude status=started":    0,
		"tongs_agents_sessions harness=codex status=ended":       1,
		"tongs_agents_sessions harness=codex status=waiting":     0,
		"tongs_agents_sessions harness=other status=error":       1,
		"tongs_agents_sessions_needing_attention harness=claude": 3,
		"tongs_agents_sessions_needing_attention harness=codex":  0,
		"tongs_agents_oldest_wait_seconds":                       50,
		"tongs_agents_resumable_sessions":                        1,
		"tongs_agents_unreadable_records":                        1,
		"tongs_agents_maintenance_last_run_timestamp_seconds":    float64(now.Unix() - 77),
		"tongs_agents_hook_errors_total":                         3,
		"tongs_agents_hook_last_error_timestamp_seconds":         1_699_999_000,
		"tongs_agents_build_info version=a\"b\\c\n goversion=go": 1,
	})
	series := 0
	for key := range got {
		if strings.HasPrefix(key, "tongs_agents_sessions ") {
			series++
		}
	}
	if want := 3 * len(fsstore.Statuses); series != want {
		t.Errorf("%d series of sessions, want %d: each status of three agents", series, want)
	}
}

// A count that cannot be read is not said to be 0.
func TestBadHookErrors(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"no JSON": func(path string) error { return os.WriteFile(path, []byte("?"), 0o600) },
		"a loop":  func(path string) error { return os.Symlink(path, path) },
		"a socket": func(path string) error { // which cannot be opened, whoever tries
			_, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			return err
		},
	} {
		dir := makeStore(t)
		if err := put(filepath.Join(dir, "hook-errors")); err != nil {
			t.Fatal(err)
		}
		for key := range read(t, dir, Build{"1", "go"}) {
			if strings.Contains(key, "hook") {
				t.Errorf("%s: there is %s", what, key)
			}
		}
	}
}

func TestUnusable(t *testing.T) {
	dir := makeStore(t)
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if s, err := Read(link, now); err == nil {
		t.Errorf("Read of a link = %+v", s)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "resumable")); err != nil {
		t.Fatal(err)
	}
	if s, err := Read(dir, now); err == nil {
		t.Errorf("Read with a link to the archive = %+v", s)
	}
}

// Each metric is in the documentation, and no other.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "| `tongs_agents_"); ok {
			name, _, _ := strings.Cut(rest, "`")
			name, _, _ = strings.Cut(name, "{")
			documented["tongs_agents_"+name] = true
		}
	}
	for _, f := range families(Snapshot{HookErrors: &fsstore.HookErrors{}}, Build{}) {
		if !documented[f.name] {
			t.Errorf("%s is not documented", f.name)
		}
		delete(documented, f.name)
	}
	if len(documented) > 0 {
		t.Errorf("documented, but there is no %s", fmt.Sprint(documented))
	}
}
