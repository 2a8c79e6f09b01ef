package proc

import (
	"bytes"
	"errors"
	"strconv"
)

// ErrFormat is what errors.Is finds when a file does not have the form that
// proc(5) promises.
var ErrFormat = errors.New("unknown format")

// Stat holds the fields of /proc/PID/stat that are used here.
type Stat struct {
	PID   int
	Comm  string // as the process chose it: any bytes, at most 15
	State byte   // 'Z' and 'X' are dead
	PPID  int
	TTY   int    // device number of the controlling terminal, 0 for none: see TTYName
	Start string // clock ticks from boot to the start, decimal, as in the file
}

// ParseStat parses the contents of /proc/PID/stat, see proc_pid_stat(5):
//
//	6256 (claude) S 6255 6256 6255 34823 6256 4194304 ... 93179 ...
func ParseStat(data []byte) (Stat, error) {
	// A process chooses its comm, which may hold spaces, newlines and
	// parentheses. The fields after it hold none, so the last ')' ends it.
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return Stat{}, formatError("stat: no comm")
	}
	var field [23][]byte // by the numbers of the man page
	rest := bytes.TrimSpace(data[end+1:])
	for i := 3; i < len(field); i++ {
		field[i], rest, _ = bytes.Cut(rest, []byte{' '})
	}
	pid, err := strconv.ParseUint(string(bytes.TrimSpace(data[:open])), 10, 31)
	if err != nil || pid == 0 {
		return Stat{}, formatError("stat: pid")
	}
	if len(field[3]) != 1 {
		return Stat{}, formatError("stat: state")
	}
	ppid, err := strconv.ParseUint(string(field[4]), 10, 31)
	if err != nil {
		return Stat{}, formatError("stat: parent")
	}
	tty, err := strconv.ParseInt(string(field[7]), 10, 32) // the kernel prints a signed int
	if err != nil {
		return Stat{}, formatError("stat: terminal")
	}
	if _, err := strconv.ParseUint(string(field[22]), 10, 64); err != nil {
		return Stat{}, formatError("stat: start time")
	}
	return Stat{
		PID:   int(pid),
		Comm:  string(data[open+1 : end]),
		State: field[3][0],
		PPID:  int(ppid),
		TTY:   int(tty),
		Start: string(field[22]),
	}, nil
}

// Dead reports whether the process has ended and only waits for its parent to
// notice.
func (s Stat) Dead() bool { return s.State == 'Z' || s.State == 'X' }

// TTYName returns the name below /dev of a terminal's device number, such as
// "pts/7", or "" for none and for a kind of terminal that it does not know.
func TTYName(ttyNr int) string {
	// proc_pid_stat(5): the minor number is in bits 31 to 20 and 7 to 0, the
	// major number between them.
	nr := uint32(ttyNr)
	major, minor := int(nr>>8&0xfff), int(nr&0xff|nr>>20<<8)
	switch {
	case major >= 136 && major <= 143: // UNIX98_PTY_SLAVE_MAJOR and its seven old successors
		return "pts/" + strconv.Itoa((major-136)<<8+minor)
	case major == 4 && minor > 0 && minor < 64:
		return "tty" + strconv.Itoa(minor)
	case major == 4 && minor >= 64:
		return "ttyS" + strconv.Itoa(minor-64)
	}
	return ""
}

type formatError string

func (e formatError) Error() string { return string(e) + ": " + ErrFormat.Error() }
func (e formatError) Unwrap() error { return ErrFormat }
