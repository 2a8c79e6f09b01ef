// Package evidence reads what the files of a coding agent say of its session.
//
// Hooks miss some changes: Claude Code runs none after Esc, Codex none after an
// API error. Both keep files of their own that know better. This package reads
// those and nothing else: it writes no file, and knows of no store.
//
// The formats are internal to the agents and change without notice;
// docs/harnesses.md has what was seen of them. A file that is missing,
// unreadable, too large, of another process or session, or of an unknown form
// says nothing, which is no error: it never says something else. Whether what
// it says is newer than what a hook reported is for the caller to judge.
package evidence

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/linux"
	"tongs-agents/proc"
)

// Observation is what the files of an agent say of one session. Its texts are
// within the limits of a record.
type Observation struct {
	Session string
	Status  fsstore.Status // Running, Waiting, Idle or Error
	Detail  string         // may be empty
	At      time.Time      // since when, by the clock and in the precision of the file

	// Automatic, with Running: whatever asks for permission in this turn is
	// answered without the user, so no wait is one, also when it began after At.
	Automatic bool

	// For a process that no hook described. Empty if the file does not say.
	Cwd, Mode string
}

// Source reads the files of one harness.
type Source interface {
	// Observe returns what they say of the session of a record whose process
	// lives, and whether they say anything.
	Observe(r *fsstore.Record) (Observation, bool)
}

// Identifier is a Source whose files name the session of a process.
type Identifier interface {
	Source

	// Identify returns what they say of the session of a living process that
	// started at that clock tick, and whether they say anything.
	Identify(pid int, start string) (Observation, bool)
}

// ByHarness returns the source for a harness, or nil. Its processes are those
// of root.
func ByHarness(id string, root proc.FS) Source {
	switch id {
	case "claude":
		return claude{root}
	case "codex":
		return codex{}
	}
	return nil
}

// interrupted is the detail of a turn that the user stopped, in a hook's words.
const interrupted = "interrupted"

// tail reads the last bytes of a regular file of ours, at most limit of them.
// Whole: there are no others.
func tail(path string, limit int64) (data []byte, whole, ok bool) {
	fd, err := linux.Openat(linux.CWD, path, unix.O_RDONLY, 0)
	if err != nil {
		return nil, false, false
	}
	defer fd.Close()
	var st unix.Stat_t
	if fd.Fstat(&st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != unix.Geteuid() {
		return nil, false, false
	}
	data = make([]byte, min(st.Size, limit))
	offset := st.Size - int64(len(data))
	n, err := fd.Pread(data, offset)
	return data[:n], offset == 0, err == nil
}

var errText = errors.New("text of another form")

// text reads a string that a record can hold.
func text(s *jsonstream.Scanner, limit int) (string, error) {
	t, flaws, err := s.Text(nil, limit)
	if err == nil && flaws != 0 {
		err = errText
	}
	return string(t), err
}
