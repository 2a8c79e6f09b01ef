// Package fsstore keeps one JSON record per session, process and emitter of a
// coding agent in a private directory.
//
// A record is replaced whole: readers see the old one or the new one, never a
// mixture, and take no lock. Writers of one session take its locks in turn
// (Store.Update). When a write returns, the record survives the death of every
// process, but not a power cut: a record names a process, and power ends that
// too.
//
// The directory is opened once; replacing its path later does not move the
// store. On a network file system the locks live in the user's run-time
// directory, since flock may hang or lie there, and order is kept within one
// machine only.
//
// docs/format.md describes the files for programs in other languages.
package fsstore

import "errors"

// What a caller can act on. Every error of this package is one of these by
// errors.Is, or fs.ErrNotExist, or a mistake in the call.
var (
	// ErrInvalid: the record breaks a rule of the schema; the text names the
	// key and the rule.
	ErrInvalid = errors.New("invalid record")

	// ErrNewer: the stored record has a schema that this program does not
	// know. It is also ErrInvalid, and is never replaced.
	ErrNewer = errors.New("schema_version is newer than this program")

	// ErrStale: the stored record is newer.
	ErrStale = errors.New("older than the stored record")

	// ErrOtherProcess: the stored record belongs to another process.
	ErrOtherProcess = errors.New("record of another process")

	// ErrLockTimeout: other writers held the locks the whole time.
	ErrLockTimeout = errors.New("record lock timed out")

	// ErrUnavailable: the store cannot be read or written; the text says why.
	ErrUnavailable = errors.New("store unavailable")
)

// wrapped is an error of a kind with its cause. errors.Is finds both.
type wrapped struct {
	kind  error
	cause error
}

func (e *wrapped) Error() string   { return e.kind.Error() + ": " + e.cause.Error() }
func (e *wrapped) Unwrap() []error { return []error{e.kind, e.cause} }

// invalid says which key of a record is wrong, and how.
func invalid(key, rule string) error {
	return &wrapped{ErrInvalid, errors.New(key + " " + rule)}
}
