package evidence

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
)

// codex reads the end of the rollout, which is the transcript of a session.
//
// A rollout names no process. It needs none: Codex opens a session for writing
// in one process at a time, and subagents and reviewers have rollouts of their
// own.
type codex struct{}

// codexTail is how much of the end is read.
const codexTail = 256 << 10

func (codex) Observe(r *fsstore.Record) (Observation, bool) {
	if !filepath.IsAbs(r.TranscriptPath) || !strings.HasSuffix(filepath.Base(r.TranscriptPath), "-"+r.Session+".jsonl") {
		return Observation{}, false
	}
	lines, whole, ok := tail(r.TranscriptPath, codexTail)
	if !ok {
		return Observation{}, false
	}
	if !whole {
		_, lines, _ = bytes.Cut(lines, []byte("\n")) // the first is a part of one
	}
	o, ok := ParseCodex(lines)
	if ok {
		o.Session = r.Session
	}
	return o, ok
}

// ParseCodex reads the last lines of a rollout, from the end to the first that
// tells of a turn. No line tells of a request for permission.
func ParseCodex(lines []byte) (Observation, bool) {
	s := new(jsonstream.Scanner)
	for len(lines) > 0 {
		lines = bytes.TrimSuffix(lines, []byte("\n"))
		start := bytes.LastIndexByte(lines, '\n') + 1
		s.Reset(lines[start:])
		lines = lines[:start]

		var l rolloutLine
		if l.read(s) != nil {
			continue // another type, or half a line: a crash, or a write under way
		}
		o, ok := l.observation()
		if !ok {
			continue
		}
		at, err := time.Parse(time.RFC3339, l.timestamp)
		if err != nil || at.Unix() <= 0 {
			return Observation{}, false
		}
		o.At = at
		return o, true
	}
	return Observation{}, false
}

// rolloutLine is a line that tells of a turn, as one of
//
//	{"timestamp":"2026-11-29T16:58:03.089Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started",…}}
//	{"timestamp":"2026-11-29T16:58:03.146Z","ordinal":5,"type":"turn_context","payload":{"approvals_reviewer":"user",…}}
type rolloutLine struct {
	timestamp, kind string
	event           string // of an event_msg: payload.type
	failed          bool   // with task_complete: payload.error
	reviewer        string // of a turn_context
}

// turnEvents are the events that tell of a turn.
var turnEvents = map[string]Observation{
	"task_started":  {Status: fsstore.Running},
	"task_complete": {Status: fsstore.Idle},
	"turn_aborted":  {Status: fsstore.Idle, Detail: interrupted},
}

func (l *rolloutLine) observation() (Observation, bool) {
	switch {
	case l.kind == "turn_context":
		// It follows the start of its turn and holds until the end: a setting
		// changed meanwhile is the next turn's.
		automatic := l.reviewer == "auto_review" || l.reviewer == "guardian_subagent" // its former name
		return Observation{Status: fsstore.Running, Automatic: automatic}, automatic
	case l.kind != "event_msg":
		return Observation{}, false
	case l.event == "task_complete" && l.failed:
		return Observation{Status: fsstore.Error, Detail: "turn failed (API error)"}, true
	}
	o, ok := turnEvents[l.event]
	return o, ok
}

var errOther = errors.New("line of another type")

// maxWord is longer than any word that is looked for.
const maxWord = 64

// read stops where it learns that the line is of another type: most are, and
// some are long.
func (l *rolloutLine) read(s *jsonstream.Scanner) error {
	err := s.Object(func(key []byte) (err error) {
		switch string(key) {
		case "timestamp":
			l.timestamp, err = text(s, maxWord)
		case "type":
			l.kind, err = text(s, maxWord)
			if err == nil && l.kind != "event_msg" && l.kind != "turn_context" {
				err = errOther
			}
		case "payload":
			err = l.readPayload(s)
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.End()
}

func (l *rolloutLine) readPayload(s *jsonstream.Scanner) error {
	return s.Object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			l.event, err = text(s, maxWord)
			if _, known := turnEvents[l.event]; err == nil && !known {
				err = errOther
			}
		case "error":
			var null bool
			if null, err = s.Null(); err == nil && !null {
				l.failed = true
				err = s.Skip()
			}
		case "approvals_reviewer":
			l.reviewer, err = text(s, maxWord)
		default:
			err = s.Skip()
		}
		return err
	})
}
