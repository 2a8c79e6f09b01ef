// Package proc reads what Linux tells of one process and says which coding
// agent, if any, the process is.
//
// A process is a pid and the clock tick in which it started, see [Stat]; [Host]
// says where that pair means something. [FS.Check] answers whether a recorded
// process is alive, dead or unknown, and "could not look" is never dead.
//
// Names are compared as whole words: a program that mentions an agent in its
// arguments is not that agent. A process can set its comm and its arguments at
// will, so a match says what the process claims to be; nothing here is a
// defence against a process of the same user that lies.
//
// The package is linked into a program that lives for a millisecond. It does
// without package os, and its package-level data needs no initialization.
package proc
