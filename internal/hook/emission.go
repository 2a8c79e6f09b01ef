package hook

import (
	"strconv"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/proc"
)

// emission is a fleet-event: an emitter inside the harness, such as an
// extension of Pi, says itself what state its session is in, and in which
// order by a sequence of its own.
type emission struct {
	event
	status   fsstore.Status
	detail   string
	sequence int64
}

// readEmission reads a fleet-event. A key that is missing, of a wrong type or
// of a value that a record could not hold refuses the whole.
func readEmission(c command, scanner *jsonstream.Scanner, e event) (change, error) {
	m := &emission{event: e}
	m.payload = new(payload)
	d := emissionDecoder{m: m}
	d.Scanner, d.payload, d.what = scanner, m.payload, fleetEvent
	if err := d.decode(); err != nil {
		return nil, err
	}
	id, name, ok := strings.Cut(d.native, ".")
	if m.harness = harness.ByID(id); m.harness == nil || !ok || name == "" {
		return nil, d.refuse("event_id", "does not begin with the id of a harness and a dot")
	}
	if c.named && c.agent != m.harness {
		return nil, dropped("fleet-event of " + id + " for " + c.agent.ID)
	}
	if !m.status.Valid() || m.status == fsstore.Discovered {
		return nil, d.refuse("status", "is unknown")
	}
	if m.ts > e.ts+fsstore.MaxAhead {
		return nil, d.refuse("ts", "is in the future")
	}
	m.name = cut(name, fsstore.MaxEvent-len(id)-1)
	m.key.Harness = id
	m.boot, _ = proc.Root.BootID()
	if Getenv("TONGS_AGENTS_PRIVATE") == "1" {
		m.detail, m.title = "", ""
	}
	return m, nil
}

func (m *emission) ends() bool { return m.status == fsstore.Ended }

// creates: an emitter whose process lives is no straggler, whatever it says.
func (m *emission) creates() bool { return m.status != fsstore.Ended }

func (m *emission) apply(store *fsstore.Store, old *fsstore.Record) *fsstore.Record {
	r := fsstore.Record{Key: m.key, Kind: fsstore.KindSession, Started: m.ts}
	if old != nil {
		r = *old
	}
	r.PID, r.ProcessStart = strconv.Itoa(m.owner.PID), m.owner.Start // the store refuses another one's
	if r.Status == fsstore.Ended && m.status != fsstore.Started && m.status != fsstore.Running {
		return nil
	}
	if keepsError(&r, m.status) {
		m.setTo(&r, r.Status, r.Detail)
	} else {
		m.setTo(&r, m.status, m.detail)
	}
	r.Sequence, r.HasSequence = m.sequence, true
	return m.finish(store, &r, state)
}

// keepsError reports whether a status that a program reports of itself is only
// the end of the turn that has failed.
func keepsError(r *fsstore.Record, s fsstore.Status) bool {
	return r.Status == fsstore.Error && s == fsstore.Idle
}

// setTo sets the state that a program reports of itself.
func (e *event) setTo(r *fsstore.Record, s fsstore.Status, detail string) {
	var wait *fsstore.Wait
	if s == fsstore.Waiting {
		wait = &fsstore.Wait{Tool: e.tool}
	}
	e.set(r, s, oneLine(detail, fsstore.MaxDetail), wait)
	r.Tool, r.EndReason = e.tool, ""
}

// emissionDecoder decodes the keys of a fleet-event.
type emissionDecoder struct {
	strictDecoder
	m    *emission
	seen emissionKeys
}

// emissionKeys is a set of keys that a fleet-event must have.
type emissionKeys uint

const (
	keyVersion emissionKeys = 1 << iota
	keyEvent
	keySession
	keyInstance
	keySequence
	keyPID
	keyCwd
	keyStatus
	allKeys = 1<<iota - 1
)

func (d *emissionDecoder) decode() error {
	err := d.strictDecoder.decode(d.member)
	if err == nil && d.seen != allKeys {
		err = d.refuse("schema_version, event_id, session_id, instance_id, sequence, pid, cwd or status", "is missing")
	}
	return err
}

func (d *emissionDecoder) member(key string) (err error) {
	m, text := d.m, ""
	switch key {
	case "schema_version":
		d.seen |= keyVersion
		var n int64
		if n, err = d.number(); n != 1 {
			d.wrong = ownKey
		}
	case "event_id":
		d.seen |= keyEvent
		err = d.str(ownKey, &d.native, fsstore.MaxEvent)
	case "session_id":
		d.seen |= keySession
		err = d.nonempty(&m.key.Session, fsstore.MaxSession)
	case "instance_id":
		d.seen |= keyInstance
		err = d.nonempty(&m.key.Instance, fsstore.MaxInstance)
		if m.key.Instance == fsstore.Unresolved {
			d.wrong = ownKey
		}
	case "sequence":
		d.seen |= keySequence
		m.sequence, err = d.number()
	case "pid":
		d.seen |= keyPID
		m.owner, err = d.pid()
	case "cwd":
		d.seen |= keyCwd
		err = d.exact(ownKey, &d.cwd, fsstore.MaxCwd)
	case "status":
		d.seen |= keyStatus
		err = d.word(ownKey, &text)
		m.status = fsstore.Status(text)
	case "detail":
		err = d.str(ownKey, &m.detail, maxMessage)
	case "tool":
		err = d.str(ownKey, &d.tool, fsstore.MaxTool)
	case "title":
		err = d.str(ownKey, &d.title, maxMessage)
	case "ts":
		m.ts, err = d.number()
	default:
		err = d.Skip()
	}
	return err
}
