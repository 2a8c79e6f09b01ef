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
	r, err := newDecoder(1).decode(text, 1)
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
func (d *decoder) decodeStored(name string, text []byte) (*Record, error) {
	r, err := d.decode(text, 0)
	switch {
	case err != nil:
		return nil, err
	case r.Legacy && isRecordFile(name):
		return nil, invalid("schema_version", "is not 1 in a file of schema 1")
	case r.Legacy:
		r.fillLegacy(name)
	case !isRecordFile(name) || name[len(recordPrefix):len(recordPrefix)+hexDigest] != string(d.id[len(d.id)-hexDigest:]):
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

// decoder fills records from their keys, one after the other. What they hold
// shares memory, in pieces for a given number of records: a listing of many
// would spend most of its time on pages of memory touched for the first time.
type decoder struct {
	jsonstream.Scanner
	r       *Record
	version int64
	id      []byte // as written
	agent   string // as written
	arrived bool   // it has an arrival sequence
	number  bool   // pid or process_start is a number, as in schema 0
	null    bool   // the value that comes next was null, see none
	kept    int    // bytes of unknown members
	key     []byte // the record's key being read
	text    []byte // space for the text being read

	many    int // records that a piece of memory is for
	records []Record
	texts   strings.Builder
	vars    []Var
	recents []Recent
	args    []string
	first   struct { // all that one usual record needs
		records [1]Record
		vars    [2 * usualEnv]Var
		recents [MaxRecent]Recent
		args    [usualArgs]string
		id      [128]byte
		key     [32]byte
		text    [256]byte
	}
}

// How much records usually have.
const (
	usualEnv  = 8
	usualArgs = 4
	usualText = 512 // bytes in all
)

func newDecoder(many int) *decoder {
	d := &decoder{many: many}
	first := &d.first
	d.records, d.vars, d.recents, d.args = first.records[:0], first.vars[:0], first.recents[:0], first.args[:0]
	d.id, d.key, d.text = first.id[:0], first.key[:0], first.text[:0]
	return d
}

// decode reads a record. One without an arrival sequence gets the given one.
func (d *decoder) decode(text []byte, arrival int64) (*Record, error) {
	if !utf8.Valid(text) {
		return nil, invalid("text", "is not UTF-8")
	}
	d.begin(text)
	err := d.Object(func(key []byte) (err error) {
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
		return nil, err
	}
	if !d.arrived {
		d.r.Arrival = arrival
	}
	return d.r, d.finish()
}

func (d *decoder) begin(text []byte) {
	d.Reset(text)
	if len(d.records) == cap(d.records) {
		d.records = make([]Record, 0, d.many)
	}
	d.records = append(d.records, Record{})
	d.r = &d.records[len(d.records)-1]
	d.version, d.id, d.agent, d.kept = 0, d.id[:0], "", 0
	d.arrived, d.number, d.null = false, false, false
}

// keep returns a text that lasts.
func (d *decoder) keep(text []byte) string {
	if word, ok := knownWord(text); ok {
		return word
	}
	if d.texts.Cap()-d.texts.Len() < len(text) {
		d.texts.Reset()
		d.texts.Grow(max(usualText*d.many, len(text)))
	}
	from := d.texts.Len()
	d.texts.Write(text)
	return d.texts.String()[from:]
}

// knownWord returns the words that most records have.
func knownWord(text []byte) (string, bool) {
	switch string(text) {
	case "":
		return "", true
	case KindSession:
		return KindSession, true
	case Identified:
		return Identified, true
	case Unresolved:
		return Unresolved, true
	case FocusTerminal:
		return FocusTerminal, true
	case FocusUnavailable:
		return FocusUnavailable, true
	case Interactive:
		return Interactive, true
	case "hook":
		return "hook", true
	}
	return "", false
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
func (d *decoder) finish() error {
	r := d.r
	switch v := d.version; {
	case v == 0:
		r.Legacy = true
		if r.Harness == "" {
			r.Harness = d.agent
		}
		return nil
	case v < 0:
		return invalid("schema_version", "is negative")
	case v > 1:
		return &wrapped{ErrInvalid, ErrNewer}
	}
	if d.number {
		return invalid("pid", "or process_start is a number, not text")
	}
	if r.Harness != d.agent {
		return invalid("agent", "differs from harness_id")
	}
	if d.text = r.appendCanonicalID(d.text[:0]); string(d.id) != string(d.text) {
		return invalid("canonical_id", "does not match harness_id, session_id and instance_id")
	}
	return nil
}

func (d *decoder) member(key []byte) (err error) {
	r := d.r
	switch string(key) {
	case "schema_version":
		err = d.int(&d.version)
	case "record_kind":
		err = d.str(&r.Kind)
	case "canonical_id":
		err = d.canonicalID()
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

// bytes reads a text, which is valid until the next one is read.
func (d *decoder) bytes() ([]byte, error) {
	if d.none() {
		return nil, nil
	}
	if text, ok := d.Span(); ok {
		return text, nil
	}
	text, flaws, err := d.Text(d.text[:0], MaxRecord)
	d.text = text
	if err == nil && flaws != 0 {
		err = errText
	}
	return text, err
}

func (d *decoder) str(s *string) error {
	text, err := d.bytes()
	*s = d.keep(text)
	return err
}

func (d *decoder) canonicalID() error {
	text, err := d.bytes()
	d.id = append(d.id[:0], text...)
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
	text, err := d.bytes()
	if h := harness.ByID(string(text)); h != nil {
		*id = h.ID
	} else {
		*id = d.keep(text)
	}
	return err
}

func (d *decoder) status(s *Status) error {
	text, err := d.bytes()
	for _, known := range Statuses {
		if string(text) == string(known) {
			*s = known
			return err
		}
	}
	*s = Status(d.keep(text))
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
	if d.none() {
		return nil, nil
	}
	d.vars = room(d.vars, usualEnv, d.many)
	from := len(d.vars)
	err := d.Object(func(key []byte) error {
		v := Var{Name: d.keep(key)}
		err := d.str(&v.Value)
		if i := indexVar(d.vars[from:], v.Name); i >= 0 {
			d.vars[from+i] = v
		} else {
			d.vars = append(d.vars, v)
		}
		return err
	})
	return taken(d.vars, from), err
}

// room returns a slice with room for a record's share: the same one, or a new
// one with some more for the records that follow.
func room[T any](s []T, share, many int) []T {
	if cap(s)-len(s) >= share {
		return s
	}
	return make([]T, 0, share+share*(many-1)/4)
}

// taken returns what was appended since, nil for nothing. An append to it does
// not write into what follows.
func taken[T any](s []T, from int) []T {
	if len(s) == from {
		return nil
	}
	return s[from:len(s):len(s)]
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
	d.args = room(d.args, usualArgs, d.many)
	from := len(d.args)
	err := d.Array(func() error {
		var arg string
		err := d.str(&arg)
		d.args = append(d.args, arg)
		return err
	})
	d.r.Resume = taken(d.args, from)
	return err
}

func (d *decoder) waitingFor() error {
	d.r.WaitingFor = nil
	if d.none() {
		return nil
	}
	w := new(Wait)
	d.r.WaitingFor = w
	return d.Object(func(key []byte) (err error) {
		if d.null, err = d.Null(); err != nil {
			return err
		}
		switch string(key) {
		case "agent_id":
			return d.str(&w.AgentID)
		case "tool":
			return d.str(&w.Tool)
		}
		if d.none() {
			return nil
		}
		return d.Skip()
	})
}

func (d *decoder) recent() error {
	d.r.Recent = nil
	if d.none() {
		return nil
	}
	d.recents = room(d.recents, MaxRecent, d.many)
	from := len(d.recents)
	err := d.Array(func() error {
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
		d.recents = append(d.recents, e)
		return err
	})
	d.r.Recent = taken(d.recents, from)
	return err
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
