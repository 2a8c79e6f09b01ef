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
	e := newNotice("notify", n.Agent)
	e.parent = unix.Getppid()
	store, err := createStore()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if n.Live != nil {
		e.key, e.settled, e.via = n.Live.Key, true, n.Live.Source
	} else if err := e.identify(n, store); err != nil {
		return nil, err
	}
	r, err := e.notify(store, n.Status, n.Detail)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsstore.ErrUnavailable) {
		err = ErrNothingToEnd
	}
	return r, err
}

// newNotice begins an event that one of our own commands reports.
func newNotice(name, agent string) *event {
	e := &event{
		via: fsstore.SourceNotify, name: name, harness: harness.ByID(agent),
		ts: time.Now().Unix(), boottime: linux.Boottime(), payload: &payload{},
	}
	e.boot, _ = proc.Root.BootID()
	return e
}

func createStore() (*fsstore.Store, error) {
	dir, err := fsstore.StateDirOf(Getenv)
	if err != nil {
		return nil, err
	}
	return fsstore.Open(dir, fsstore.Create)
}

// notify sets the record to what a notice says.
func (e *event) notify(store *fsstore.Store, status fsstore.Status, detail string) (*fsstore.Record, error) {
	rules := fsstore.Rules{Create: status != fsstore.Ended, Wait: lockWait}
	return store.Update(e.key, rules, func(old *fsstore.Record) (*fsstore.Record, error) {
		r := fsstore.Record{Key: e.key, Kind: fsstore.KindSession, Started: e.ts}
		if old != nil {
			r = *old
		}
		e.setTo(&r, status, detail)
		return e.finish(store, &r, state), nil
	})
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
		if err := e.own(pid); err != nil {
			return err
		}
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

// own makes a process that lives the owner of the session.
func (e *event) own(pid int) error {
	if e.owner = liveProcess(int64(pid)); e.owner == nil {
		return errors.New("no process " + strconv.Itoa(pid))
	}
	e.key.Instance = instanceOf(e.owner)
	return nil
}
