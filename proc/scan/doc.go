// Package scan looks through all processes for sessions of coding agents that
// no hook reported.
//
// It sees the processes of the caller's user in the caller's pid namespace,
// and among them those that are certainly a session: what it cannot read, it
// does not list.
package scan
