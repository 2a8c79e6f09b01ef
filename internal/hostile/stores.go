//go:build !(386 || arm)

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/mdtable"
)

// attack is a store of a victim in which another user has put something.
type attack struct {
	*world
	*tally
	dir    string // of one attack: store and canaries, and nothing else
	state  string
	canary string // what is not to be touched
	victim uint32 // who owns the store and runs the programs
	bad    uint32 // another user

	name        string // of the place, in the table
	try         func(*attack) error
	tried, runs int
	longest     time.Duration
	memory      int64 // KiB
	crowd       int64 // files in the store beside the usual ones
}

// place is where in a store an attacker puts something.
type place struct {
	name string
	path func(*attack) string
	dir  bool // a directory belongs there

	// refused are the programs that cannot do without it, and so must fail and
	// say why. All others do their work.
	refused []string
	// may fail are those that may do either, by what is there.
	may []string
}

// everything is all programs but doctor, whose exit status is about all it sees.
var everything = []string{"status", "bar", "ps", "stats", "show", "explain", "resumable", "metrics", "export", "mcp", "cleanup", "dry-run", "monitor", "import", "notify"}

// The sessions of the store: two good ones, one whose record or locks are
// attacked, one whose process is dead.
const (
	target = "target"
	gone   = "gone"
)

var places = []place{
	{name: "the state directory", path: func(a *attack) string { return a.state }, dir: true, refused: everything},
	{name: "sessions/", path: func(a *attack) string { return a.state + "/sessions" }, dir: true, refused: everything},
	{name: "resumable/", path: func(a *attack) string { return a.state + "/resumable" }, dir: true, refused: []string{"resumable", "cleanup", "metrics"}, may: []string{"dry-run", "monitor", "explain"}},
	{name: "launches/", path: func(a *attack) string { return a.state + "/launches" }, dir: true, may: []string{"cleanup", "dry-run"}},
	{name: "a record", path: func(a *attack) string { return a.state + "/sessions/" + a.record(target) }, may: []string{"import"}},
	{name: "the record of a dead process", path: func(a *attack) string { return a.state + "/sessions/" + a.record(gone) }, may: []string{"cleanup"}},
	{name: "a record's lock", path: func(a *attack) string {
		return a.state + "/sessions/." + strings.TrimSuffix(a.record(target), ".json") + ".lock"
	}, may: []string{"import", "cleanup"}},
	{name: "a session's lock", path: func(a *attack) string { return a.state + "/sessions/" + sessionLock(target) }, may: []string{"import", "cleanup"}},
	{name: "the lock of a dead session", path: func(a *attack) string { return a.state + "/sessions/" + sessionLock(gone) }, may: []string{"cleanup"}},
	{name: "the maintenance lock", path: func(a *attack) string { return a.state + "/sessions/.fleet-maintenance.lock" }, may: []string{"cleanup"}},
	{name: "the stamp", path: func(a *attack) string { return a.state + "/sessions/.fleet-maintenance.stamp" }, may: []string{"cleanup"}},
	{name: "the boots", path: func(a *attack) string { return a.state + "/sessions/.fleet-boots" }, may: []string{"cleanup"}},
	{name: "a temporary file", path: func(a *attack) string { return a.state + "/sessions/.fleet-tmp-999999-1.tmp" }, may: []string{"cleanup"}},
	{name: "a legacy record", path: func(a *attack) string { return a.state + "/sessions/legacy.json" }, may: []string{"cleanup"}},
	{name: "hook-errors", path: func(a *attack) string { return a.state + "/hook-errors" }},
	{name: "an entry of resumable/", path: func(a *attack) string { return a.state + "/resumable/" + strings.Repeat("0", 64) + ".json" }, may: []string{"cleanup"}},
	{name: "the entry of a dead session", path: func(a *attack) string {
		return a.state + "/resumable/" + fsstore.Key{Harness: "claude", Session: gone}.SessionDigest() + ".json"
	}, may: []string{"cleanup"}},
	{name: "a launch", path: func(a *attack) string { return a.state + "/launches/" + strings.Repeat("0", 32) + ".json" }, may: []string{"cleanup"}},
}

func (a *attack) record(session string) string {
	pid, start := alive()
	harness := "other"
	if session == gone {
		pid, start, harness = strconv.Itoa(deadPID), "1", "claude"
	}
	id := fsstore.Key{Harness: harness, Session: session, Instance: pid + ":" + start}.CanonicalID()
	return "fleet-v1-" + id[strings.LastIndexByte(id, ':')+1:] + ".json"
}

func sessionLock(session string) string {
	harness := "other"
	if session == gone {
		harness = "claude"
	}
	return ".fleet-v1-session-" + fsstore.Key{Harness: harness, Session: session}.SessionDigest() + ".lock"
}

// shape is what an attacker puts there.
type shape struct {
	name string
	put  func(a *attack, path string) error
	dirs bool // in the place of a directory, too

	// harmless: in the place of a directory it is one that can be used.
	harmless bool
}

var shapes = []shape{
	{name: "a link to a file", dirs: true, put: func(a *attack, path string) error { return os.Symlink(a.canary+"/record.json", path) }},
	{name: "a link to a directory", dirs: true, put: func(a *attack, path string) error { return os.Symlink(a.canary+"/dir", path) }},
	{name: "a link to nothing", dirs: true, put: func(a *attack, path string) error { return os.Symlink(a.canary+"/new", path) }},
	{name: "a link to a FIFO", dirs: true, put: func(a *attack, path string) error { return os.Symlink(a.canary+"/fifo", path) }},
	{name: "a link to itself", dirs: true, put: func(a *attack, path string) error { return os.Symlink(filepath.Base(path), path) }},
	{name: "a hard link", put: func(a *attack, path string) error { return os.Link(a.canary+"/record.json", path) }},
	{name: "a FIFO", dirs: true, put: func(a *attack, path string) error { return unix.Mkfifo(path, 0o666) }},
	{name: "a socket", dirs: true, put: func(a *attack, path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o666, 0) }},
	{name: "/dev/zero", dirs: true, put: func(a *attack, path string) error { return unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) }},
	{name: "/dev/tty", put: func(a *attack, path string) error { return unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(5, 0))) }},
	{name: "a disk", put: func(a *attack, path string) error {
		return unix.Mknod(path, unix.S_IFBLK|0o666, int(unix.Mkdev(7, 250)))
	}},
	{name: "a directory", put: func(a *attack, path string) error { return os.MkdirAll(path+"/full", 0o777) }},
	{name: "another's file", dirs: true, put: func(a *attack, path string) error {
		return errors.Join(os.WriteFile(path, []byte("{}"), 0o666), os.Chmod(path, 0o666), os.Chown(path, int(a.bad), int(a.bad)))
	}},
	{name: "1 TiB of nothing", put: func(a *attack, path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40), os.Chown(path, int(a.victim), int(a.victim)))
	}},
	{name: "an empty file", put: func(a *attack, path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, int(a.victim), int(a.victim)))
	}},
	{name: "what nobody may read", put: func(a *attack, path string) error {
		return errors.Join(os.WriteFile(path, []byte("{}"), 0o000), os.Chown(path, int(a.victim), int(a.victim)))
	}},
}

// directories are shapes for directories only.
var directories = []shape{
	{name: "another's directory", put: func(a *attack, path string) error {
		return errors.Join(os.Mkdir(path, 0o777), os.Chmod(path, 0o777), os.Chown(path, int(a.bad), int(a.bad)))
	}},
	{name: "another's, moved there", put: func(a *attack, path string) error {
		return errors.Join(os.Rename(path+".was", path), os.Chmod(path, 0o777), os.Chown(path, int(a.bad), int(a.bad)))
	}},
	{name: "open to all", harmless: true, put: func(a *attack, path string) error {
		return errors.Join(os.Rename(path+".was", path), os.Chmod(path, 0o777))
	}},
}

// crowds are stores with more in them than anybody has.
var crowds = []struct {
	name string
	file func(n int) (name, text string)
}{
	{"100,000 files that are no records", func(n int) (string, string) { return fmt.Sprintf("x\x1b[31m\n%d.json", n), "{" }},
	{"100,000 files of other names", func(n int) (string, string) { return fmt.Sprintf(".fleet-%d", n), "" }},
	{"100,000 locks", func(n int) (string, string) { return fmt.Sprintf(".fleet-v1-%064x.lock", n), "" }},
	{"100,000 temporary files", func(n int) (string, string) { return fmt.Sprintf(".fleet-tmp-999999-%d.tmp", n), "" }},
	{"100,000 legacy records", func(n int) (string, string) {
		return fmt.Sprintf("%d.json", n), `{"status":"running","pid":"` + strconv.Itoa(deadPID) + `"}`
	}},
}

// program is one that is run on an attacked store.
type program struct {
	name    string
	command func() command
	reads   bool // and so changes nothing
	lists   bool // prints the sessions
}

var programs = []program{
	{"hook, new", func() command { return hook(`{"session_id":"new","cwd":"/src/app","hook_event_name":"SessionStart"}`) }, false, false},
	{"hook, tool", func() command {
		return hook(`{"session_id":"new","cwd":"/src/app","hook_event_name":"PreToolUse","tool_name":"Bash"}`)
	}, false, false},
	{"hook, end", func() command { return hook(`{"session_id":"new","cwd":"/src/app","hook_event_name":"SessionEnd"}`) }, false, false},
	{"fleet-event", func() command {
		pid, _ := alive()
		return hook(`{"schema_version":1,"event_id":"pi.x","session_id":"e","instance_id":"e","sequence":1,"pid":`+pid+`,"cwd":"/","status":"running"}`, "fleet-event")
	}, false, false},
	{"snapshot", func() command {
		return hook(`{"id":"plugin","status":{"s":"busy"}}`, "snapshot", "--agent", "opencode")
	}, false, false},
	{"status", func() command { return cli("status") }, true, true},
	{"bar", func() command { return cli("status", "--format", "tmux") }, true, false},
	{"ps", func() command { return cli("ps") }, true, true},
	{"stats", func() command { return cli("stats") }, true, false},
	{"show", func() command { return cli("show", goodA) }, true, false},
	{"explain", func() command { return cli("explain", goodB) }, true, false},
	{"resumable", func() command { return cli("resumable") }, true, false},
	{"metrics", func() command { return cli("metrics") }, true, false},
	{"export", func() command { return cli("export") }, true, true},
	{"mcp", func() command {
		c := cli("mcp")
		c.input = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fleet_status","arguments":{}}}` + "\n"
		return c
	}, true, true},
	{"doctor", func() command { return cli("doctor", "--agent", "claude") }, true, false},
	{"dry-run", func() command { return cli("cleanup", "--dry-run") }, true, false},
	{"notify", func() command { return cli("notify", "--session", "noticed", "--status", "idle", "--pid", "none") }, false, false},
	{"import", func() command {
		pid, start := alive()
		return importing(record("other", target, pid, start))
	}, false, false},
	{"launch", func() command { return cli("launch", "--", "true") }, false, false},
	{"monitor", func() command { return cli("monitor", "--once") }, false, true},
	{"cleanup", func() command { return cli("cleanup") }, false, false},
}

// enough is how long a program may take at most, with all its waiting for locks
// and a busy machine. One that blocks takes for ever.
const enough = 30 * time.Second

// mostMemory is what a program may take, in KiB. What is measured is too much:
// the memory of this process, too, until the program was executed.
const mostMemory = 64 << 10

// memoryPerFile is what it may take more for each file of a crowd, in KiB.
const memoryPerFile = 4

func tryStores(w *world) error {
	dir := filepath.Join(w.dir, "attacks")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4g,nr_inodes=1m,mode=755"); err != nil {
		return err
	}
	var attacks []*attack
	n := 0
	add := func(victim uint32, name string, try func(*attack) error) {
		a := &attack{world: w, tally: &tally{w: w}, dir: filepath.Join(dir, strconv.Itoa(len(attacks))), victim: victim, bad: 65534, name: name, try: try}
		a.state, a.canary = a.dir+"/state", a.dir+"/canary"
		attacks = append(attacks, a)
	}
	for _, victim := range []uint32{0, 1000} {
		if err := w.fill(victim); err != nil {
			return err
		}
		for _, p := range places {
			var chosen []shape
			for _, s := range p.shapes() {
				if n++; w.chosen(n, victimName(victim)+", "+p.name+" is "+s.name) {
					chosen = append(chosen, s)
				}
			}
			if len(chosen) > 0 {
				add(victim, p.name, func(a *attack) error { return a.tryShapes(p, chosen) })
			}
		}
	}
	for _, c := range crowds {
		if n++; w.chosen(n, c.name) {
			add(0, c.name, func(a *attack) error { return a.tryCrowd(c.file) })
		}
	}
	if err := inParallel(attacks); err != nil {
		return err
	}
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
		return err
	}
	table := mdtable.Table{Texts: 2, Head: []string{"victim", "attacked", "shapes", "runs", "longest, ms", "memory below, MiB", "checks", "failures"}}
	for _, a := range attacks {
		table.Add(victimName(a.victim), a.name, a.tried, a.runs, a.longest.Milliseconds(), a.memory>>10+1, a.tally.checks, a.tally.failures)
	}
	return table.Print(os.Stdout)
}

// inParallel tries attacks as many at a time as there are processors.
func inParallel(attacks []*attack) error {
	todo := make(chan *attack, len(attacks))
	for _, a := range attacks {
		todo <- a
	}
	close(todo)
	var wg sync.WaitGroup
	errs := make([]error, runtime.GOMAXPROCS(0))
	for i := range errs {
		wg.Go(func() {
			for a := range todo {
				if err := a.try(a); err != nil {
					errs[i] = fmt.Errorf("%s: %w", a.what, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func victimName(uid uint32) string {
	if uid == 0 {
		return "root"
	}
	return "a user"
}

// shapes are those that can be in the place.
func (p place) shapes() []shape {
	if !p.dir {
		return shapes
	}
	return append(slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool { return !s.dirs }), directories...)
}

// tryShapes runs all programs on each shape: those that read on one store, which
// they leave as it is, the others each on a store of its own.
func (a *attack) tryShapes(p place, shapes []shape) error {
	for _, s := range shapes {
		a.what = victimName(a.victim) + ", " + p.name + " is " + s.name
		a.tried++
		built := false
		for _, program := range programs {
			if !built {
				if err := a.build(p, s); err != nil {
					return err
				}
			}
			built = program.reads
			refused := slices.Contains(p.refused, program.name) && !s.harmless
			if err := a.run(program, refused, slices.Contains(p.may, program.name), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// build makes the store of a shape.
func (a *attack) build(p place, s shape) error {
	if err := a.restore(); err != nil {
		return err
	}
	path := p.path(a)
	if err := os.Rename(path, path+".was"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.put(a, path); err != nil {
		return err
	}
	return os.RemoveAll(path + ".was")
}

// restore makes the store anew: what the programs of the victim have left there.
func (a *attack) restore() error {
	if err := os.RemoveAll(a.dir); err != nil {
		return err
	}
	for _, dir := range []string{a.canary + "/dir", a.state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.CopyFS(a.state, os.DirFS(a.template(a.victim))); err != nil {
		return err
	}
	pid, start := alive()
	err := errors.Join(
		os.WriteFile(a.canary+"/secret", []byte("secret"), 0o640),
		os.WriteFile(a.canary+"/record.json", record("other", "planted", pid, start).AppendJSON(nil), 0o644),
		os.WriteFile(a.canary+"/dir/file", []byte("file"), 0o666),
		unix.Mkfifo(a.canary+"/fifo", 0o666),
	)
	return errors.Join(err, filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == a.dir {
			return err
		}
		mode := fs.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		if strings.HasPrefix(path, a.state) {
			err = os.Chmod(path, mode)
		}
		return errors.Join(err, os.Lchown(path, int(a.victim), int(a.victim)))
	}))
}

// template is the store that is attacked.
func (w *world) template(victim uint32) string {
	return filepath.Join(w.dir, "template-"+strconv.Itoa(int(victim)))
}

// fill makes the template.
func (w *world) fill(victim uint32) error {
	state := w.template(victim)
	pid, start := alive()
	dead := record("claude", gone, strconv.Itoa(deadPID), "1")
	dead.Resume, dead.Cwd = []string{agentName, "--resume", gone}, "/"
	if err := w.must(state,
		importing(record("other", goodA, pid, start), record("other", goodB, pid, start), record("other", target, pid, start)),
		cli("cleanup"), importing(dead)); err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(state+"/launches", 0o700), os.MkdirAll(state+"/resumable", 0o700), fsstore.NoteHookError(state, "something", time.Now().Unix()))
}

// run runs one program and looks at what it has done.
func (a *attack) run(p program, refused, may bool, where place) error {
	before, err := tree(a.dir, !p.reads)
	if err != nil {
		return err
	}
	c := p.command()
	c.user = a.victim
	r, err := a.world.run(a.state, c)
	if err != nil {
		return err
	}
	a.runs++
	a.longest, a.memory = max(a.longest, r.took), max(a.memory, r.resident)
	a.check(!r.late && r.took < enough, "%s takes %v: %v", p.name, r.took, r)
	a.check(r.resident < mostMemory+a.crowd*memoryPerFile, "%s takes %d KiB", p.name, r.resident)
	after, err := tree(a.dir, !p.reads)
	if err != nil {
		return err
	}
	changed := differences(before, after)
	a.check(len(changed) == 0, "%s changes what it must not: %v", p.name, changed)

	isHook := c.argv[0] == hookProgram
	switch {
	case isHook:
		a.check(r.status == 0 && r.stdout == "" && r.stderr == "", "%s: %v, want 0 and not a word", p.name, r)
	case p.name == "launch": // which runs the command all the same
		a.check(r.status == 0, "%s: %v", p.name, r)
	case p.name == "mcp": // the call fails, not the server
		a.check(r.status == 0 && strings.Contains(r.stdout, `"isError":true`) == refused, "%s: %v, refused is to be %v", p.name, r, refused)
	case p.name == "doctor":
		a.check(r.status == 1 || r.status == 0 && len(where.refused) == 0 || !refusedByAll(where), "%s: %v", p.name, r)
		a.check(strings.Contains(r.stdout, "store"), "%s: %v", p.name, r)
	case refused:
		a.check(r.status == 1 && saysWhy(p, r), "%s: %v, want 1 and why", p.name, r)
	case may:
		a.check(r.status == 0 || r.status == 1 && saysWhy(p, r), "%s: %v, want 0, or 1 and why", p.name, r)
	default:
		a.check(r.status == 0, "%s: %v, want 0", p.name, r)
	}
	a.check(acts(r.stdout+r.stderr, false) == "", "%s prints %s: %v", p.name, acts(r.stdout+r.stderr, false), r)
	if p.lists && !refused {
		for _, good := range []string{goodA, goodB} {
			shown := good
			if p.name == "status" || p.name == "monitor" {
				shown = "app"
			}
			a.check(strings.Contains(r.stdout, shown), "%s does not list %s: %v", p.name, good, r)
		}
	}
	if p.reads || refusedByAll(where) {
		return nil
	}
	// The good ones are still there, and whoever could write has.
	status := cli("status", "--json")
	status.user = a.victim
	if r, err = a.world.run(a.state, status); err != nil {
		return err
	}
	var list struct{ Sessions []row }
	err = json.Unmarshal([]byte(r.stdout), &list)
	for _, want := range append([]string{goodA, goodB}, map[string][]string{"hook, new": {"new"}, "notify": {"noticed"}, "fleet-event": {"e"}, "snapshot": {"s"}}[p.name]...) {
		a.check(err == nil && slices.ContainsFunc(list.Sessions, func(r row) bool { return r.Session == want }), "after %s, %s is not listed: %v, %v", p.name, want, r, err)
	}
	return nil
}

func refusedByAll(p place) bool { return len(p.refused) == len(everything) }

// saysWhy: in one line on standard error; a bar has no place for it, and says
// that there is no store.
func saysWhy(p program, r ran) bool {
	return strings.HasPrefix(r.stderr, "tongs-agents: error: ") && strings.Count(r.stderr, "\n") == 1
}

// tryCrowd runs all programs on a store with so many files.
func (a *attack) tryCrowd(file func(int) (string, string)) error {
	a.tried, a.crowd = 1, 100_000
	built := false
	for _, program := range programs {
		a.what = a.name
		if !built {
			if err := a.restore(); err != nil {
				return err
			}
			for n := range int(a.crowd) {
				name, text := file(n)
				if err := os.WriteFile(filepath.Join(a.state, "sessions", name), []byte(text), 0o600); err != nil {
					return err
				}
			}
		}
		built = program.reads
		if err := a.run(program, false, false, place{}); err != nil {
			return err
		}
	}
	return nil
}
