package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

// modes returns the permission bits of everything in a state directory.
func modes(t *testing.T, state string) map[string]fs.FileMode {
	t.Helper()
	got := make(map[string]fs.FileMode)
	err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		got[path] = fi.Mode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Whatever the umask is, everything is for the user alone, and the user can use
// it.
func TestUmask(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"0", "022", "077", "0777", "0400", "0200", "0100"} {
		state := filepath.Join(t.TempDir(), "deep", "state")
		a := claude(t, nil)
		for _, payload := range []string{started, payload("s1", "UserPromptSubmit", ""), payload("s1", "Stop", ""), "no JSON"} {
			quiet(t, a.run(hookCall(state, "", payload).inShell("umask "+umask+`; "$@"`)))
		}
		want(t, state, "s1", fsstore.Idle)
		for path, mode := range modes(t, state) {
			if wanted := fs.FileMode(0o600); !mode.IsDir() && mode != wanted || mode.IsDir() && mode.Perm() != 0o700 {
				t.Errorf("umask %s: %s has mode %v", umask, path, mode)
			}
		}
	}
}

// The environment names the state directory; a value that is no absolute path
// does not.
func TestStateDirectory(t *testing.T) {
	t.Parallel()
	const below = ".local/state/tongs-agents"
	tests := []struct{ name, env, want string }{
		{"ours", "TONGS_AGENTS_STATE_DIR=$T/ours XDG_STATE_HOME=$T/xdg HOME=$T/home", "ours"},
		{"ours, slash at the end", "TONGS_AGENTS_STATE_DIR=$T/ours// HOME=$T/home", "ours"},
		{"ours empty", "TONGS_AGENTS_STATE_DIR= XDG_STATE_HOME=$T/xdg HOME=$T/home", "xdg/tongs-agents"},
		{"ours relative", "TONGS_AGENTS_STATE_DIR=ours XDG_STATE_HOME=$T/xdg HOME=$T/home", "xdg/tongs-agents"},
		{"ours with a dot", "TONGS_AGENTS_STATE_DIR=./ours XDG_STATE_HOME=$T/xdg HOME=$T/home", "xdg/tongs-agents"},
		{"XDG", "XDG_STATE_HOME=$T/xdg HOME=$T/home", "xdg/tongs-agents"},
		{"XDG empty", "XDG_STATE_HOME= HOME=$T/home", "home/" + below},
		{"XDG relative", "XDG_STATE_HOME=state HOME=$T/home", "home/" + below},
		{"XDG with a dot", "XDG_STATE_HOME=./x HOME=$T/home", "home/" + below},
		{"home", "HOME=$T/home", "home/" + below},
		{"no home", "XDG_STATE_HOME=$T/xdg", "xdg/tongs-agents"},
	}
	a := claude(t, nil)
	for _, tt := range tests {
		dir := t.TempDir()
		c := call{
			Args: []string{hookPath()}, Stdin: []byte(started), Dir: dir,
			Env: strings.Fields(strings.ReplaceAll(tt.env, "$T", dir)),
		}
		quiet(t, a.run(c))
		want(t, filepath.Join(dir, tt.want), "s1", fsstore.Started)
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%s: got %v", tt.name, entries)
		}
		for path, mode := range modes(t, filepath.Join(dir, strings.SplitN(tt.want, "/", 2)[0])) {
			if mode.IsDir() && mode.Perm() != 0o700 {
				t.Errorf("%s: %s has mode %v", tt.name, path, mode)
			}
		}
	}
}

// mounted runs a script in a mount namespace of its own, as root or as what
// looks like it. The first argument of the script is a directory.
func mounted(t *testing.T, script, dir string, args ...string) {
	t.Helper()
	unshare := []string{"unshare", "-m", "--propagation", "private"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "-r")
	}
	path := process(t, "claude").Path // a name for the shell, that hooks have an owner
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sh, path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(unshare[0], append(unshare[1:], append([]string{path, "-euc", script, "sh", dir}, args...)...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOOK=" + hookPath(), "TONGS_AGENTS_STATE_DIR=" + dir + "/mnt/state"}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
}

// without HOME it is the home directory of the password file.
func TestNoHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	uid := 0 // the user in the namespace
	passwd := fmt.Sprintf("# comment\nbroken\nother:x:4711:1::/nonexistent:/bin/sh\nme:x:%d:1:Me:%s/home:/bin/sh\nme2:x:%d:1::/nonexistent:\n", uid, dir, uid)
	if err := os.WriteFile(filepath.Join(dir, "passwd"), []byte(passwd), 0o600); err != nil {
		t.Fatal(err)
	}
	mounted(t, `
		mount --bind "$1/passwd" /etc/passwd
		unset TONGS_AGENTS_STATE_DIR HOME
		printf %s "$2" | "$HOOK"
		printf %s "$3" | HOME= "$HOOK"
		printf %s "$4" | HOME=relative "$HOOK"
	`, dir, started, payload("s1", "UserPromptSubmit", ""), payload("s1", "Stop", ""))
	if r := want(t, filepath.Join(dir, "home/.local/state/tongs-agents"), "s1", fsstore.Idle); r.Arrival != 3 {
		t.Errorf("arrival_sequence: got %d, want 3", r.Arrival)
	}
}

// A file system that takes no more is no reason to disturb the agent, and the
// record stays as it was.
func TestUnwritableFileSystem(t *testing.T) {
	tests := []struct{ name, spoil string }{
		{"read-only", `mount -o remount,bind,ro "$1/mnt"`},
		{"full", `dd if=/dev/zero of="$1/mnt/fill" 2>/dev/null || :`},
		{"no more files", `i=0; while touch "$1/mnt/fill$i" 2>/dev/null; do i=$((i+1)); done`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, sub := range []string{"mnt", "copy"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			mounted(t, `
				mount -t tmpfs -o size=64k,nr_inodes=12,mode=700 tmpfs "$1/mnt"
				printf %s "$2" | "$HOOK"
				`+tt.spoil+`
				printf %s "$3" | "$HOOK"
				printf %s "$4" | "$HOOK"
				printf no JSON | "$HOOK"
				cp -a "$1/mnt/state" "$1/copy/"
			`, dir, started, payload("s1", "Stop", ""), payload("s2", "SessionStart", ""))
			if r := want(t, filepath.Join(dir, "copy/state"), "s1", fsstore.Started); r.Arrival != 1 {
				t.Errorf("arrival_sequence: got %d, want 1", r.Arrival)
			}
		})
	}
}

// A store that cannot be made is none, without a word.
func TestUnusableStore(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "target")
	if err := os.Mkdir(target, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "linked")
	if err := os.Mkdir(linked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(linked, "sessions")); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{file, file + "/below", link, link + "/", linked, "/proc/tongs-agents", "/" + strings.Repeat("x", 300), "/" + strings.Repeat("x/", 3000)} {
		a.hook(state, "", started)
		a.hook(state, "", payload("s1", "Stop", ""))
	}
	if entries, _ := os.ReadDir(target); len(entries) > 0 {
		t.Errorf("behind a link: got %v", entries)
	}
}

// Something else in the place of a record, or of what guards it.
func TestObstacles(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	for _, name := range []string{"fleet-v1-*.json", ".fleet-v1-session-*.lock", ".fleet-v1-[0-9a-f]*.lock"} {
		for kind, put := range map[string]func(path string) error{
			"directory": func(path string) error { return os.Mkdir(path, 0o700) },
			"link":      func(path string) error { return os.Symlink("/etc/hostname", path) },
			"fifo":      func(path string) error { return exec.Command("mkfifo", path).Run() },
		} {
			state := t.TempDir()
			a.hook(state, "", started)
			paths, _ := filepath.Glob(filepath.Join(state, "sessions", name))
			if len(paths) != 1 {
				t.Fatalf("%s: got %v", name, paths)
			}
			if err := os.Remove(paths[0]); err != nil {
				t.Fatal(err)
			}
			if err := put(paths[0]); err != nil {
				t.Fatal(err)
			}
			a.hook(state, "", payload("s1", "UserPromptSubmit", ""))
			if fi, err := os.Lstat(paths[0]); err != nil || fi.Mode().IsRegular() && name[0] == '.' {
				t.Errorf("%s in place of %s: now %v, %v", kind, name, fi, err)
			}
		}
	}
}

// The directory that a hook runs in may be gone, as may everything else that a
// process takes for granted.
func TestPoorSurroundings(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	tests := []struct{ name, script string }{
		{"deleted directory", `cd "$DIR" && rmdir "$DIR" && "$@"`},
		{"unreadable directory", `cd "$DIR" && chmod 0 "$DIR" && "$@"`},
		{"empty environment", `exec env -i TONGS_AGENTS_STATE_DIR="$TONGS_AGENTS_STATE_DIR" "$@"`},
		{"no HOME", `unset HOME; "$@"`},
		{"few descriptors", `ulimit -n 16; "$@"`},
		{"little stack", `ulimit -s 64; "$@"`},
		{"low priority", `nice -n 19 "$@"`},
		{"broken output", `{ "$@"; echo $? >&9; } 9>"$DIR" | :`},
		{"ignored signals", `trap '' HUP INT QUIT TERM PIPE; "$@"`},
	}
	for _, tt := range tests {
		state, dir := t.TempDir(), filepath.Join(t.TempDir(), "dir")
		if tt.name != "broken output" {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c := hookCall(state, "", started, "DIR="+dir, "PATH="+os.Getenv("PATH")).inShell(tt.script)
		quiet(t, a.run(c))
		if r := record(t, state); r == nil || r.Status != fsstore.Started {
			t.Errorf("%s: got %+v", tt.name, r)
		}
	}
}

// A limit may make a hook fail, but never with status 2, which to some agents
// means that the tool must not run. Before main begins that is the runtime's
// affair.
func TestLimits(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	for _, limit := range []string{
		"-f 0", "-n 3", "-n 4", "-n 5", "-s 64", "-l 0", "-c 0",
		"-v 50000", "-v 700000", "-v 800000", "-v 900000", "-v 1000000", "-v 1100000", "-v 1200000", "-v 1300000", "-v 2000000",
	} {
		state := t.TempDir()
		got := a.run(hookCall(state, "", started).inShell("ulimit " + limit + `; exec "$@"`))
		begun := got.Exit == 0 || strings.Contains(got.Stderr, "main.main") || !strings.Contains(got.Stderr, "runtime")
		if begun && (got.Exit != 0 || got.Stdout != "" || got.Stderr != "") {
			t.Errorf("ulimit %s: exit %d, stdout %q, stderr %.300q", limit, got.Exit, got.Stdout, got.Stderr)
		}
		if r := record(t, state); r != nil && limit == "-f 0" {
			t.Errorf("ulimit %s: got %+v", limit, r)
		}
	}
}

// A lock that somebody keeps is not waited for without end, and for less time
// by the end of a session: agents cut its hooks short.
func TestHeldLock(t *testing.T) {
	for event, patience := range map[string]time.Duration{"Stop": 2 * time.Second, "SessionEnd": time.Second} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			a := claude(t, nil)
			state := t.TempDir()
			a.hook(state, "", started)
			locks, _ := filepath.Glob(filepath.Join(state, "sessions", ".fleet-v1-session-*.lock"))
			if len(locks) != 1 {
				t.Fatalf("got %v", locks)
			}
			lock, err := os.OpenFile(locks[0], os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			got := a.hook(state, "", payload("s1", event, ""))
			if got.took() < patience {
				t.Errorf("gave up after %v, want %v", got.took(), patience)
			}
			want(t, state, "s1", fsstore.Started)
			if event == "SessionEnd" {
				lock.Close()
				a.hook(state, "", payload("s1", event, ""))
				want(t, state, "s1", fsstore.Ended)
			}
		})
	}
}

// A settings file may be newer than the program.
func TestArguments(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	tests := []struct {
		args   string
		status fsstore.Status // "": no record
	}{
		{"", fsstore.Started},
		{"--agent claude", fsstore.Started},
		{"--agent=claude", fsstore.Started},
		{"--newer-option --agent=claude --also=this", fsstore.Started},
		{"prompt-submit", fsstore.Running}, // the alias counts
		{"prompt-submit --agent claude", fsstore.Running},
		{"--agent=claude prompt-submit", fsstore.Running},
		{"nonsense", ""},
		{"SessionStart", ""},
		{"--agent emacs", ""},
		{"--agent=emacs session-start", ""},
		{"--agent=", ""},
		{"--agent", fsstore.Started},
		{"snapshot", ""},
		{"fleet-event", ""},
		{"--help", fsstore.Started},
	}
	for _, tt := range tests {
		state := t.TempDir()
		a.hook(state, tt.args, started)
		got := fsstore.Status("")
		if r := record(t, state); r != nil {
			got = r.Status
		}
		if got != tt.status {
			t.Errorf("%q: got %q, want %q", tt.args, got, tt.status)
		}
	}
}

// An argument that the hook does not know does not keep it from reading what
// the agent writes.
func TestReadsAllWhateverItIs(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	large := payload("s1", "SessionStart", `,"x":"`+strings.Repeat("x", 1<<20)+`"`)
	file := filepath.Join(t.TempDir(), "payload")
	if err := os.WriteFile(file, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"", "nonsense", "--agent emacs", "--agent codex", "--agent opencode", "stop"} {
		// The shell says whether cat was stopped by SIGPIPE.
		c := hookCall(t.TempDir(), args, "").inShell(`{ cat ` + file + ` || echo stopped >&2; } | "$@"`)
		quiet(t, a.run(c))
		quiet(t, a.run(hookCall(t.TempDir(), args, "", "TONGS_AGENTS_DISABLE=1").inShell(`{ cat `+file+` || echo stopped >&2; } | "$@"`)))
	}
	// Nor does a number that is none of ours.
	large = `{"schema_version":1,"event_id":"pi.x","sequence":1e3,"x":"` + strings.Repeat("x", 1<<20) + `"}`
	if err := os.WriteFile(file, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	c := hookCall(t.TempDir(), "fleet-event", "").inShell(`{ cat ` + file + ` || echo stopped >&2; } | "$@"`)
	quiet(t, a.run(c))
	if got := debug(a, c); !strings.Contains(got, "sequence is of a wrong type") {
		t.Errorf("got %q", got)
	}
}

func TestDisabled(t *testing.T) {
	t.Parallel()
	a, _ := piped(t) // nothing comes
	state := filepath.Join(t.TempDir(), "state")
	c := inherit(hookCall(state, "session-start", "", "TONGS_AGENTS_DISABLE=1"))
	quiet(t, a.run(c))
	if got := debug(a, c); !strings.Contains(got, "disabled") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Lstat(state); !os.IsNotExist(err) {
		t.Errorf("the state directory was made: %v", err)
	}
	for _, value := range []string{"", "0", "no"} {
		state := t.TempDir()
		claude(t, nil).hook(state, "", started, "TONGS_AGENTS_DISABLE="+value)
		want(t, state, "s1", fsstore.Started)
	}
}

// With TONGS_AGENTS_DEBUG=1 the hook says one line of what it did or why not,
// whatever the payload holds.
func TestDebug(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	state := t.TempDir()
	tests := []struct{ args, payload, want string }{
		{"", started, "claude.session-start s1: started"},
		{"", payload("s1", "ConfigChange", ""), "ConfigChange"},
		{"", payload("s9", "Stop", ""), "no record"},
		{"", payload("s1", "Notification", `,"notification_type":"auth_success"`), "auth_success"},
		{"", payload(`a\nb\r\u001b[31m\u007f`, "SessionStart", ""), "session-start"},
		{"", payload("s1", `a\nb\r\u001b[31m`, ""), "event"},
		{"nonsense", started, "nonsense"},
		{"--agent emacs", started, "emacs"},
		{"--agent codex", started, "codex"},
		{"", "", "EOF"},
		{"", "{", "EOF"},
		{"", `{"session_id":1}`, "session_id"},
		{"", `{}`, "event"},
		{"fleet-event", `{"event_id":"pi.x"}`, "fleet-event"},
		{"session-start", `{"cwd":"/"}`, "session id"},
	}
	for _, tt := range tests {
		got := a.run(hookCall(state, tt.args, tt.payload, "TONGS_AGENTS_DEBUG=1"))
		line, rest, ended := strings.Cut(got.Stderr, "\n")
		if got.Exit != 0 || got.Stdout != "" || !ended || rest != "" ||
			!strings.HasPrefix(line, "tongs-agents-hook: ") || !strings.Contains(line, tt.want) || strings.ContainsAny(line, "\r\x1b\x7f") {
			t.Errorf("%q %.60s: exit %d, stdout %q, stderr %q; want one line with %q", tt.args, tt.payload, got.Exit, got.Stdout, got.Stderr, tt.want)
		}
	}
	for _, value := range []string{"", "0"} {
		a.hook(state, "", "no JSON", "TONGS_AGENTS_DEBUG="+value)
	}
}

// The message and the title stay where they are.
func TestPrivate(t *testing.T) {
	t.Parallel()
	a := claude(t, nil)
	state := t.TempDir()
	a.hook(state, "", payload("s1", "SessionStart", `,"session_title":"secret"`), "TONGS_AGENTS_PRIVATE=1")
	a.hook(state, "", payload("s1", "Stop", `,"last_assistant_message":"secret"`), "TONGS_AGENTS_PRIVATE=1")
	if r := want(t, state, "s1", fsstore.Idle); r.Title != "" || r.Detail != "" {
		t.Errorf("got title %q, detail %q", r.Title, r.Detail)
	}
}
