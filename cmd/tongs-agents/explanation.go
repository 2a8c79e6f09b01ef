package main

import (
	"slices"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/shell"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

// sentences explains a session, a sentence or two a line. Events are indented.
func (e *explanation) sentences() []string {
	e = e.cleaned()
	lines := []string{e.name(), e.state()}
	lines = append(lines, e.reporter())
	lines = append(lines, e.events()...)
	lines = append(lines, e.processSentence(), e.evidenceSentence(), e.listSentence())
	if e.hidden == nil && !e.archived {
		lines = append(lines, e.attentionSentence())
	}
	lines = append(lines, e.resumeSentence(), e.cleanupSentence())
	for i, line := range lines {
		indent := ""
		if line[0] == ' ' {
			indent = "    "
		}
		lines[i] = indent + text.Clean(line)
	}
	return lines
}

// cleaned returns a copy whose texts from outside are clean, each for itself:
// an escape sequence that does not end would take the rest of the line with it.
func (e *explanation) cleaned() *explanation {
	c, r := *e, *e.row
	c.row = &r
	for _, s := range []*string{&r.Session, &r.Title, &r.Cwd, &r.Detail, &r.Source, &r.LastEvent, &c.processReason} {
		*s = text.Clean(*s)
	}
	if r.WaitingFor != nil {
		r.WaitingFor = &fsstore.Wait{AgentID: text.Clean(r.WaitingFor.AgentID)}
	}
	r.Recent = slices.Clone(r.Recent)
	for i := range r.Recent {
		r.Recent[i].Event = text.Clean(r.Recent[i].Event)
	}
	if e.observed != nil {
		o := *e.observed
		o.Detail = text.Clean(o.Detail)
		c.observed = &o
	}
	return &c
}

func (e *explanation) name() string {
	name := e.row.Harness + " " + e.row.Session
	if e.row.Title != "" {
		name += `, "` + e.row.Title + `"`
	}
	if e.row.Cwd != "" {
		name += ", in " + e.row.Cwd
	}
	return name
}

// since is when a session got its status, as far as its recent events tell.
func since(r *fsstore.Record) int64 {
	ts := r.TS
	for i := len(r.Recent) - 1; i >= 0 && r.Recent[i].Status == r.Status; i-- {
		ts = r.Recent[i].TS
	}
	return ts
}

func (e *explanation) state() string {
	r := e.row
	at := since(&r.Record)
	s := ""
	switch status := string(r.Status); {
	case r.Status == fsstore.Ended && at == 0:
		s = "It has ended"
	case r.Status == fsstore.Ended:
		s = "It ended " + when(at)
	case e.archived || e.process == proc.Dead:
		s = "It was last reported " + status + ", since " + moment(at)
	default:
		s = "It has been " + status + " since " + moment(at)
	}
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	s = sentence(s)
	if w := r.WaitingFor; w != nil && w.AgentID != "" {
		s += " Its subagent " + w.AgentID + " has asked."
	}
	switch {
	case r.TS == 0:
		return s
	case at != r.TS:
		return s + " Its last report was " + when(r.TS) + ", " + listing.Age(r) + " ago."
	}
	return s + " Its last report was " + listing.Age(r) + " ago."
}

func moment(ts int64) string { return or(when(ts), "an unknown time") }

func (e *explanation) reporter() string {
	r := e.row
	if r.Legacy {
		return "An older program has written its record, which nobody writes any more."
	}
	s := ""
	switch r.Source {
	case fsstore.SourceHook:
		s = "A hook of " + r.Harness + " has reported it."
	case fsstore.SourcePlugin:
		s = "A plugin of " + r.Harness + " has reported it."
	case fsstore.SourceNotify:
		s = "tongs-agents notify has reported it."
	case fsstore.SourceProcess:
		s = "No hook has reported it: a cleanup has found its process."
	default:
		s = sentence("Its record is from another source: " + or(r.Source, "unknown"))
	}
	if r.Identity == fsstore.Unresolved {
		s += " Its process was not found."
	}
	return s
}

func (e *explanation) events() []string {
	switch {
	case len(e.row.Recent) > 0:
	case e.row.LastEvent == "":
		return []string{"None of its events is recorded."}
	default:
		return []string{"Of its last events only " + e.row.LastEvent + " is recorded."}
	}
	lines := []string{"Its last events were:"}
	for _, r := range e.row.Recent {
		lines = append(lines, " "+moment(r.TS)+" "+r.Event+": "+string(r.Status))
	}
	return lines
}

func (e *explanation) processSentence() string {
	if e.process == proc.Unknown {
		return sentence("Whether its process lives is unknown: " + e.processReason)
	}
	return sentence("Its process is " + e.process.String() + ": " + e.processReason)
}

func (e *explanation) evidenceSentence() string {
	const file = "The agent's own file "
	o := e.observed
	switch {
	case !e.files:
		return "No file of " + e.row.Harness + " is known that would say more."
	case e.process != proc.Alive:
		return file + "was not read, since the process is " + e.process.String() + "."
	case o == nil:
		return file + "says nothing of it: it is missing, cannot be read, or is about something else."
	}
	s := file + "says " + string(o.Status) + " since " + when(o.At.Unix())
	if o.Detail != "" {
		s += " (" + o.Detail + ")"
	}
	switch {
	case o.Status == e.row.Status:
		return s + ", as the record does."
	case e.mended != "":
		return s + ", which is newer than the last report."
	case o.At.Unix() <= e.row.TS:
		return s + ", which is not newer than the last report and does not count."
	}
	return s + ", which does not count while the record says " + string(e.row.Status) + "."
}

func (e *explanation) listSentence() string {
	switch h := e.hidden; {
	case e.archived:
		return "It has left the store, and only resumable lists it."
	case h != nil && e.row.RemovedAt != 0:
		return "No list shows it until it reports again: it was removed " + when(e.row.RemovedAt) + "."
	case h != nil && h.By != nil:
		return "No list shows it: " + h.Why + ", see " + h.By.CanonicalID() + "."
	case h != nil:
		return "No list shows it: " + h.Why + "."
	case e.row.Status == fsstore.Ended:
		return "status lists it; ps does not, since it has ended."
	case e.process == proc.Dead:
		return "status lists it; ps does not, since its process is dead."
	case e.row.Duplicate:
		return "status and ps list it, and its session once more in another process."
	}
	return "status and ps list it."
}

func (e *explanation) attentionSentence() string {
	if e.row.NeedsAttention {
		return "It needs attention: " + e.row.AttentionReason() + "."
	}
	return "It needs no attention: " + e.row.AttentionReason() + "."
}

func (e *explanation) resumeSentence() string {
	if e.resumeObstacle != "" {
		return "It cannot be resumed: " + e.resumeObstacle + "."
	}
	return "It can be resumed: " + shell.Command(e.row.Resume)
}

func (e *explanation) cleanupSentence() string {
	switch {
	case e.archived:
		return "It stays for 7 days after it has left, unless its session goes on."
	case e.cleanupErr != nil:
		return sentence("What the next cleanup does is unknown: " + text.Clean(e.cleanupErr.Error()))
	}
	s := ""
	if e.mended != "" {
		s = sentence("The next cleanup corrects it: "+e.mended) + " "
	}
	switch {
	case e.archives:
		return s + sentence("The next cleanup removes it, and resumable goes on listing it: "+e.removed)
	case e.removed != "":
		return s + sentence("The next cleanup removes it: "+e.removed)
	case s != "":
		return s[:len(s)-1]
	}
	return "The next cleanup leaves it as it is."
}
