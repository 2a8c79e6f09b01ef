package fsstore

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"tongs-agents/internal/harness"
)

// Instance is the index of an emitter that reports all its sessions at once:
// what its last snapshot named. The next one ends what it leaves out. The file
// goes with the emitter's process.
type Instance struct {
	Harness, ID string // as in a Key

	PID, ProcessStart               string // as in a Record; empty: no process is known
	BootID, PIDNamespace, MachineID string // where they mean something
	Boottime                        int64  // nanoseconds of CLOCK_BOOTTIME: the last snapshot

	// Sessions are those whose records have not ended, or may not have, each once.
	Sessions []string
}

const (
	instancePrefix = lockPrefix + "instance-"
	instanceSuffix = ".idx"
)

func instanceFile(digest string) string { return instancePrefix + digest + instanceSuffix }
func instanceLock(digest string) string { return instancePrefix + digest + lockSuffix }

// NewerThan is Record.NewerThan for the last snapshot.
func (i *Instance) NewerThan(bootID string, boottime int64) bool {
	return newer(i.BootID, i.Boottime, bootID, boottime)
}

// Validate checks everything that an index must be, its length included. The
// error is ErrInvalid and names the key.
func (i *Instance) Validate() error {
	_, err := i.encode()
	return err
}

func (i *Instance) encode() ([]byte, error) {
	if err := i.validateParts(); err != nil {
		return nil, err
	}
	text := i.appendJSON(make([]byte, 0, 1<<10))
	if len(text) > MaxRecord {
		return nil, invalid("sessions", "are more than "+strconv.Itoa(MaxRecord)+" bytes hold: "+strconv.Itoa(len(i.Sessions)))
	}
	return text, nil
}

func (i *Instance) validateParts() error {
	switch {
	case harness.ByID(i.Harness) == nil:
		return invalid("harness_id", "is no registered harness: "+strconv.Quote(i.Harness))
	case i.ID == "" || i.ID == Unresolved:
		return invalid("instance_id", "is empty or unresolved")
	case !isDecimal(i.PID) || !isDecimal(i.ProcessStart):
		return invalid("pid", "or process_start is not decimal")
	case i.Boottime < 0:
		return invalid("boottime_ns", "is negative")
	}
	for _, t := range [...]struct {
		key, text string
		max       int
	}{
		{"instance_id", i.ID, MaxInstance},
		{"pid", i.PID, maxNumber},
		{"process_start", i.ProcessStart, maxNumber},
		{"boot_id", i.BootID, maxID},
		{"pid_namespace", i.PIDNamespace, maxID},
		{"machine_id", i.MachineID, maxID},
	} {
		if err := validateText(t.key, t.text, t.max); err != nil {
			return err
		}
	}
	for _, session := range i.Sessions {
		if session == "" {
			return invalid("sessions", "has an empty id")
		}
		if err := validateText("sessions", session, MaxSession); err != nil {
			return err
		}
	}
	return nil
}

func (i *Instance) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("harness_id", i.Harness)
	o.text("instance_id", i.ID)
	o.text("pid", i.PID)
	o.text("process_start", i.ProcessStart)
	o.optionalText("boot_id", i.BootID)
	o.optionalText("pid_namespace", i.PIDNamespace)
	o.optionalText("machine_id", i.MachineID)
	o.int("boottime_ns", i.Boottime)
	o.texts("sessions", i.Sessions)
	return append(o.b, '}')
}

// Instances returns the names of the index files, in no order.
func (c Contents) Instances() []string {
	var found []string
	for _, name := range c.names {
		if strings.HasPrefix(name, instancePrefix) && strings.HasSuffix(name, instanceSuffix) {
			found = append(found, name)
		}
	}
	return found
}

// Instance reads an index file without its lock: fs.ErrNotExist, ErrInvalid, or
// what the system says.
func (s *Store) Instance(name string) (*Instance, error) {
	text, err := readPrivate(s.sessions, name, nil)
	if err != nil {
		return nil, err
	}
	i, err := decodeInstance(text)
	switch {
	case err != nil:
		return nil, &wrapped{ErrInvalid, err}
	case name != instanceFile(digest(i.Harness, i.ID)):
		return nil, invalid("instance_id", "belongs to another file name")
	}
	if err := i.validateParts(); err != nil {
		return nil, err
	}
	return i, nil
}

// RemoveInstance removes an index file under its lock if over says so of what
// is in it, nil for what is no index, and of the time of its last snapshot.
func (s *Store) RemoveInstance(name string, wait time.Duration, over func(*Instance, time.Time) bool) error {
	written := modified(s.sessions, name)
	if i, err := s.Instance(name); errors.Is(err, fs.ErrNotExist) || !over(i, written) {
		return nil
	}
	digest := name[len(instancePrefix) : len(name)-len(instanceSuffix)]
	lock, err := s.lock(instanceLock(digest), time.Now().Add(wait))
	if err != nil {
		return err
	}
	defer lock.release()
	if i, err := s.Instance(name); errors.Is(err, fs.ErrNotExist) || !over(i, modified(s.sessions, name)) {
		return nil
	}
	return unlink(s.sessions, name)
}

func decodeInstance(text []byte) (*Instance, error) {
	i := new(Instance)
	d := newDecoder(1)
	d.begin(text)
	err := d.Object(func(key []byte) (err error) {
		switch string(key) {
		case "harness_id":
			err = d.harness(&i.Harness)
		case "instance_id":
			err = d.str(&i.ID)
		case "pid":
			err = d.str(&i.PID)
		case "process_start":
			err = d.str(&i.ProcessStart)
		case "boot_id":
			err = d.str(&i.BootID)
		case "pid_namespace":
			err = d.str(&i.PIDNamespace)
		case "machine_id":
			err = d.str(&i.MachineID)
		case "boottime_ns":
			i.Boottime, err = d.Int()
		case "sessions":
			err = d.Array(func() error {
				var session string
				err := d.str(&session)
				i.Sessions = append(i.Sessions, session)
				return err
			})
		default:
			err = d.Skip()
		}
		return err
	})
	return i, err
}

// HeldInstance is an index under its lock.
type HeldInstance struct {
	Stored *Instance // nil: there is none

	store  *Store
	digest string
	lock   heldLock
}

// HoldInstance takes the lock of an index and reads it. Whoever wants the locks
// of sessions too takes them after it. Something that is no index counts as
// none, and is replaced. Release ends it.
func (s *Store) HoldInstance(harness, id string, wait time.Duration) (*HeldInstance, error) {
	h := &HeldInstance{store: s, digest: digest(harness, id)}
	var err error
	if h.lock, err = s.lock(instanceLock(h.digest), time.Now().Add(wait)); err != nil {
		return nil, err
	}
	h.Stored, err = s.Instance(instanceFile(h.digest))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrInvalid):
		h.Stored = nil
	case err != nil:
		h.Release()
		return nil, unavailable(err)
	}
	return h, nil
}

// Write replaces the index. Like a record, it survives the death of every
// process, but not a power cut.
func (h *HeldInstance) Write(i *Instance) error {
	text, err := i.encode()
	if err != nil {
		return err
	}
	return writeFile(h.store.sessions, instanceFile(h.digest), text)
}

// Release gives the lock back.
func (h *HeldInstance) Release() { h.lock.release() }
