package hook

import (
	"errors"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
)

// maxMessage is how much of a message is read, in bytes. More than a detail
// holds, since blank space in front is dropped.
const maxMessage = 2048

// maxWord is for names that are only compared: of events, kinds, reasons.
const maxWord = 128

// payload is what a hook payload says, in the harness's words. Empty texts
// were not said.
type payload struct {
	native                         string // name of the event
	session, cwd                   string
	tool, source, reason, trigger  string
	stopStatus, notification       string
	message, lastMessage           string
	agentID, agentType             string
	model, title, transcript, root string
	tasks                          int  // running background tasks
	proof                          bool // it proves to be the harness's own

	wrong harness.Field // a field of a wrong type or, where that matters, size
}

// decodePayload reads one JSON object, to its end even where it is not as it
// should be: a harness whose write to a hook fails may take the hook for
// broken.
func decodePayload(s *jsonstream.Scanner, hooks *harness.Hooks) (*payload, error) {
	p := new(payload)
	d := payloadDecoder{Scanner: s, payload: p}
	if k, err := s.Peek(); err != nil || k != jsonstream.Object {
		if err == nil {
			err = s.Skip()
		}
		if err == nil {
			err = errors.New("payload is no JSON object")
		}
		return nil, err
	}
	err := s.Object(func(key []byte) error { return d.field(hooks.Field(key)) })
	if err != nil {
		return nil, err
	}
	if p.wrong != harness.NoField {
		return nil, errors.New("payload field of a wrong type or size: " + fieldKey(hooks, p.wrong))
	}
	if p.root != "" {
		p.cwd = p.root
	}
	return p, nil
}

// fieldKey returns the harness's name of a field.
func fieldKey(hooks *harness.Hooks, f harness.Field) string {
	for _, k := range hooks.Keys {
		if k.Field == f {
			return k.Name
		}
	}
	return ""
}

type payloadDecoder struct {
	*jsonstream.Scanner
	*payload
	text []byte
}

// field reads the value of a field. null is the same as none.
func (d *payloadDecoder) field(f harness.Field) error {
	if f == harness.NoField {
		return d.Skip()
	}
	if null, err := d.Null(); err != nil || null {
		return err
	}
	switch f {
	case harness.EventName:
		return d.word(f, &d.native)
	case harness.SessionID:
		return d.exact(f, &d.session, fsstore.MaxSession)
	case harness.Cwd:
		return d.exact(f, &d.cwd, fsstore.MaxCwd)
	case harness.Roots:
		return d.roots()
	case harness.Tool:
		return d.str(f, &d.tool, fsstore.MaxTool)
	case harness.Source:
		return d.word(f, &d.source)
	case harness.Reason:
		return d.str(f, &d.reason, fsstore.MaxReason)
	case harness.Trigger:
		return d.word(f, &d.trigger)
	case harness.StopStatus:
		return d.word(f, &d.stopStatus)
	case harness.NotificationType:
		return d.word(f, &d.notification)
	case harness.Message:
		return d.str(f, &d.message, maxMessage)
	case harness.LastMessage:
		return d.str(f, &d.lastMessage, maxMessage)
	case harness.AgentID:
		return d.str(f, &d.agentID, fsstore.MaxSession)
	case harness.AgentType:
		return d.word(f, &d.agentType)
	case harness.Model:
		return d.str(f, &d.model, fsstore.MaxModel)
	case harness.Title:
		return d.str(f, &d.title, maxMessage)
	case harness.Transcript:
		return d.str(f, &d.transcript, fsstore.MaxPath)
	case harness.Tasks:
		return d.backgroundTasks()
	}
	d.proof = d.proof || f == harness.Proof
	return d.Skip()
}

// is reports whether the next value is of the kind. Another one is passed over
// and spoils the payload.
func (d *payloadDecoder) is(f harness.Field, kind jsonstream.Kind) (bool, error) {
	k, err := d.Peek()
	if err != nil || k == kind {
		return err == nil, err
	}
	d.wrong = f
	return false, d.Skip()
}

// str reads a text and cuts it at the limit.
func (d *payloadDecoder) str(f harness.Field, s *string, limit int) error {
	_, err := d.flawed(f, s, limit)
	return err
}

// word reads a text that is only compared with words we know.
func (d *payloadDecoder) word(f harness.Field, s *string) error { return d.str(f, s, maxWord) }

// exact reads a text that would name something else if it were mended.
func (d *payloadDecoder) exact(f harness.Field, s *string, limit int) error {
	flaws, err := d.flawed(f, s, limit)
	if flaws != 0 {
		d.wrong = f
	}
	return err
}

func (d *payloadDecoder) flawed(f harness.Field, s *string, limit int) (jsonstream.Flaws, error) {
	ok, err := d.is(f, jsonstream.String)
	if !ok {
		return 0, err
	}
	text, flaws, err := d.Text(d.text[:0], limit)
	d.text = text
	*s = string(text)
	return flaws, err
}

func (d *payloadDecoder) roots() error {
	ok, err := d.is(harness.Roots, jsonstream.Array)
	if !ok {
		return err
	}
	return d.Array(func() error {
		if d.root != "" {
			return d.Skip()
		}
		return d.exact(harness.Roots, &d.root, fsstore.MaxCwd)
	})
}

// backgroundTasks counts the tasks that run.
func (d *payloadDecoder) backgroundTasks() error {
	ok, err := d.is(harness.Tasks, jsonstream.Array)
	if !ok {
		return err
	}
	return d.Array(func() error {
		ok, err := d.is(harness.Tasks, jsonstream.Object)
		if !ok {
			return err
		}
		status := ""
		err = d.Object(func(key []byte) error {
			if string(key) != "status" {
				return d.Skip()
			}
			if null, err := d.Null(); err != nil || null {
				return err
			}
			return d.word(harness.Tasks, &status)
		})
		if status == "running" {
			d.tasks++
		}
		return err
	})
}
