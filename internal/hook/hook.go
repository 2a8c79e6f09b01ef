package hook

import (
	"errors"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/linux"
	"tongs-agents/proc"
)

// How long an event waits for the locks of its session. Harnesses give the
// hooks of an end event little time: Claude Code 1.5 s, Codex 3 s.
const (
	lockWait    = 2 * time.Second
	lockWaitEnd = time.Second
)

// change is what an event does to the store.
type change interface {
	creates() bool
	ends() bool
	record() fsstore.Key
	apply(store *fsstore.Store, old *fsstore.Record) *fsstore.Record
}

// Run records one event: it reads a payload from in and changes a record.
// boottime is when the process began, by CLOCK_BOOTTIME. The text says what
// was recorded; the error says why nothing was.
func Run(in linux.FD, boottime int64) (string, error) {
	readEnviron()
	// os.Args would link package os, whose start costs more than this file.
	args, err := proc.Root.OwnCmdline()
	if err != nil || len(args) == 0 {
		return "", dropped("no arguments in /proc/self/cmdline")
	}
	return RunArgs(args[1:], in, boottime)
}

// RunArgs is Run with given arguments.
func RunArgs(args []string, in linux.FD, boottime int64) (string, error) {
	scanner := openInput(in)
	if Getenv("TONGS_AGENTS_DISABLE") == "1" {
		scanner.Skip() // see decodePayload
		return "", dropped("disabled by TONGS_AGENTS_DISABLE")
	}
	a, err := read(args, scanner, boottime)
	if err != nil {
		return "", noted(err)
	}
	text, err := a.do()
	if err != nil {
		return "", noted(err)
	}
	return text, nil
}

// action is what a payload comes to. The text says what was recorded, the error
// why nothing was, or not all.
type action interface{ do() (string, error) }

// read reads the payload and says what it means.
func read(args []string, scanner *jsonstream.Scanner, boottime int64) (action, error) {
	c, err := parseArgs(args)
	if err != nil {
		scanner.Skip() // see decodePayload
		return nil, err
	}
	e := event{via: fsstore.SourceHook, parent: unix.Getppid(), ts: time.Now().Unix(), boottime: boottime}
	var one change
	switch c.event {
	case snapshotEvent:
		return readSnapshot(c, scanner, e)
	case fleetEvent:
		one, err = readEmission(c, scanner, e)
	default:
		one, err = readEvent(c, scanner, e)
	}
	return single{one}, err
}

// single is the action of an event about one session.
type single struct{ change }

func (s single) do() (string, error) {
	r, err := store(s.change)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsstore.ErrUnavailable):
		return "", dropped("no record that the event could change")
	case err != nil:
		return "", err
	case r == nil:
		return "", nothingChanges
	}
	return r.LastEvent + " " + r.Session + ": " + string(r.Status), nil
}

const nothingChanges dropped = "nothing changes"

// readEvent reads the payload of a harness's own hook.
func readEvent(c command, scanner *jsonstream.Scanner, e event) (change, error) {
	owner, h, _ := proc.Root.Owner(e.parent)
	if h == nil {
		h = c.agent
	}
	if h != c.agent && !h.Hooks.Proves() {
		scanner.Skip()
		return nil, dropped("hook of " + c.agent.ID + " run by " + h.ID)
	}
	p, err := decodePayload(scanner, h.Hooks)
	if err != nil {
		return nil, err
	}
	if h != c.agent && !p.proof {
		return nil, dropped("hook of " + c.agent.ID + " run by " + h.ID + " with a payload that is not its own")
	}
	if Getenv("TONGS_AGENTS_PRIVATE") == "1" {
		p.message, p.lastMessage, p.title = "", "", ""
	}
	e.payload, e.harness, e.owner = p, h, owner
	if err := e.mean(c.event); err != nil {
		return nil, err
	}
	e.key = fsstore.Key{Harness: h.ID, Session: p.session, Instance: fsstore.Unresolved}
	if owner != nil {
		e.key.Instance = instanceOf(owner)
		if h.Hooks.NoSession {
			e.key.Session = e.key.Instance
		}
	}
	if e.key.Session == "" {
		return nil, dropped("payload without a session id")
	}
	e.boot, _ = proc.Root.BootID()
	return &e, nil
}

// store makes the change and returns the record that was written, if any.
func store(c change) (*fsstore.Record, error) {
	dir, err := fsstore.StateDirOf(Getenv)
	if err != nil {
		return nil, err
	}
	access, wait := fsstore.Write, lockWait
	if c.creates() {
		access = fsstore.Create
	}
	if c.ends() {
		wait = lockWaitEnd
	}
	s, err := fsstore.Open(dir, access)
	if err != nil {
		return nil, err
	}
	// The end of the process closes it.
	return s.Update(c.record(), fsstore.Rules{Create: c.creates(), Wait: wait},
		func(old *fsstore.Record) (*fsstore.Record, error) { return c.apply(s, old), nil })
}

// noted counts an error for doctor, unless by the rules there is none.
func noted(err error) error {
	var drop dropped
	if errors.As(err, &drop) || errors.Is(err, fsstore.ErrStale) {
		return err
	}
	if dir, dirErr := fsstore.StateDirOf(Getenv); dirErr == nil {
		fsstore.NoteHookError(dir, err.Error(), time.Now().Unix()) // best effort
	}
	return err
}

// instanceOf names a process as the instance of a record.
func instanceOf(p *proc.Process) string { return strconv.Itoa(p.PID) + ":" + p.Start }
