package listing

import (
	"slices"

	"tongs-agents/fsstore"
)

// What a session comes from that was not listed, and comes to that no longer
// is.
const (
	New  = "new"
	Gone = "gone"
	// Attention stands in place of a status that has not changed: the session
	// was idle for so long that it needs the user.
	Attention = "attention"
)

// Transition is a change of what a session does.
type Transition struct {
	Row      *fsstore.Annotated // as it is listed now; as it was last if it is gone
	From, To string             // a fsstore.Status, or one of the above
	// Needs: the session has come to need the user.
	Needs bool
}

// Transitions finds out what changes from one listing to the next. The zero
// value has seen none; it is for one goroutine.
type Transitions struct {
	rows map[fsstore.Key]*fsstore.Annotated // nil: there was no listing
}

// Next returns what has changed since the last listing, in the order of the
// rows, those that are gone last. What the first listing has is no change.
//
// A session that goes on under another key of its record (its process became
// known, it was resumed in another one, it reports for the first time) is the
// same. One that had ended goes without a transition.
func (t *Transitions) Next(rows []*fsstore.Annotated) []Transition {
	before := t.rows
	t.rows = make(map[fsstore.Key]*fsstore.Annotated, len(rows))
	for _, r := range rows {
		t.rows[r.Key] = r
	}
	if before == nil {
		return nil
	}
	left := make(map[fsstore.Key]*fsstore.Annotated) // rows of which the key is gone
	for key, r := range before {
		if t.rows[key] == nil {
			left[key] = r
		}
	}
	var changes []Transition
	for _, r := range rows {
		was := before[r.Key]
		if was == nil {
			was = continued(left, r)
		}
		if c, changed := transition(was, r); changed {
			changes = append(changes, c)
		}
	}
	gone := make([]*fsstore.Annotated, 0, len(left))
	for _, r := range left {
		if r.Status != fsstore.Ended {
			gone = append(gone, r)
		}
	}
	slices.SortFunc(gone, attentionFirst)
	for _, r := range gone {
		changes = append(changes, Transition{Row: r, From: string(r.Status), To: Gone})
	}
	return changes
}

// continued takes the row out of those left that goes on as r, or returns nil.
func continued(left map[fsstore.Key]*fsstore.Annotated, r *fsstore.Annotated) *fsstore.Annotated {
	for key, was := range left {
		found := was.Kind == fsstore.KindProcess && was.PID == r.PID && was.ProcessStart == r.ProcessStart
		if was.Harness == r.Harness && (was.Session == r.Session || found) {
			delete(left, key)
			return was
		}
	}
	return nil
}

func transition(was, is *fsstore.Annotated) (Transition, bool) {
	c := Transition{Row: is, From: New, To: string(is.Status), Needs: is.NeedsAttention}
	if was == nil {
		return c, true
	}
	c.From, c.Needs = string(was.Status), is.NeedsAttention && !was.NeedsAttention
	if is.Status == was.Status && c.Needs {
		c.To = Attention
	}
	return c, c.From != c.To
}
