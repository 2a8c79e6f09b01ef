package maintain

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/proc"
)

// patience is how long something may take that must come: slowness fails no
// test.
const patience = time.Minute

// The test binary is its own second process: with this variable set it plays
// the role of that name, with its arguments, and runs no test.
const roleEnv = "MAINTAIN_TEST_ROLE"

var roles = map[string]func(args []string) error{
	"agent":    playAgent,
	"crash":    playCrash,
	"maintain": playMaintain,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(withPrograms(m))
}

func withPrograms(m *testing.M) int {
	dir, err := os.MkdirTemp("", "maintain-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	return m.Run()
}

// self is a command that plays a role.
func self(role string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	// Else the race detector waits for a second at the end.
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// playMaintain runs once, forced, beside an agent if there is another argument,
// and prints the result.
func playMaintain(args []string) error {
	if len(args) > 1 {
		agent := self("agent")
		agent.Args = []string{args[1]}
		in, err := agent.StdinPipe()
		if err != nil {
			return err
		}
		out, err := agent.StdoutPipe()
		if err != nil {
			return err
		}
		if err := agent.Start(); err != nil {
			return err
		}
		defer in.Close()
		if _, err := out.Read(make([]byte, 1)); err != nil { // it is ready
			return err
		}
	}
	result := Run(args[0], Options{Forced: true})
	text, err := json.Marshal(result)
	fmt.Println(string(text), result.Err)
	return err
}

// isolated runs the test anew in a process with a mount namespace of its own,
// in which it may mount: it is root there. It reports whether this already is
// that process; if not, the test is done.
func isolated(t *testing.T) bool {
	t.Helper()
	const env = "MAINTAIN_TEST_ISOLATED"
	if os.Getenv(env) == t.Name() {
		// What is mounted here stays here.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	run := func(attr *syscall.SysProcAttr) ([]byte, error) {
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), env+"="+t.Name(), "GORACE=atexit_sleep_ms=0")
		cmd.SysProcAttr = attr
		return cmd.CombinedOutput()
	}
	out, err := run(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS})
	if errors.Is(err, fs.ErrPermission) {
		out, err = run(&syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		})
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name()+" ")) {
		t.Errorf("in a mount namespace of its own (which needs root or user namespaces): %v\n%s", err, out)
	}
	return false
}

// atStep calls fn at the seam between the steps, until the test is over.
func atStep(t testing.TB, fn func(name string)) {
	old := step
	t.Cleanup(func() { step = old })
	step = fn
}

// beforeRemoving calls fn at the seam between the judgement and the removal of a
// record.
func beforeRemoving(t testing.TB, fn func(r *fsstore.Record)) {
	old := removing
	t.Cleanup(func() { removing = old })
	removing = fn
}

// world is a store, and a proc file system of the test's own: nothing that
// runs on this machine is in it.
type world struct {
	t    testing.TB
	dir  string
	root proc.FS
	now  time.Time // for the runs
	here proc.Host // as the tree says
}

// Where the tree of a world says that it is.
const (
	thisBoot      = "4d1ca1ef-0d7b-4c3a-9a0c-5b0a7d1d6f10"
	earlierBoot   = "00000000-1111-4222-8333-444444444444"
	thisNamespace = "4026531836"
	// The process of most records.
	pid, start = "4242", "81868"
)

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "state"), root: proc.FS(t.TempDir()), now: time.Now()}
	w.file("stat", "cpu  1 2 3 4 5 6 7 8 9 10\nbtime "+strconv.FormatInt(w.now.Unix()-3600, 10)+"\n")
	w.file("sys/kernel/random/boot_id", thisBoot+"\n")
	w.link("self/ns/pid", "pid:["+thisNamespace+"]")
	w.here = w.root.Host()
	w.open().Close()
	return w
}

// file writes a file of the proc file system.
func (w *world) file(name, text string) {
	w.t.Helper()
	path := filepath.Join(string(w.root), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(name, target string) {
	w.t.Helper()
	path := filepath.Join(string(w.root), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(target, path)); err != nil {
		w.t.Fatal(err)
	}
}

// treeProcess is a process in the tree of a world.
type treeProcess struct {
	pid, start string // 4242, 81868 if empty
	state      string // S if empty
	ppid, tty  int    // tty: the device number
	cwd        string
	env        []string
	args       []string // claude if empty
}

// runs puts a process into the tree.
func (w *world) runs(p treeProcess) {
	w.t.Helper()
	set := func(s *string, text string) {
		if *s == "" {
			*s = text
		}
	}
	set(&p.pid, pid)
	set(&p.start, start)
	set(&p.state, "S")
	set(&p.cwd, "/src/repo")
	if len(p.args) == 0 {
		p.args = []string{"claude"}
	}
	comm := filepath.Base(p.args[0])
	os.RemoveAll(filepath.Join(string(w.root), p.pid))
	w.file(p.pid+"/stat", fmt.Sprintf("%s (%s) %s %d 1 1 %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %s 0 0\n",
		p.pid, comm, p.state, p.ppid, p.tty, p.start))
	w.file(p.pid+"/cmdline", strings.Join(p.args, "\x00")+"\x00")
	w.file(p.pid+"/environ", strings.Join(p.env, "\x00"))
	w.link(p.pid+"/exe", "/usr/bin/"+comm)
	w.link(p.pid+"/cwd", p.cwd)
	w.link(p.pid+"/ns/pid", "pid:["+thisNamespace+"]")
}

// ends takes a process out of the tree.
func (w *world) ends(pid string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(string(w.root), pid)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open() *fsstore.Store {
	w.t.Helper()
	s, err := fsstore.Open(w.dir, fsstore.Create)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// record is a valid record of the world: an idle claude in process 4242, that
// can be resumed. change may make it another one.
func (w *world) record(session string, change func(*fsstore.Record)) *fsstore.Record {
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: "claude", Session: session},
		Kind: fsstore.KindSession, PID: pid, ProcessStart: start, Status: fsstore.Idle,
		TS: w.now.Unix(), Started: w.now.Unix(), Arrival: 1, Repo: "repo", Cwd: "/src/repo",
		Source: fsstore.SourceHook, LastEvent: "claude.stop", Mode: fsstore.Interactive,
		Resume: []string{"claude", "--resume", session}, Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
		BootID: w.here.BootID, PIDNamespace: w.here.PIDNamespace, MachineID: w.here.MachineID,
	}
	if change != nil {
		change(r)
	}
	if r.Identity == "" {
		r.Identity = fsstore.Identified
		if r.PID == "" {
			r.Identity = fsstore.Unresolved
		}
	}
	if r.Instance == "" {
		r.Instance = r.PID + ":" + r.ProcessStart
		if r.PID == "" {
			r.Instance = fsstore.Unresolved
		}
	}
	if err := r.Validate(); err != nil {
		w.t.Fatalf("%s: %v", session, err)
	}
	return r
}

// pidless is a change to a record of no process.
func pidless(r *fsstore.Record) {
	r.PID, r.ProcessStart = "", ""
	if r.Harness == "other" {
		r.Instance, r.Identity = "emitter", fsstore.Identified
	}
}

// put stores a record as it is, whatever the rules of an update are.
func (w *world) put(r *fsstore.Record) *fsstore.Record {
	w.t.Helper()
	if err := os.WriteFile(recordPath(w.dir, r.Key), r.AppendJSON(nil), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return r
}

func recordPath(dir string, key fsstore.Key) string {
	id := key.CanonicalID()
	return filepath.Join(dir, "sessions", "fleet-v1-"+id[strings.LastIndexByte(id, ':')+1:]+".json")
}

// add is put of a changed record.
func (w *world) add(session string, change func(*fsstore.Record)) *fsstore.Record {
	w.t.Helper()
	return w.put(w.record(session, change))
}

// ago is a time before now, as records have it.
func (w *world) ago(d time.Duration) int64 { return w.now.Add(-d).Unix() }

// run maintains the store, forced.
func (w *world) run() Result {
	w.t.Helper()
	result := newRun(w.root, w.now, Options{Forced: true}).do(w.dir)
	if result.Skipped != "" {
		w.t.Errorf("the run was skipped: %s, %v", result.Skipped, result.Err)
	}
	return result
}

// runAs maintains the store with the given options.
func (w *world) runAs(o Options) Result { return newRun(w.root, w.now, o).do(w.dir) }

// stored returns the records of the store by session and instance.
func (w *world) stored() map[fsstore.Key]*fsstore.Record {
	w.t.Helper()
	records := map[fsstore.Key]*fsstore.Record{}
	for _, r := range storedIn(w.t, w.dir) {
		records[r.Key] = r
	}
	return records
}

func storedIn(t testing.TB, dir string) []*fsstore.Record {
	t.Helper()
	s, err := fsstore.Open(dir, fsstore.Read)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records, unreadable, err := s.All()
	if err != nil || len(unreadable) > 0 {
		t.Fatal(unreadable, err)
	}
	return records
}

// sessions are the session ids of the stored records, sorted.
func (w *world) sessions() string {
	w.t.Helper()
	var ids []string
	for key := range w.stored() {
		ids = append(ids, key.Session)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// shown are the session ids that a listing shows, sorted.
func (w *world) shown() string {
	w.t.Helper()
	preferred, _ := fsstore.Prefer(storedIn(w.t, w.dir), liveness.NewProcesses(w.root).Dead)
	var ids []string
	for _, r := range preferred {
		ids = append(ids, r.Session)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// stable checks that further runs find nothing to do.
func (w *world) stable() {
	w.t.Helper()
	before := w.texts()
	for range 3 {
		w.now = w.now.Add(10 * time.Second)
		if r := w.run(); len(r.Added)+len(r.Mended)+len(r.Removed)+len(r.Archived) > 0 {
			w.t.Errorf("a further run: added %+v, mended %+v, removed %+v", r.Added, r.Mended, r.Removed)
		}
	}
	check(w.t, "records after further runs", w.texts(), before)
}

// texts are the stored records as they are in their files, sorted.
func (w *world) texts() string {
	w.t.Helper()
	var texts []string
	for _, r := range storedIn(w.t, w.dir) {
		texts = append(texts, string(r.AppendJSON(nil)))
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

// archived returns the entries of the archive by session.
func (w *world) archived() map[string]fsstore.Resumable { return archivedIn(w.t, w.dir) }

func archivedIn(t testing.TB, dir string) map[string]fsstore.Resumable {
	t.Helper()
	s, err := fsstore.Open(dir, fsstore.Read)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.Archive()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	all, unreadable, err := a.All()
	if err != nil || len(unreadable) > 0 {
		t.Fatal(unreadable, err)
	}
	entries := map[string]fsstore.Resumable{}
	for _, entry := range all {
		entries[entry.Session] = entry
	}
	return entries
}

// resumable are the session ids of the archive, sorted.
func (w *world) resumable() string {
	w.t.Helper()
	var ids []string
	for id := range w.archived() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// list returns the sessions of changes, sorted.
func list(changes []Change) string {
	var ids []string
	for _, c := range changes {
		ids = append(ids, c.Session)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// setTime makes the time of a file below the state directory that of the
// world so long ago.
func (w *world) setTime(name string, ago time.Duration) {
	w.t.Helper()
	at := w.now.Add(-ago)
	if err := os.Chtimes(filepath.Join(w.dir, name), at, at); err != nil {
		w.t.Fatal(err)
	}
}

// write writes a file below the state directory.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return err == nil
}

func check[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
