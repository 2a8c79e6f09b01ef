package fsstore

import (
	"errors"
	"strings"
	"unicode/utf8"

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
	case SourceHook:
		return SourceHook, true
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
