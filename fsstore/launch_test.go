package fsstore

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestLaunch(t *testing.T) {
	s, path := openStore(t)
	id := strings.Repeat("0123456789abcdef", 2)
	if _, err := s.Launch(id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no launches: got %v, want fs.ErrNotExist", err)
	}
	dir := path + "/launches"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Launch(id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such launch: got %v, want fs.ErrNotExist", err)
	}
	file := dir + "/" + id + ".json"
	writeText(t, file, `{"launch_id":"x","profile":"work","argv":["a"],"cwd":"/","pid":"5","process_start":"6","boot_id":"b"}`)
	want := Launch{ID: id, Profile: "work", Argv: []string{"a"}, Cwd: "/", PID: "5", ProcessStart: "6", BootID: "b"}
	if got, err := s.Launch(id); !reflect.DeepEqual(got, want) || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for name, text := range map[string]string{
		"empty": "", "half": `{"pid":"5"`, "number": `{"pid":5}`, "argv": `{"argv":"make"}`, "argument": `{"argv":[1]}`, "array": "[]", "NUL": `{"pid":"\u0000"}`, "long": strings.Repeat(" ", MaxRecord+1),
	} {
		writeText(t, file, text)
		if _, err := s.Launch(id); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	within(t, "FIFO", func() {
		if _, err := s.Launch(id); !errors.Is(err, ErrInvalid) {
			t.Errorf("FIFO: got %v, want ErrInvalid", err)
		}
	})
	for _, bad := range []string{"", id[1:], id + "0", strings.ToUpper(id), "../sessions/" + id[12:], strings.Repeat("g", 32)} {
		if _, err := s.Launch(bad); !errors.Is(err, ErrInvalid) || IsLaunchID(bad) {
			t.Errorf("%q: got %v, want ErrInvalid", bad, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Launch(id); !errors.Is(err, ErrUnavailable) {
		t.Errorf("link: got %v, want ErrUnavailable", err)
	}
}

func newLaunch(digit string) *Launch {
	return &Launch{
		ID: strings.Repeat(digit, 32), Profile: "work", Argv: []string{"make", "", "-j4"}, Cwd: "/src/app",
		PID: "4242", ProcessStart: "81868", BootID: "b1",
	}
}

// What AddLaunch writes Launch reads, and nobody else.
func TestAddLaunch(t *testing.T) {
	for name, umask := range map[string]int{"usual": 0o022, "open": 0, "closed": 0o777} {
		t.Run(name, func(t *testing.T) {
			s, path := openStore(t)
			defer unix.Umask(unix.Umask(umask))
			want := newLaunch("a")
			if err := s.AddLaunch(want); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Launch(want.ID); !reflect.DeepEqual(got, *want) || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, *want)
			}
			checkText(t, path+"/launches/"+want.ID+".json", `{"profile":"work","argv":["make","","-j4"],"cwd":"/src/app",`+
				`"pid":"4242","process_start":"81868","boot_id":"b1"}`+"\n")
			for file, want := range map[string]fs.FileMode{"/launches": fs.ModeDir | 0o700, "/launches/" + want.ID + ".json": 0o600} {
				if st, err := os.Lstat(path + file); err != nil || st.Mode() != want {
					t.Errorf("%s: mode %v, %v, want %v", file, st.Mode(), err, want)
				}
			}
			again := newLaunch("a")
			again.Profile = "other"
			if err := s.AddLaunch(again); !errors.Is(err, fs.ErrExist) {
				t.Errorf("the id again: got %v, want fs.ErrExist", err)
			}
			if got, err := s.Launch(want.ID); got.Profile != "work" || err != nil {
				t.Errorf("got %+v, %v after the second one", got, err)
			}
			if got := names(t, path, "launches"); len(got) != 1 {
				t.Errorf("launches holds %q", got)
			}
		})
	}
}

// A launch with the longest texts, all of them escaped, can be read.
func TestAddLaunchLongest(t *testing.T) {
	s, _ := openStore(t)
	l := newLaunch("a")
	l.Profile = strings.Repeat("\x1f", MaxProfile)
	l.Cwd = strings.Repeat("\x1f", MaxCwd)
	l.Argv = make([]string, MaxLaunchArgs)
	for i := range l.Argv {
		l.Argv[i] = strings.Repeat("\x1f", MaxLaunchArgv/MaxLaunchArgs)
	}
	if err := s.AddLaunch(l); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Launch(l.ID); !reflect.DeepEqual(got, *l) || err != nil {
		t.Errorf("got %v", err)
	}
}

func TestAddLaunchRefused(t *testing.T) {
	for name, change := range map[string]func(*Launch){
		"id":                func(l *Launch) { l.ID = "../" + l.ID[3:] },
		"profile too long":  func(l *Launch) { l.Profile = strings.Repeat("x", MaxProfile+1) },
		"profile of bytes":  func(l *Launch) { l.Profile = "\xff" },
		"cwd too long":      func(l *Launch) { l.Cwd = strings.Repeat("x", MaxCwd+1) },
		"pid":               func(l *Launch) { l.PID = "-1" },
		"start":             func(l *Launch) { l.ProcessStart = "1.5" },
		"boot too long":     func(l *Launch) { l.BootID = strings.Repeat("x", maxID+1) },
		"many arguments":    func(l *Launch) { l.Argv = make([]string, MaxLaunchArgs+1) },
		"long arguments":    func(l *Launch) { l.Argv = []string{"x", strings.Repeat("x", MaxLaunchArgv)} },
		"argument of bytes": func(l *Launch) { l.Argv = []string{"\xff"} },
		"argument with NUL": func(l *Launch) { l.Argv = []string{"\x00"} },
	} {
		s, path := openStore(t)
		l := newLaunch("a")
		change(l)
		if err := s.AddLaunch(l); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
		if got := names(t, path); len(got) != 1 {
			t.Errorf("%s: the state directory holds %q", name, got)
		}
	}
}

// A launch that cannot be written leaves nothing.
func TestAddLaunchUnwritable(t *testing.T) {
	s, path := openStore(t)
	writeText(t, path+"/launches", "")
	if err := s.AddLaunch(newLaunch("a")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a file: got %v, want ErrUnavailable", err)
	}
	if _, err := s.Launches(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a file: got %v, want ErrUnavailable", err)
	}
	checkText(t, path+"/launches", "")
}

func TestLaunches(t *testing.T) {
	s, path := openStore(t)
	if got, err := s.Launches(); len(got) != 0 || err != nil {
		t.Errorf("no launches: got %v, %v", got, err)
	}
	a, b := newLaunch("a"), newLaunch("b")
	for _, l := range []*Launch{a, b} {
		if err := s.AddLaunch(l); err != nil {
			t.Fatal(err)
		}
	}
	dir := path + "/launches/"
	old := time.Now().Add(-8 * 24 * time.Hour)
	if err := os.Chtimes(dir+b.ID+".json", old, old); err != nil {
		t.Fatal(err)
	}
	broken := strings.Repeat("c", 32)
	writeText(t, dir+broken+".json", "{")
	for _, name := range []string{".fleet-tmp-1-a-1.tmp", "notes.json", broken, broken + ".json.bak"} {
		writeText(t, dir+name, "{}")
	}
	files, err := s.Launches()
	if err != nil || len(files) != 3 {
		t.Fatalf("got %+v, %v, want 3 files", files, err)
	}
	got := map[string]LaunchFile{}
	for _, f := range files {
		got[f.ID] = f
	}
	now := time.Now().Unix()
	if f := got[a.ID]; f.Err != nil || !reflect.DeepEqual(f.Launch, *a) || f.Written < now-60 || f.Written > now {
		t.Errorf("got %+v, want %+v", f, *a)
	}
	if f := got[b.ID]; f.Err != nil || f.Written != old.Unix() {
		t.Errorf("got %+v, want one written at %d", f, old.Unix())
	}
	if f := got[broken]; !errors.Is(f.Err, ErrInvalid) || f.Written == 0 {
		t.Errorf("got %+v, want ErrInvalid", f)
	}

	for id, want := range map[string]error{a.ID: nil, broken: nil, strings.Repeat("d", 32): fs.ErrNotExist, "../sessions": ErrInvalid} {
		if err := s.RemoveLaunch(id); !errors.Is(err, want) {
			t.Errorf("remove %s: got %v, want %v", id, err, want)
		}
	}
	if got, err := s.Launches(); len(got) != 1 || got[0].ID != b.ID || err != nil {
		t.Errorf("got %+v, %v, want b alone", got, err)
	}
}
