package fsstore

import (
	"errors"

	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
)

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
