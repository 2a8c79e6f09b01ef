package hook

import (
	"errors"
	"strconv"

	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/proc"
)

// strictDecoder decodes a payload in our own words: a fleet-event or a
// snapshot. A key of a wrong type, size or value refuses the whole.
type strictDecoder struct {
	payloadDecoder
	what string // the payload is called
	bad  string // the first key that is wrong
}

// ownKey is the field that a key of ours is: what is wrong is told by bad.
const ownKey = harness.Proof

func (d *strictDecoder) refuse(key, why string) error {
	return errors.New(d.what + ": " + key + " " + why)
}

// decode reads one object to its end, and calls member for each value that is
// not null.
func (d *strictDecoder) decode(member func(key string) error) error {
	if k, err := d.Peek(); err != nil || k != jsonstream.Object {
		if err == nil {
			err = d.Skip()
		}
		if err == nil {
			err = d.refuse("payload", "is no JSON object")
		}
		return err
	}
	err := d.Object(func(key []byte) error {
		if null, err := d.Null(); err != nil || null {
			return err
		}
		d.wrong = harness.NoField
		name := string(key)
		err := member(name)
		if d.wrong != harness.NoField && d.bad == "" {
			d.bad = name
		}
		return err
	})
	if err == nil && d.bad != "" {
		err = d.refuse(d.bad, "is of a wrong type, size or value")
	}
	return err
}

func (d *strictDecoder) nonempty(s *string, limit int) error {
	err := d.exact(ownKey, s, limit)
	if *s == "" {
		d.wrong = ownKey
	}
	return err
}

// number reads an integer that is not negative.
func (d *strictDecoder) number() (int64, error) {
	ok, err := d.is(ownKey, jsonstream.Number)
	if !ok {
		return 0, err
	}
	n, err := d.Int()
	if n < 0 || err == jsonstream.ErrType { // a fraction, an exponent, or one too large
		d.wrong = ownKey
		err = nil
	}
	return n, err
}

// pid reads the pid of whoever sends the payload, a number or the same as
// text. It must live.
func (d *strictDecoder) pid() (*proc.Process, error) {
	k, err := d.Peek()
	if err != nil {
		return nil, err
	}
	var n int64
	if k == jsonstream.String {
		text := ""
		err = d.word(ownKey, &text)
		n, _ = strconv.ParseInt(text, 10, 32)
	} else {
		n, err = d.number()
	}
	if err != nil {
		return nil, err
	}
	p := liveProcess(n)
	if p == nil {
		d.wrong = ownKey
	}
	return p, nil
}

// liveProcess returns the process of a pid, nil if there is none.
func liveProcess(pid int64) *proc.Process {
	if pid <= 0 || pid > 1<<31-1 || proc.Root.Foreign() {
		return nil
	}
	p, err := proc.Root.Process(int(pid))
	if err != nil || p.Dead() {
		return nil
	}
	return p
}
