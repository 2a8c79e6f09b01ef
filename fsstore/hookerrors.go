package fsstore

import (
	"errors"
	"io/fs"
	"strings"

	"tongs-agents/linux"
)

// HookErrors is what hooks could not do: the file hook-errors.
type HookErrors struct {
	Count int64
	Last  string
	TS    int64 // of the last one
}

const hookErrors = "hook-errors"

// maxHookError is where the text of an error is cut, in bytes.
const maxHookError = 512

// NoteHookError counts an error of a hook in the state directory. It is best
// effort: two hooks that fail at once may count as one.
func NoteHookError(path, text string, ts int64) error {
	state, err := openState(path, Write)
	if err != nil {
		return openError(path, err, Write)
	}
	defer state.Close()
	old, err := readHookErrors(state)
	if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o := object{b: append([]byte(nil), '{')}
	o.int("count", old.Count+1)
	text = strings.ReplaceAll(text, "\x00", "") // which no text of the store has
	o.text("last", text[:min(len(text), maxHookError)])
	o.int("ts", ts)
	return writeFile(state, hookErrors, append(o.b, '}', '\n'))
}

// HookErrors reads what NoteHookError has counted. None is fs.ErrNotExist.
func (s *Store) HookErrors() (HookErrors, error) { return readHookErrors(s.state) }

func readHookErrors(state linux.FD) (HookErrors, error) {
	var e HookErrors
	text, err := readPrivate(state, hookErrors, nil)
	if err != nil {
		return e, err
	}
	d := newDecoder(1)
	d.begin(text)
	err = d.Object(func(key []byte) (err error) {
		switch string(key) {
		case "count":
			e.Count, err = d.Int()
		case "last":
			err = d.str(&e.Last)
		case "ts":
			e.TS, err = d.Int()
		default:
			err = d.Skip()
		}
		return err
	})
	if err != nil {
		return HookErrors{}, &wrapped{ErrInvalid, err}
	}
	return e, nil
}
