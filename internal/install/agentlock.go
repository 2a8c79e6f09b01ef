package install

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// agentLockWait is how long an agent may take to change its file, staleLock how
// old the lock of one that was killed is: it renews one that it holds.
const (
	agentLockWait = 2 * time.Second
	staleLock     = 10 * time.Second
)

// take takes the lock that the agent takes to change the file, if it has one:
// what the agent reads, changes and writes is not ours in between. Where the
// lock cannot be had, the file is changed all the same: only if it still is what
// was read.
func (f file) take(t target) (release func()) {
	none := func() {}
	if f.lock == "" {
		return none
	}
	name := t.named + f.lock
	for until := time.Now().Add(agentLockWait); ; time.Sleep(10 * time.Millisecond) {
		err := os.Mkdir(name, 0o700)
		if err == nil {
			return func() { os.Remove(name) }
		}
		info, statErr := os.Stat(name)
		stale := statErr == nil && time.Since(info.ModTime()) > staleLock
		if !errors.Is(err, fs.ErrExist) || stale || time.Now().After(until) {
			return none
		}
	}
}
