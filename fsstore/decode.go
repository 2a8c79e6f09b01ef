package fsstore

import (
	"errors"
	"strings"
	"unicode/utf8"

	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
)

// Decode reads a record of schema 1 from JSON text and validates it. Its
// arrival sequence may be missing, since the store sets it. Errors are
// ErrInvalid.
func Decode(text []byte) (*Record, error) {
	r, _, err := decode(text, 1)
	if err != nil {
		return nil, err
	}
	if r.Legacy {
		return nil, invalid("schema_version", "is not 1")
	}
	return valid(r)
}

// decodeStored reads the record in the file of the given name. Its time may be
// ahead of ours, and its schema be 0.
func decodeStored(name string, text []byte) (*Record, error) {
	r, id, err := decode(text, 0)
	switch {
	case err != nil:
		return nil, err
	case r.Legacy && isRecordFile(name):
		return nil, invalid("schema_version", "is not 1 in a file of schema 1")
	case r.Legacy:
		r.fillLegacy(name)
	case name != recordFile(id[max(len(id)-hexDigest, 0):]):
		return nil, invalid("canonical_id", "belongs to another file name")
	}
	return valid(r)
}

func valid(r *Record) (*Record, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

// fillLegacy completes a schema 0 record, which has few keys.
func (r *Record) fillLegacy(name string) {
	if r.Harness == "" {
		r.Harness = "claude"
	}
	if r.Session == "" {
		r.Session = strings.TrimSuffix(name, recordSuffix)
	}
	r.Kind = KindSession
	r.Identity = Unresolved
	if r.PID != "" {
		r.Identity = Identified
	}
	if r.Focus.Kind == "" {
		r.Focus = Focus{Kind: FocusUnavailable}
	}
}

// decoder fills a record from its keys.
type decoder struct {
	*jsonstream.Scanner
	r       *Record
	version int64
	id      string // as written
	agent   string // as written
	arrived bool   // it has an arrival sequence
	number  bool   // pid or process_start is a number, as in schema 0
	null    bool   // the value that comes next was null, see none
	key     []byte // the record's key being read
	text    []byte // space for the text being read
	source  string // the record's text, of which most of its values are parts
	kept    int    // bytes of unknown members
}

// decode reads a record and the canonical id that it states. One without an
// arrival sequence gets the given one.
func decode(text []byte, arrival int64) (r *Record, canonicalID string, err error) {
	if !utf8.Valid(text) {
		return nil, "", invalid("text", "is not UTF-8")
	}
	d := decoder{Scanner: jsonstream.NewBytes(text), r: new(Record), source: string(text)}
	err = d.Object(func(key []byte) (err error) {
		d.key = append(d.key[:0], key...) // the scanner's own is overwritten by the keys in the value
		if d.null, err = d.Null(); err == nil {
			err = d.member(d.key)
		}
		if err != nil && !errors.Is(err, ErrInvalid) {
			err = &wrapped{ErrInvalid, errors.New(string(d.key) + ": " + err.Error())}
		}
		return err
	})
	if err == nil {
		err = d.End()
	}
	if err != nil {
		if !errors.Is(err, ErrInvalid) {
			err = &wrapped{ErrInvalid, err}
		}
		return nil, "", err
	}
	if !d.arrived {
		d.r.Arrival = arrival
	}
	r, err = d.finish()
	return r, d.id, err
}

// none reports whether the value was null, which is the same as no member. Of
// several members of one name the last counts: the methods below begin by
// forgetting what an earlier one said.
func (d *decoder) none() bool {
	null := d.null
	d.null = false
	return null
}

// finish checks what only the decoder sees.
func (d *decoder) finish() (*Record, error) {
	r := d.r
	switch d.version {
	case 0:
		r.Legacy = true
		if r.Harness == "" {
			r.Harness = d.agent
		}
		return r, nil
	case 1:
	default:
		return nil, invalid("schema_version", "is newer than this program")
	}
	if d.number {
		return nil, invalid("pid", "or process_start is a number, not text")
	}
	if r.Harness != d.agent {
		return nil, invalid("agent", "differs from harness_id")
	}
	if d.id != r.CanonicalID() {
		return nil, invalid("canonical_id", "does not match harness_id, session_id and instance_id")
	}
	return r, nil
}

func (d *decoder) member(key []byte) (err error) {
	r := d.r
	switch string(key) {
	case "schema_version":
		err = d.int(&d.version)
	case "record_kind":
		err = d.str(&r.Kind)
	case "canonical_id":
		err = d.str(&d.id)
	case "session_id":
		err = d.str(&r.Session)
	case "instance_id":
		err = d.str(&r.Instance)
	case "harness_id":
		err = d.harness(&r.Harness)
	case "agent":
		err = d.harness(&d.agent)
	case "repo":
		err = d.str(&r.Repo)
	case "cwd":
		err = d.str(&r.Cwd)
	case "pid":
		err = d.decimal(&r.PID)
	case "process_start":
		err = d.decimal(&r.ProcessStart)
	case "process_identity":
		err = d.str(&r.Identity)
	case "status":
		err = d.status(&r.Status)
	case "detail":
		err = d.str(&r.Detail)
	case "tool":
		err = d.str(&r.Tool)
	case "ts":
		err = d.int(&r.TS)
	case "started":
		err = d.int(&r.Started)
	case "sequence":
		r.HasSequence = !d.null
		err = d.int(&r.Sequence)
	case "arrival_sequence":
		d.arrived = !d.null
		err = d.int(&r.Arrival)
	case "source":
		err = d.str(&r.Source)
	case "last_event":
		err = d.str(&r.LastEvent)
	case "terminal":
		err = d.str(&r.Terminal)
	case "terminal_env":
		r.TerminalEnv, err = d.env()
	case "focus_target":
		err = d.focus()
	case "boot_id":
		err = d.str(&r.BootID)
	case "pid_namespace":
		err = d.str(&r.PIDNamespace)
	case "machine_id":
		err = d.str(&r.MachineID)
	case "title":
		err = d.str(&r.Title)
	case "transcript_path":
		err = d.str(&r.TranscriptPath)
	case "model":
		err = d.str(&r.Model)
	case "resume":
		err = d.resume()
	case "mode":
		err = d.str(&r.Mode)
	case "tty":
		err = d.str(&r.TTY)
	case "boottime_ns":
		err = d.int(&r.Boottime)
	case "waiting_for":
		err = d.waitingFor()
	case "subagents":
		err = d.int(&r.Subagents)
	case "background_tasks":
		err = d.int(&r.BackgroundTasks)
	case "recent":
		err = d.recent()
	case "end_reason":
		err = d.str(&r.EndReason)
	case "removed_at":
		err = d.int(&r.RemovedAt)
	default:
		err = d.unknown(string(key))
	}
	return err
}

var errText = errors.New("has NUL or a lone surrogate")

func (d *decoder) str(s *string) error {
	*s = ""
	if d.none() {
		return nil
	}
	if d.source != "" {
		if from, to, ok := d.Span(); ok {
			*s = d.source[from:to]
			return nil
		}
	}
	text, flaws, err := d.Text(d.text[:0], MaxRecord)
	d.text = text
	if err == nil && flaws != 0 {
		err = errText
	}
	*s = string(text)
	return err
}

func (d *decoder) int(n *int64) (err error) {
	*n = 0
	if d.none() {
		return nil
	}
	*n, err = d.Int()
	return err
}

// harness reads a harness id. Known ones share the table's memory.
func (d *decoder) harness(id *string) error {
	if err := d.str(id); err != nil {
		return err
	}
	if h := harness.ByID(*id); h != nil {
		*id = h.ID
	}
	return nil
}

func (d *decoder) status(s *Status) error {
	var text string
	err := d.str(&text)
	*s = Status(text)
	return err
}

// decimal reads a number that schema 1 writes as text, and schema 0 also as a
// number.
func (d *decoder) decimal(s *string) error {
	if d.null {
		return d.str(s)
	}
	if k, err := d.Peek(); err != nil {
		return err
	} else if k != jsonstream.Number {
		return d.str(s)
	}
	d.number = true
	raw, err := d.Raw()
	*s = string(raw)
	return err
}

func (d *decoder) env() ([]Var, error) {
	var env []Var
	if d.none() {
		return nil, nil
	}
	err := d.Object(func(key []byte) error {
		v := Var{Name: string(key)}
		err := d.str(&v.Value)
		if i := indexVar(env, v.Name); i >= 0 {
			env[i] = v
		} else {
			if env == nil {
				env = make([]Var, 0, 8)
			}
			env = append(env, v)
		}
		return err
	})
	return env, err
}

// indexVar returns where a variable is, or -1. Beyond the limit it does not
// look: then the record is not valid.
func indexVar(env []Var, name string) int {
	if len(env) <= MaxEnv {
		for i := range env {
			if env[i].Name == name {
				return i
			}
		}
	}
	return -1
}

func (d *decoder) focus() error {
	f := &d.r.Focus
	*f = Focus{}
	if d.none() {
		return nil
	}
	return d.Object(func(key []byte) (err error) {
		if d.null, err = d.Null(); err != nil {
			return err
		}
		switch string(key) {
		case "kind":
			return d.str(&f.Kind)
		case "terminal":
			return d.str(&f.Terminal)
		case "terminal_env":
			env, err := d.env()
			f.Env = env
			return err
		case "desktop_target":
			return d.str(&f.DesktopTarget)
		}
		if d.none() {
			return nil
		}
		return d.Skip()
	})
}

func (d *decoder) resume() error {
	d.r.Resume = nil
	if d.none() {
		return nil
	}
	return d.Array(func() error {
		if d.r.Resume == nil {
			d.r.Resume = make([]string, 0, 4)
		}
		var arg string
		err := d.str(&arg)
		d.r.Resume = append(d.r.Resume, arg)
		return err
	})
}

func (d *decoder) waitingFor() error {
	d.r.WaitingFor = nil
	if d.none() {
		return nil
	}
	w := new(Wait)
	d.r.WaitingFor = w
	return d.Object(func(key []byte) error {
		switch string(key) {
		case "agent_id":
			return d.str(&w.AgentID)
		case "tool":
			return d.str(&w.Tool)
		}
		return d.Skip()
	})
}

func (d *decoder) recent() error {
	d.r.Recent = nil
	if d.none() {
		return nil
	}
	return d.Array(func() error {
		if d.r.Recent == nil {
			d.r.Recent = make([]Recent, 0, MaxRecent)
		}
		var e Recent
		err := d.Object(func(key []byte) (err error) {
			switch string(key) {
			case "event":
				err = d.str(&e.Event)
			case "status":
				err = d.status(&e.Status)
			case "ts":
				e.TS, err = d.Int()
			default:
				err = d.Skip()
			}
			return err
		})
		d.r.Recent = append(d.r.Recent, e)
		return err
	})
}

// unknown keeps a member that is none of ours, on one line. What Annotate
// derives is never stored.
func (d *decoder) unknown(name string) error {
	raw := []byte("null")
	if !d.none() {
		var err error
		if raw, err = d.Raw(); err != nil {
			return err
		}
	}
	if isDerived(name) {
		return nil
	}
	m := Member{name, jsonstream.AppendValue(make([]byte, 0, len(raw)), raw)}
	// What cannot be written need not be read, nor be searched for the names.
	if d.kept += len(name) + len(m.Value); d.kept > MaxRecord {
		return tooLong()
	}
	for i := range d.r.Unknown {
		if d.r.Unknown[i].Name == name {
			d.r.Unknown[i] = m
			return nil
		}
	}
	d.r.Unknown = append(d.r.Unknown, m)
	return nil
}
