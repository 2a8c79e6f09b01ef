package hook

import (
	"strconv"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
)

// maxEntries bounds the memory that the entries of a snapshot take, in bytes: of
// ids, titles and directories, and entrySize for each session. An index has
// room for much less.
const (
	maxEntries = 1 << 20
	entrySize  = 128
)

// snapshotDecoder decodes the keys of a snapshot.
type snapshotDecoder struct {
	strictDecoder
	s       *snapshot
	entries []entry        // of every session that any key names
	index   map[string]int // of a session in entries
	size    int            // of entries
	seen    []string       // keys that were there
	cwd     string         // of sessions without one of their own
}

// decode reads a snapshot. Its process is that of pid, else that of a numeric
// id.
func (d *snapshotDecoder) decode() error {
	d.LimitKeys(fsstore.MaxSession) // session ids are keys
	d.index = make(map[string]int)
	err := d.strictDecoder.decode(d.member)
	switch {
	case err != nil:
		return err
	case d.size > maxEntries:
		return d.refuse("status", "or what belongs to it is longer than "+strconv.Itoa(maxEntries)+" bytes")
	case !d.saw("id"):
		return d.refuse("id", "is missing")
	case !d.saw("status"):
		return d.refuse("status", "is missing")
	}
	if !d.saw("pid") && isNumber(d.s.id) {
		pid, _ := strconv.ParseInt(d.s.id, 10, 64)
		if d.s.owner = liveProcess(pid); d.s.owner == nil {
			return d.refuse("id", "is the pid of no process")
		}
	}
	for _, n := range d.entries {
		if n.cwd == "" {
			n.cwd = d.cwd
		}
		if n.named() {
			d.s.entries = append(d.s.entries, n)
		}
	}
	return nil
}

func isNumber(id string) bool { return strings.Trim(id, "0123456789") == "" }

// saw reports whether a key was there, with a value.
func (d *snapshotDecoder) saw(key string) bool {
	for _, k := range d.seen {
		if k == key {
			return true
		}
	}
	return false
}

func (d *snapshotDecoder) member(key string) (err error) {
	switch key {
	case "id", "pid", "status", "blocking", "errors", "titles", "cwds", "cwd", "cmdline":
		if d.saw(key) { // what it said at first would have to be taken back
			d.wrong = ownKey
			return d.Skip()
		}
		d.seen = append(d.seen, key)
	}
	switch key {
	case "id":
		return d.id()
	case "pid":
		d.s.owner, err = d.pid()
		return err
	case "status":
		return d.each(d.status)
	case "blocking":
		return d.list(func(n *entry) { n.blocking = true })
	case "errors":
		return d.list(func(n *entry) { n.failed = true })
	case "titles":
		return d.each(d.title)
	case "cwds":
		return d.each(d.sessionCwd)
	case "cwd":
		return d.exact(ownKey, &d.cwd, fsstore.MaxCwd)
	case "cmdline":
		return d.arguments()
	}
	return d.Skip()
}

// id reads the emitter's name for itself: text, or a number if it is a pid.
func (d *snapshotDecoder) id() error {
	k, err := d.Peek()
	if err != nil {
		return err
	}
	if k == jsonstream.Number {
		n, err := d.number()
		d.s.id = strconv.FormatInt(n, 10)
		return err
	}
	err = d.nonempty(&d.s.id, fsstore.MaxInstance)
	if d.s.id == fsstore.Unresolved {
		d.wrong = ownKey
	}
	return err
}

func (d *snapshotDecoder) status(n *entry) error {
	err := d.exact(ownKey, &n.status, maxWord)
	if n.status != "idle" && n.status != "busy" && n.status != "retry" {
		d.wrong = ownKey
	}
	return err
}

func (d *snapshotDecoder) title(n *entry) error {
	if null, err := d.Null(); err != nil || null {
		return err
	}
	err := d.str(ownKey, &n.title, maxMessage)
	n.title = cut(oneLine(n.title, fsstore.MaxTitle), fsstore.MaxTitle)
	d.size += len(n.title)
	return err
}

func (d *snapshotDecoder) sessionCwd(n *entry) error {
	if null, err := d.Null(); err != nil || null {
		return err
	}
	err := d.exact(ownKey, &n.cwd, fsstore.MaxCwd)
	d.size += len(n.cwd)
	return err
}

// arguments reads the command line of the emitter. What is beyond the limits
// says nothing of its mode.
func (d *snapshotDecoder) arguments() error {
	ok, err := d.is(ownKey, jsonstream.Array)
	if !ok {
		return err
	}
	return d.Array(func() error {
		arg := ""
		err := d.str(ownKey, &arg, fsstore.MaxArg)
		if len(d.s.told) < fsstore.MaxArgs {
			d.s.told = append(d.s.told, arg)
		}
		return err
	})
}

// each reads an object whose keys are sessions.
func (d *snapshotDecoder) each(read func(*entry) error) error {
	ok, err := d.is(ownKey, jsonstream.Object)
	if !ok {
		return err
	}
	return d.Object(func(session []byte) error {
		if n := d.entry(session); n != nil {
			return read(n)
		}
		return d.Skip()
	})
}

// list reads an array of sessions.
func (d *snapshotDecoder) list(set func(*entry)) error {
	ok, err := d.is(ownKey, jsonstream.Array)
	if !ok {
		return err
	}
	return d.Array(func() error {
		session := ""
		err := d.nonempty(&session, fsstore.MaxSession)
		if n := d.entry([]byte(session)); n != nil {
			set(n)
		}
		return err
	})
}

// entry returns what is said of a session so far, valid until the next call:
// nil if the id is none, as that of a flawed key, or if there are too many.
func (d *snapshotDecoder) entry(session []byte) *entry {
	if len(session) == 0 {
		d.wrong = ownKey
		return nil
	}
	if d.size > maxEntries {
		return nil
	}
	i, known := d.index[string(session)]
	if !known {
		i = len(d.entries)
		d.entries = append(d.entries, entry{session: string(session)})
		d.index[d.entries[i].session] = i
		d.size += len(session) + entrySize
	}
	return &d.entries[i]
}
