package install

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
	"tongs-agents/lockfile"
)

// lockWait is how long an installation waits for another one.
const lockWait = 10 * time.Second

// lock keeps other installations out until release is called.
func (rs records) lock() (release func(), err error) {
	if err := fsstore.MakeDir(rs.state, recordDir); err != nil {
		return nil, err
	}
	dir, err := linux.Openat(linux.CWD, rs.dir(), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	l, err := lockfile.Acquire(dir, ".lock", time.Now().Add(lockWait))
	switch {
	case errors.Is(err, lockfile.ErrUnsupported):
		return func() {}, nil
	case errors.Is(err, lockfile.ErrTimeout):
		return nil, errors.New("another installation is under way")
	case err != nil:
		return nil, err
	}
	return func() { l.Release() }, nil
}
