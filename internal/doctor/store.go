package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/shell"
)

// stored is the user's store as it was read, or why it was not.
type stored struct {
	store    *fsstore.Store // nil: it cannot be opened
	err      error
	contents fsstore.Contents
}

func readStore(dir string) stored {
	var s stored
	if s.store, s.err = fsstore.Open(dir, fsstore.Read); s.err == nil {
		s.contents, s.err = s.store.Contents()
	}
	return s
}

func (s *stored) close() {
	if s.store != nil {
		s.store.Close()
	}
}

// missing reports whether nothing was stored yet.
func (s *stored) missing() bool {
	return errors.Is(s.err, fs.ErrNotExist) && !errors.Is(s.err, fsstore.ErrUnavailable)
}

// parts are the directories below the state directory.
var parts = []string{"sessions", "resumable", "launches", "installed"}

// place looks at the state directory, its parts, and what it is on.
func (p *patient) place() []Finding {
	dir := p.Env.State
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return []Finding{p.unmade(dir)}
	}
	var found []Finding
	for _, part := range append([]string{""}, parts...) {
		found = append(found, directory(filepath.Join(dir, part))...)
	}
	if p.stored.err != nil && !p.stored.missing() && len(found) == 0 {
		found = append(found, fail("%s: %v", dir, p.stored.err))
	}
	found = append(found, p.fileSystem(dir)...)
	if slices.ContainsFunc(found, func(f Finding) bool { return f.Level == Error }) {
		return found
	}
	text := fmt.Sprintf("%s (by %s), on %s", dir, p.namedBy(), p.kind(dir))
	if p.stored.missing() {
		text += ", without a session yet"
	}
	return append([]Finding{ok("%s", text)}, found...)
}

// namedBy says what names the state directory: see fsstore.StateDir.
func (p *patient) namedBy() string {
	for _, name := range []string{"TONGS_AGENTS_STATE_DIR", "XDG_STATE_HOME", "HOME"} {
		if filepath.IsAbs(p.Env.Getenv(name)) {
			return name
		}
	}
	return "the password file"
}

// unmade says whether the first hook can make a directory.
func (p *patient) unmade(dir string) Finding {
	parent := filepath.Dir(dir)
	for parent != "/" {
		if _, err := os.Stat(parent); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parent = filepath.Dir(parent)
	}
	if err := unix.Faccessat(unix.AT_FDCWD, parent, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fail("%s (by %s) cannot be made: %s: %v", dir, p.namedBy(), parent, err).with(shell.Command([]string{"ls", "-ld", parent}))
	}
	return ok("%s (by %s) is not there yet: the first session makes it", dir, p.namedBy())
}

// directory says what is wrong with a directory that must be ours alone. One
// that is not there is not needed yet.
func directory(path string) []Finding {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []Finding{fail("%v", err)}
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	mode := info.Mode().Perm()
	switch {
	case !info.IsDir():
		return []Finding{fail("%s is a symbolic link or no directory, which is refused", path).
			with(shell.Command([]string{"mv", path, path + ".old"}))}
	case int(owner) != os.Geteuid():
		return []Finding{fail("%s belongs to uid %d, which is refused", path, owner).
			with(shell.Command([]string{"sudo", "chown", "-R", strconv.Itoa(os.Geteuid()), path}))}
	case mode&0o700 != 0o700:
		return []Finding{fail("%s has mode %04o: it cannot be used", path, mode).with(narrow(path))}
	case mode&0o077 != 0:
		return []Finding{warn("%s has mode %04o: others may enter", path, mode).with(narrow(path))}
	}
	return nil
}

func narrow(path string) string { return shell.Command([]string{"chmod", "700", path}) }

// kind names the file system that a path is on.
func (p *patient) kind(path string) string {
	if m, ok := p.mountOf(path); ok {
		return m.kind
	}
	return "an unknown file system"
}

func (p *patient) mountOf(path string) (mount, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return mount{}, false
	}
	return mountOf(p.mounts, real)
}

// Below these, a file system counts as nearly full.
const (
	fewBytes  = 64 << 20
	fewInodes = 1000
)

// fileSystem says what is wrong with the file system of the store.
func (p *patient) fileSystem(dir string) []Finding {
	var found []Finding
	if p.stored.store != nil {
		if network, locks, err := p.stored.store.Network(); err == nil && network {
			found = append(found, overNetwork(dir, p.kind(dir), locks))
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return append(found, fail("%s: %v", dir, err))
	}
	return append(found, room(dir, &st)...)
}

func overNetwork(dir, kind, locks string) Finding {
	if locks == "" {
		return warn("%s is on %s, and there is no run-time directory for locks: of events that arrive at once some may be lost", dir, kind).
			with("loginctl enable-linger")
	}
	return warn("%s is on %s: locks are in %s, so that only writes of this machine are ordered", dir, kind, locks)
}

// room says whether a file system takes more files.
func room(dir string, st *unix.Statfs_t) []Finding {
	if st.Flags&unix.ST_RDONLY != 0 {
		return []Finding{fail("%s is on a file system that is mounted read-only", dir).with(shell.Command([]string{"findmnt", "-T", dir}))}
	}
	var found []Finding
	space := shell.Command([]string{"df", "-h", dir})
	switch free := st.Bavail * uint64(st.Bsize); {
	case st.Blocks == 0: // a file system that does not count
	case free == 0:
		found = append(found, fail("%s is on a full file system", dir).with(space))
	case free < fewBytes:
		found = append(found, warn("%s is on a file system that is nearly full: %d MiB are free", dir, free>>20).with(space))
	}
	inodes := shell.Command([]string{"df", "-i", dir})
	switch {
	case st.Files == 0:
	case st.Ffree == 0:
		found = append(found, fail("%s is on a file system without free inodes", dir).with(inodes))
	case st.Ffree < fewInodes:
		found = append(found, warn("%s is on a file system with few free inodes: %d", dir, st.Ffree).with(inodes))
	}
	return found
}

// plural writes a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
