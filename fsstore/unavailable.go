package fsstore

import (
	"io/fs"

	"tongs-agents/linux"
)

// UnavailableError is an ErrUnavailable with its cause.
type UnavailableError struct {
	Dir   string // the state directory; empty in an error of a store that was opened
	Cause error
}

func (e *UnavailableError) Error() string {
	if e.Dir == "" {
		return ErrUnavailable.Error() + ": " + e.reason()
	}
	return "store " + e.Dir + " unavailable: " + e.reason()
}

func (e *UnavailableError) Unwrap() []error { return []error{ErrUnavailable, e.Cause} }

// reason is the cause without the names of the system call and of the state
// directory.
func (e *UnavailableError) reason() string {
	switch cause := e.Cause.(type) {
	case *fs.PathError:
		if cause.Path == e.Dir {
			return cause.Err.Error()
		}
		return cause.Path + ": " + cause.Err.Error()
	case *refusal:
		if cause.name == e.Dir {
			return cause.why
		}
	case *linux.CallError:
		return cause.Err.Error()
	}
	return e.Cause.Error()
}

func unavailable(cause error) error { return &UnavailableError{Cause: cause} }

// refusal is the error for something of the right name that is not to be used.
type refusal struct{ name, why string }

func (e *refusal) Error() string { return e.name + " " + e.why }
