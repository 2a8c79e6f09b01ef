package hook

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
)

// Launch is a command that is about to take the place of this process. Its id
// and profile are in the environment already.
type Launch struct {
	ID      string   // a new one, as fsstore.IsLaunchID knows them
	Profile string   // at most fsstore.MaxProfile bytes of one line
	Argv    []string // never empty, of any bytes
	Cwd     string   // valid UTF-8
	Harness bool     // the command is a harness, which reports its sessions itself
}

// LaunchTrace is what a launch has left in the store.
type LaunchTrace struct {
	store *fsstore.Store
	id    string
	key   fsstore.Key // of its record; zero: there is none
}

// Record writes the launch, and the record of its session unless the command
// is a harness. An error leaves nothing of both.
func (l *Launch) Record() (*LaunchTrace, error) {
	e := newNotice("launch", harness.Other)
	e.parent = unix.Getpid() // the process of the command, and of all that descends from it
	if err := e.own(e.parent); err != nil {
		return nil, err
	}
	e.key.Harness, e.key.Session = harness.Other, l.ID
	store, err := createStore()
	if err != nil {
		return nil, err
	}
	argv := launchArgv(l.Argv)
	if err := store.AddLaunch(&fsstore.Launch{
		ID: l.ID, Profile: l.Profile, Argv: argv, Cwd: cut(l.Cwd, fsstore.MaxCwd),
		PID: strconv.Itoa(e.owner.PID), ProcessStart: e.owner.Start, BootID: e.boot,
	}); err != nil {
		store.Close()
		return nil, err
	}
	trace := &LaunchTrace{store: store, id: l.ID}
	if l.Harness {
		return trace, nil
	}
	trace.key = e.key
	e.cwd, e.title = l.Cwd, commandLine(argv)
	if _, err := e.notify(store, fsstore.Started, e.title); err != nil {
		trace.Undo()
		return nil, err
	}
	return trace, nil
}

// Undo removes what was written, if the command could not take over. Only
// directories stay.
func (t *LaunchTrace) Undo() error {
	defer t.store.Close()
	var err error
	if t.key != (fsstore.Key{}) {
		err = t.store.Withdraw(t.key, lockWait)
	}
	if e := t.store.RemoveLaunch(t.id); err == nil && !errors.Is(e, fs.ErrNotExist) {
		err = e
	}
	return err
}

// launchArgv returns what a launch keeps of its command: as text, and of a
// long one the beginning. TONGS_AGENTS_PRIVATE=1 keeps the program alone, since
// an argument may be a prompt.
func launchArgv(argv []string) []string {
	if Getenv("TONGS_AGENTS_PRIVATE") == "1" {
		argv = argv[:1]
	}
	var kept []string
	left := fsstore.MaxLaunchArgv
	for _, arg := range argv[:min(len(argv), fsstore.MaxLaunchArgs)] {
		arg = strings.ToValidUTF8(arg, "\ufffd")
		kept = append(kept, cut(arg, left))
		if left -= len(arg); left <= 0 {
			break
		}
	}
	return kept
}

// commandLine is a command as a row of a table names it: without the directory
// of the program.
func commandLine(argv []string) string {
	words := append([]string{lastElement(argv[0])}, argv[1:]...)
	return oneLine(strings.Join(words, " "), detailChars)
}
