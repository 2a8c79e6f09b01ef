package hook

import (
	"errors"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/linux"
	"tongs-agents/proc"
)

// Notice is what any program says of its own session, or of another one.
type Notice struct {
	Agent  string // a harness id
	Status fsstore.Status
	Detail string

	// Live is the record that the notice is about. Without one it is about
	// Session, else the launch that this process descends from, else PID.
	Live    *fsstore.Record
	Session string
	Cwd     string

	// PID is the process of the session: a number, or NoProcess. Without it
	// that is the launched process, else the caller's parent.
	PID string
}

// NoProcess says that a session has no process.
const NoProcess = "none"

// ErrNothingToEnd: a notice that a session has ended creates no record.
var ErrNothingToEnd = errors.New("no such session to end")

// Notify writes the record of a notice and returns it.
func Notify(n Notice) (*fsstore.Record, error) {
	e := event{
		via: "notify", name: "notify", harness: harness.ByID(n.Agent),
		parent: unix.Getppid(), ts: time.Now().Unix(), boottime: linux.Boottime(),
		payload: &payload{},
	}
	e.boot, _ = proc.Root.BootID()
	dir, err := fsstore.StateDir()
	if err != nil {
		return nil, err
	}
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if n.Live != nil {
		e.key, e.settled, e.via = n.Live.Key, true, n.Live.Source
	} else if err := e.identify(n, store); err != nil {
		return nil, err
	}
	rules := fsstore.Rules{Create: n.Status != fsstore.Ended, Wait: lockWait}
	r, err := store.Update(e.key, rules, func(old *fsstore.Record) (*fsstore.Record, error) {
		r := fsstore.Record{Key: e.key, Kind: fsstore.KindSession, Started: e.ts}
		if old != nil {
			r = *old
		}
		e.setTo(&r, n.Status, n.Detail)
		return e.finish(store, &r, state), nil
	})
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsstore.ErrUnavailable) {
		err = ErrNothingToEnd
	}
	return r, err
}

// identify finds the process and the session of a notice about none that is
// known.
func (e *event) identify(n Notice, store *fsstore.Store) error {
	launch, launched := e.launch(store)
	pid := e.parent
	switch {
	case n.PID == NoProcess:
		pid = 0
	case n.PID != "":
		pid, _ = strconv.Atoi(n.PID)
	case launched:
		pid, _ = strconv.Atoi(launch.PID)
	}
	e.key = fsstore.Key{Harness: n.Agent, Session: n.Session, Instance: fsstore.Unresolved}
	if n.PID != NoProcess {
		p, err := proc.Root.Process(pid)
		if err != nil || p.Dead() || proc.Root.Foreign() {
			return errors.New("no process " + strconv.Itoa(pid))
		}
		e.owner = p
		e.key.Instance = instanceOf(p)
	}
	if e.key.Session == "" && launched {
		e.key.Session = launch.ID
	}
	if e.key.Session == "" && e.owner != nil {
		e.key.Session = e.key.Instance
	}
	if e.key.Session == "" {
		return errors.New("neither a session nor a process is named")
	}
	e.cwd = n.Cwd
	return nil
}
