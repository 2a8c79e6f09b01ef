package fsstore

import (
	"errors"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// Network reports whether the store is on a network file system, and where its
// locks are then: "" if nowhere, so that writes go by rename alone.
func (s *Store) Network() (network bool, locks string, err error) {
	magic, err := fsType(s.sessions)
	if err != nil {
		return false, "", unavailable(err)
	}
	if !slices.Contains(networkFS[:], magic) {
		return false, "", nil
	}
	run, err := openPrivate(linux.CWD, runtimeDir(), Read)
	if err != nil {
		return true, "", nil
	}
	defer run.Close()
	const name = "tongs-agents"
	dir, err := openPrivate(run, name, Read)
	switch {
	case err == nil:
		dir.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return true, "", nil
	case linux.Faccessat(run, ".", unix.W_OK|unix.X_OK) != nil: // where a writer would make it
		return true, "", nil
	}
	return true, runtimeDir() + "/" + name, nil
}

// ReadHookErrors reads what NoteHookError has counted in a state directory,
// whatever the rest of it is like. None is fs.ErrNotExist.
func ReadHookErrors(path string) (HookErrors, error) {
	state, err := openState(path, Read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return HookErrors{}, err
	case err != nil:
		return HookErrors{}, unavailable(err)
	}
	defer state.Close()
	return readHookErrors(state)
}
