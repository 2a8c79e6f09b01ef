package assets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// agent is a process that plays OpenCode or Pi to a file of ours, which runs
// the real hook.
type agent struct {
	t       *testing.T
	dir     string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Scanner
	stderr  bytes.Buffer
}

// logged becomes the hook, and keeps its input and whether another one runs.
// While there is a file "hang", it becomes one that does not end, with "stay" it
// does not end after what it did, and with "slow" it does nothing for a second.
const logged = `#!/bin/sh
exec 9>"$0.lock"
flock -n 9 || echo overlap >>"$0.overlaps"
cat >"$0.input.$$"
printf '%s\n' "$(cat "$0.input.$$")" >>"$0.log"
[ ! -e "$0.hang" ] || exec sleep 60
[ ! -e "$0.slow" ] || sleep 1
[ ! -e "$0.stay" ] || { HOOK "$@" <"$0.input.$$"; exec sleep 60; }
exec HOOK "$@" <"$0.input.$$"
`

// start starts an agent with the file of a name, in which the replacements are
// made. It ends with the test.
func start(t *testing.T, name string, replacements ...string) *agent {
	t.Helper()
	a := &agent{t: t, dir: t.TempDir()}
	a.write("hook", strings.ReplaceAll(logged, "HOOK", hook), 0o700)
	file := strings.NewReplacer(replacements...).Replace(string(render(t, name, a.path("hook"))))
	a.write(name, file, 0o600)

	a.cmd = exec.Command("node", "testdata/drive.mjs", a.path(name))
	a.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.dir, "TONGS_AGENTS_STATE_DIR=" + a.path("state")}
	a.cmd.Stderr = &a.stderr
	stdout, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.answers = bufio.NewScanner(stdout)
	t.Cleanup(a.stop)
	return a
}

// stop ends the agent, which must not have had anything to complain about.
func (a *agent) stop() {
	a.stdin.Close()
	if err := a.cmd.Wait(); err != nil || a.stderr.Len() > 0 {
		a.t.Errorf("the agent ended with %v\n%s", err, a.stderr.String())
	}
}

func (a *agent) path(name string) string { return filepath.Join(a.dir, name) }

func (a *agent) write(name, content string, mode fs.FileMode) {
	a.t.Helper()
	if err := os.WriteFile(a.path(name), []byte(content), mode); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) remove(name string) {
	a.t.Helper()
	if err := os.Remove(a.path(name)); err != nil {
		a.t.Fatal(err)
	}
}

// object is one of JSON.
type object = map[string]any

// do has the agent do something and returns how long that took.
func (a *agent) do(what string, with object) time.Duration {
	a.t.Helper()
	command := object{"do": what}
	for k, v := range with {
		command[k] = v
	}
	line, err := json.Marshal(command)
	if err != nil {
		a.t.Fatal(err)
	}
	a.stdin.Write(append(line, '\n'))
	if !a.answers.Scan() {
		a.t.Fatalf("no answer to %.200s\n%s", line, a.stderr.String())
	}
	ms, err := strconv.ParseFloat(a.answers.Text(), 64)
	if err != nil {
		a.t.Fatal(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// exit has the agent exit at once and waits for its end.
func (a *agent) exit() {
	fmt.Fprintln(a.stdin, `{"do":"exit"}`)
	for a.answers.Scan() {
	}
}

// records are those of the store by their session.
func (a *agent) records() map[string]*fsstore.Record {
	a.t.Helper()
	found := make(map[string]*fsstore.Record)
	s, err := fsstore.Open(a.path("state"), fsstore.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return found
	} else if err != nil {
		a.t.Fatal(err)
	}
	defer s.Close()
	all, bad, err := s.All()
	if err != nil || len(bad) > 0 {
		a.t.Errorf("unreadable records: %v, %v", bad, err)
	}
	for _, r := range all {
		if found[r.Session] != nil {
			a.t.Errorf("two records of session %s", r.Session)
		}
		found[r.Session] = r
	}
	return found
}

// listed is what the store says in short: "s1:running s2:idle".
func (a *agent) listed() string {
	a.t.Helper()
	var list []string
	for session, r := range a.records() {
		list = append(list, session+":"+string(r.Status))
	}
	sort.Strings(list)
	return strings.Join(list, " ")
}

// want waits until the store says that.
func (a *agent) want(listed string) {
	a.t.Helper()
	got := ""
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = a.listed(); got == listed {
			return
		}
	}
	a.t.Fatalf("got %q, want %q; told: %s", got, listed, a.told())
}

// told are the inputs of all hooks so far.
func (a *agent) told() []string {
	a.t.Helper()
	log, err := os.ReadFile(a.path("hook.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.t.Fatal(err)
	}
	return strings.Split(string(log), "\n")[:strings.Count(string(log), "\n")]
}

// serial requires that no two hooks ran at once.
func (a *agent) serial() {
	a.t.Helper()
	if _, err := os.Stat(a.path("hook.overlaps")); err == nil {
		a.t.Error("two hooks ran at once")
	}
}

// quiet waits long enough for a hook to have run.
func (a *agent) quiet() []string {
	a.t.Helper()
	time.Sleep(300 * time.Millisecond)
	return a.told()
}

// recorded are the events of a recording.
func recorded(t *testing.T, name string) []object {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var events []object
	for d := json.NewDecoder(bytes.NewReader(content)); d.More(); {
		var event object
		if err := d.Decode(&event); err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// prompt is how long a handler may keep the agent waiting, on a machine that
// is busy with other tests.
const prompt = 500 * time.Millisecond
