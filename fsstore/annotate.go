package fsstore

import "time"

// idleAttention is how long a session may be idle before it wants the user.
const (
	idleAttention = 120 * time.Second
	idleMinutes   = "2 minutes"
)

// Annotated is a record with what consumers derive from it.
type Annotated struct {
	Record
	Age            int64 // seconds since the last report, never negative
	NeedsAttention bool
	LaunchID       string
	ProfileID      string
	Duplicate      bool
}

// Annotate derives what consumers show of a record. It is the one place that
// does so, and changes nothing of r.
func Annotate(r *Record, now time.Time) Annotated {
	age := max(now.Unix()-r.TS, 0) // a time ahead of ours reads as now
	needs, _ := r.attention(age)
	return Annotated{
		Record:         *r,
		Age:            age,
		NeedsAttention: needs,
		LaunchID:       r.LookupEnv(EnvLaunchID),
		ProfileID:      r.LookupEnv(EnvProfileID),
	}
}

// AttentionReason says in a few words why the session needs attention, or why
// it does not.
func (a *Annotated) AttentionReason() string {
	_, why := a.attention(a.Age)
	return why
}

// attention reports whether a session that was last reported that many seconds
// ago wants the user, and why.
func (r *Record) attention(age int64) (needs bool, why string) {
	switch {
	case r.Status == Waiting:
		return true, "it waits for an answer"
	case r.Status != Idle:
		return false, "only waiting and idle sessions do"
	case r.BackgroundTasks > 0:
		return false, "it is idle, but tasks run in the background"
	case age > int64(idleAttention/time.Second):
		return true, "it has been idle for more than " + idleMinutes
	}
	return false, "it has not been idle for more than " + idleMinutes
}

// AttentionAt is when the session comes to need attention if nothing more is
// reported of it. It is zero if it needs it already, or never will.
func (a *Annotated) AttentionAt() time.Time {
	if a.NeedsAttention || a.Status != Idle || a.BackgroundTasks > 0 {
		return time.Time{}
	}
	return time.Unix(a.TS, 0).Add(idleAttention + time.Second)
}

// AppendJSON appends the record and the derived keys as one JSON object.
func (a *Annotated) AppendJSON(b []byte) []byte { return a.appendDerived(a.Record.AppendJSON(b)) }

// AppendJSONWithoutEnv is AppendJSON without terminal_env, there and in
// focus_target: whom it goes to may be somebody else's program.
func (a *Annotated) AppendJSONWithoutEnv(b []byte) []byte {
	return a.appendDerived(a.Record.appendJSON(b, false))
}

// appendDerived adds the derived keys to those of the record, which b ends in.
func (a *Annotated) appendDerived(b []byte) []byte {
	o := object{b: b[:len(b)-1]}
	o.int("age_seconds", a.Age)
	o.bool("needs_attention", a.NeedsAttention)
	o.optionalText("launch_id", a.LaunchID)
	o.optionalText("profile_id", a.ProfileID)
	if a.Duplicate {
		o.bool("duplicate", true)
	}
	return append(o.b, '}')
}

// isDerived reports whether a key is one that AppendJSON, or a listing, adds
// to those of a record.
func isDerived(key string) bool {
	switch key {
	case "age_seconds", "needs_attention", "launch_id", "profile_id", "duplicate", "uptime_ms":
		return true
	}
	return false
}
