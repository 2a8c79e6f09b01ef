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
	r, err := decode(text)
	if err != nil {
		return nil, err
	}
	if r.Legacy {
		return nil, invalid("schema_version", "is not 1")
	}
	r.Arrival = max(r.Arrival, 1)
	return r, r.Validate()
}

// decodeStored reads the record in the file of the given name. Its time may be
// ahead of ours, and its schema be 0.
func decodeStored(name string, text []byte) (*Record, error) {
	r, err := decode(text)
	switch {
	case err != nil:
		return nil, err
	case r.Legacy && isRecordFile(name):
		return nil, invalid("schema_version", "is not 1 in a file of schema 1")
	case r.Legacy:
		r.fillLegacy(name)
	case name != recordFile(r.digest()):
		return nil, invalid("canonical_id", "belongs to another file name")
	}
	return r, r.Validate()
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
	number  bool   // pid or process_start is a number, as in schema 0
	text    []byte // space for the text being read
}

func decode(text []byte) (*Record, error) {
	if !utf8.Valid(text) {
		return nil, invalid("text", "is not UTF-8")
	}
	d := decoder{Scanner: jsonstream.NewBytes(text), r: new(Record)}
	err := d.Object(func(key []byte) error {
		if null, err := d.Null(); err != nil || null {
			return err
		}
		if err := d.member(key); err != nil {
			if errors.Is(err, ErrInvalid) {
				return err
			}
			return &wrapped{ErrInvalid, errors.New(string(key) + ": " + err.Error())}
		}
		return nil
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
	return d.finish()
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
		d.version, err = d.Int()
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
		r.TS, err = d.Int()
	case "started":
		r.Started, err = d.Int()
	case "sequence":
		r.Sequence, err = d.Int()
		r.HasSequence = true
	case "arrival_sequence":
		r.Arrival, err = d.Int()
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
		r.Boottime, err = d.Int()
	case "waiting_for":
		err = d.waitingFor()
	case "subagents":
		r.Subagents, err = d.Int()
	case "background_tasks":
		r.BackgroundTasks, err = d.Int()
	case "recent":
		err = d.recent()
	case "end_reason":
		err = d.str(&r.EndReason)
	case "removed_at":
		r.RemovedAt, err = d.Int()
	default:
		err = d.unknown(string(key))
	}
	return err
}

var errText = errors.New("has NUL or a lone surrogate")

func (d *decoder) str(s *string) error {
	text, flaws, err := d.Text(d.text[:0], MaxRecord)
	d.text = text
	if err == nil && flaws != 0 {
		err = errText
	}
	*s = string(text)
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
	err := d.Object(func(key []byte) error {
		v := Var{Name: string(key)}
		err := d.str(&v.Value)
		env = append(env, v)
		return err
	})
	return env, err
}

func (d *decoder) focus() error {
	f := &d.r.Focus
	return d.Object(func(key []byte) error {
		if null, err := d.Null(); err != nil || null {
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
		return d.Skip()
	})
}

func (d *decoder) resume() error {
	return d.Array(func() error {
		var arg string
		err := d.str(&arg)
		d.r.Resume = append(d.r.Resume, arg)
		return err
	})
}

func (d *decoder) waitingFor() error {
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
	return d.Array(func() error {
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

// unknown keeps a member that is none of ours. Of two with one name the last
// counts, as everywhere in JSON. What Annotate derives is never stored.
func (d *decoder) unknown(name string) error {
	raw, err := d.Raw()
	if err != nil || isDerived(name) {
		return err
	}
	m := Member{name, append([]byte(nil), raw...)}
	for i := range d.r.Unknown {
		if d.r.Unknown[i].Name == name {
			d.r.Unknown[i] = m
			return nil
		}
	}
	d.r.Unknown = append(d.r.Unknown, m)
	return nil
}
