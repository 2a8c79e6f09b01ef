// Package hook turns one hook payload into one change of a record.
//
// The way is payload → event → record: a payload is what the harness writes to
// standard input, in its own words; an event is what that means, the same for
// every harness; and applying an event to a record is the state machine.
package hook
