// Package focus brings the terminal of a session to the front.
//
// Two things have to be done. The place within the terminal is selected: its
// tab, its pane, in a multiplexer or several. Then the window that shows it is
// activated. Each kind of terminal and each kind of desktop has a file of its
// own, behind the interfaces terminal and desktop.
//
// What shows a process is known by its ancestors: the nearest one that is a
// terminal, or that a window belongs to. Variables are inherited by whatever
// a process leaves running, and name the terminal of long ago; those that the
// terminal itself gave to its child are read from that child, those of the
// record only where there are none.
//
// A record may be forged. Its texts reach programs only after they were
// matched whole, as values that cannot be taken for options, and never a
// shell; sockets must belong to the user.
package focus
