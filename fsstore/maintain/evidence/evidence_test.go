package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

func TestByHarness(t *testing.T) {
	for _, test := range []struct {
		id                 string
		source, identifies bool
	}{
		{"claude", true, true},
		{"codex", true, false},
		{"gemini", false, false},
		{"other", false, false},
		{"", false, false},
	} {
		s := ByHarness(test.id, proc.Root)
		_, identifies := s.(Identifier)
		if s != nil != test.source || identifies != test.identifies {
			t.Errorf("%q: got %T, identifies: %t", test.id, s, identifies)
		}
	}
}

// hostile are things that may stand in the place of a file whose contents
// would be evidence. Each is made at path and may use the directory outside.
var hostile = []struct {
	name string
	make func(path, outside, contents string) error
}{
	{"missing", func(path, outside, contents string) error { return nil }},
	{"empty", func(path, outside, contents string) error { return os.WriteFile(path, nil, 0o600) }},
	{"first half", func(path, outside, contents string) error {
		return os.WriteFile(path, []byte(contents[:len(contents)/2]), 0o600)
	}},
	{"zeros", func(path, outside, contents string) error {
		return os.WriteFile(path, make([]byte, len(contents)), 0o600)
	}},
	{"zeros behind it", func(path, outside, contents string) error {
		return os.WriteFile(path, append([]byte(strings.TrimSuffix(contents, "\n")), make([]byte, 100)...), 0o600)
	}},
	{"no text", func(path, outside, contents string) error {
		return os.WriteFile(path, []byte("\xff\xfe{}\x00\n[]\nnull\n\"x\"\n{\n}\n"), 0o600)
	}},
	{"300 MB, sparse", func(path, outside, contents string) error {
		return orErr(os.WriteFile(path, []byte(contents), 0o600), os.Truncate(path, 300<<20))
	}},
	{"link to it", func(path, outside, contents string) error {
		target := filepath.Join(outside, "target")
		return orErr(os.WriteFile(target, []byte(contents), 0o600), os.Symlink(target, path))
	}},
	{"dangling link", func(path, outside, contents string) error {
		return os.Symlink(filepath.Join(outside, "missing"), path)
	}},
	{"FIFO", func(path, outside, contents string) error { return unix.Mkfifo(path, 0o600) }},
	{"directory", func(path, outside, contents string) error { return os.Mkdir(path, 0o700) }},
	{"device", func(path, outside, contents string) error { return os.Symlink("/dev/zero", path) }},
	{"of another user", func(path, outside, contents string) error {
		return orErr(os.WriteFile(path, []byte(contents), 0o644), os.Chown(path, os.Geteuid()+1, -1))
	}},
}

func orErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// testHostile replaces the evidence at path, which observe reads, by what is
// none.
func testHostile(t *testing.T, path string, observe func() (Observation, bool)) {
	t.Helper()
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := observe(); !ok {
		t.Fatalf("got %+v, want evidence before it is replaced", o)
	}
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := h.make(path, t.TempDir(), string(contents)); err != nil {
				if os.IsPermission(err) {
					t.Skip(err)
				}
				t.Fatal(err)
			}
			start := time.Now()
			if o, ok := observe(); ok {
				t.Errorf("got %+v, want nothing", o)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func write(t testing.TB, path, contents string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	contents, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(contents)
}

// clock is the form in which the tables give the time of an observation.
const clock = "15:04:05.000"

// summary is an observation on one line, "" for none.
func summary(o Observation, ok bool) string {
	if !ok {
		if o != (Observation{}) {
			return fmt.Sprintf("nothing, but %+v", o)
		}
		return ""
	}
	s := fmt.Sprintf("%s %s %.8s", o.At.UTC().Format(clock), o.Status, o.Session)
	if o.Automatic {
		s += " automatic"
	}
	for _, text := range []string{o.Detail, o.Cwd, o.Mode} {
		if text != "" {
			s += " " + strconv.Quote(text)
		}
	}
	return s
}

func record(harness, session string) *fsstore.Record {
	return &fsstore.Record{Key: fsstore.Key{Harness: harness, Session: session}, Kind: fsstore.KindSession, Status: fsstore.Running}
}
