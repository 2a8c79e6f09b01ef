package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
	"tongs-agents/proc"
)

// The operations on a record.
const (
	opUpdate = "update" // also where there is none
	opChange = "change" // only where there is one
	opPeek   = "peek"   // an update that changes nothing
	opImport = "import"
	opGet    = "get"
	opList   = "list"   // all records
	opLook   = "look"   // at a view that was read before
	opSurvey = "survey" // as a maintainer begins
	opRemove = "remove" // what the survey has found
	opAmend  = "amend"  // that
)

// input is what an operation is to do.
type input struct {
	Op       string
	Token    string `json:",omitempty"` // of what it writes
	Boottime int64  `json:",omitempty"` // of what it imports
	Held     string `json:",omitempty"` // token of the version that it is about
}

// output is what came of it.
type output struct {
	Unknown bool   `json:",omitempty"` // the process was killed
	Refused string `json:",omitempty"` // why nothing was done
	Found   state  // what was there
	Arrival int64  `json:",omitempty"` // of what was written
	Wrong   string `json:",omitempty"` // what can be right in no order
}

// state is what a record says, as far as the operations tell it.
type state struct {
	Token    string `json:",omitempty"` // empty: there is none
	Arrival  int64  `json:",omitempty"`
	Boottime int64  `json:",omitempty"`
}

// Why nothing was done.
const (
	refusedStale   = "stale"
	refusedMissing = "missing"
)

// participant is a client in one history.
type participant struct {
	store  *fsstore.Store
	view   *fsstore.View
	key    fsstore.Key
	held   *fsstore.Stored // by the last survey
	random *rand.Rand
	boot   string
	out    *json.Encoder
}

// takePart does a client's part of a history.
func takePart(o historyOrder, out *json.Encoder) error {
	s, err := fsstore.Open(o.State, fsstore.Create)
	if err != nil {
		return err
	}
	defer s.Close()
	p := &participant{
		store: s, view: s.View(), key: fsstore.Key{Harness: "other", Session: "s", Instance: "emitter"},
		random: rand.New(rand.NewPCG(o.Seed, 0)), boot: proc.Root.Host().BootID, out: out,
	}
	until(o.Start)
	for n := range clientActions {
		if err := p.act(p.choose(fmt.Sprintf("%d.%02d", o.Client, n))); err != nil {
			return err
		}
	}
	return nil
}

// choose makes an operation. What is about a version comes soon after a survey.
func (p *participant) choose(token string) input {
	if p.held != nil && p.random.IntN(2) == 0 {
		in := input{Op: opRemove, Held: p.held.Detail}
		if p.random.IntN(2) == 0 {
			in.Op, in.Token = opAmend, token
		}
		return in
	}
	in := input{Op: anyTime[p.random.IntN(len(anyTime))]}
	switch in.Op {
	case opUpdate, opChange:
		in.Token = token
	case opImport:
		in.Token, in.Boottime = token, 1+p.random.Int64N(9)
	}
	return in
}

// anyTime are the operations that need no other before them.
var anyTime = []string{opUpdate, opUpdate, opChange, opPeek, opImport, opGet, opList, opLook, opSurvey}

// act does one operation, and tells of it before and after.
func (p *participant) act(in input) error {
	if err := p.out.Encode(line{Time: linux.Boottime(), Input: &in}); err != nil {
		return err
	}
	var out output
	err := p.do(in, &out)
	switch {
	case errors.Is(err, fsstore.ErrStale):
		out.Refused = refusedStale
	case errors.Is(err, fs.ErrNotExist):
		out.Refused = refusedMissing
	case err != nil:
		out.Wrong = err.Error()
	}
	return p.out.Encode(line{Time: linux.Boottime(), Output: &out})
}

func (p *participant) do(in input, out *output) error {
	var found []*fsstore.Record
	var unreadable []fsstore.Unreadable
	var err error
	switch in.Op {
	case opUpdate, opChange, opPeek:
		return p.update(in, out)
	case opImport:
		r := p.record(in.Token)
		r.Boottime = in.Boottime
		return arrived(out)(p.store.Import(r, patience))
	case opRemove:
		held := p.held
		p.held = nil
		return p.store.Remove(*held, patience)
	case opAmend:
		held := p.held
		p.held = nil
		_, err := p.store.Amend(*held, patience, func(r *fsstore.Record) { r.Detail, r.Cwd = in.Token, wide(in.Token) })
		return err
	case opGet:
		r, err := p.store.Get(p.key)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		found = append(found, r)
	case opList:
		found, unreadable, err = p.store.All()
	case opLook:
		_, err = p.view.Refresh()
		found, unreadable = p.view.Records()
	case opSurvey:
		var c fsstore.Contents
		c, err = p.store.Contents()
		p.held, unreadable = nil, c.Unreadable
		for i := range c.Records {
			p.held = &c.Records[i]
			found = append(found, p.held.Record)
		}
	}
	if len(found) > 1 || len(unreadable) > 0 {
		return fmt.Errorf("%d records, unreadable %v", len(found), unreadable)
	}
	if err != nil || len(found) == 0 {
		return err
	}
	out.Found, err = stateOf(found[0])
	return err
}

func (p *participant) update(in input, out *output) error {
	var torn error
	r, err := p.store.Update(p.key, fsstore.Rules{Create: in.Op != opChange, Wait: patience}, func(old *fsstore.Record) (*fsstore.Record, error) {
		if old != nil {
			out.Found, torn = stateOf(old)
		}
		if in.Op == opPeek {
			return nil, nil
		}
		return p.record(in.Token), nil
	})
	if err == nil {
		err = torn
	}
	return arrived(out)(r, err)
}

// arrived takes down the arrival sequence of what was written.
func arrived(out *output) func(*fsstore.Record, error) error {
	return func(r *fsstore.Record, err error) error {
		if r != nil {
			out.Arrival = r.Arrival
		}
		return err
	}
}

// record is one that says the token. All are of one length: that does not tell
// two versions apart.
func (p *participant) record(token string) *fsstore.Record {
	return &fsstore.Record{
		Key: p.key, Kind: fsstore.KindSession, Identity: fsstore.Identified,
		Status: fsstore.Running, Detail: token, Cwd: wide(token), TS: 1, Started: 1, Arrival: 1,
		Source: fsstore.SourceNotify, LastEvent: "other.notify",
		Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable}, BootID: p.boot, Boottime: 1,
	}
}

// wide is a directory of some pages, all of which tells the token.
func wide(token string) string { return strings.Repeat("/"+token, 800) }

// stateOf is what a record says. The error is that of a torn one.
func stateOf(r *fsstore.Record) (state, error) {
	if r.Cwd != wide(r.Detail) {
		return state{}, fmt.Errorf("torn: %q with %q", r.Detail, r.Cwd)
	}
	return state{r.Detail, r.Arrival, r.Boottime}, nil
}
