// Package install enters our hook in the settings of the coding agents on this
// machine, takes it out again, and says how it stands.
//
// The settings are other people's files. An edit is a few insertions into the
// text: comments, order, indentation, line ends and what else is in the file
// stay byte for byte. A file is replaced whole, or not at all, and only if it
// still is the one that was read; one that cannot be parsed or written is left
// alone. A symbolic link stays one.
//
// Our entries are recognised by the program and the arguments of their command,
// not by its path, and only under the events that we enter: whatever else runs
// the hook is the user's own.
//
// What an edit replaced is remembered in the state directory, so that Uninstall
// brings a file back as it was, if nobody else has changed it since. Otherwise
// it takes our entries out of what is there now.
package install
