// Package hook turns one hook payload into one change of a record.
//
// The way is payload → event → record: a payload is what the harness writes to
// standard input, in its own words; an event is what that means, the same for
// every harness; and applying an event to a record is the state machine.
//
// A snapshot speaks of all sessions of a process at once. It has an entry for
// each, and comes down to one event after the other.
package hook
