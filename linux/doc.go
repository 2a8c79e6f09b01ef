// Package linux wraps the raw Linux system calls that tongs-agents is built on.
//
// A wrapper is named after its call, so its man page is one search away. Every
// wrapper repeats a call that a signal interrupted, opens descriptors with
// O_CLOEXEC, and reports failures as *fs.PathError or
// *CallError values from which errors.Is finds the errno.
//
// The package works on descriptors and not on *os.File: package os costs a
// process that lives for a millisecond more than all calls made here together.
package linux
