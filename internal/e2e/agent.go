package main

import (
	"fmt"
	"regexp"
)

// agent is how one coding agent is installed, set up, driven and read. In its
// texts {url}, {model} and {work} stand for the model and the directory, and in
// headless {prompt} for the prompt.
type agent struct {
	id           string
	pkg, version string // of npm

	files map[string]string // what is in the home before our hooks
	env   []string

	prepare     []string // a command that has it fetch what it fetches when it is new
	interactive []string // the command line in a terminal
	headless    []string // the one without

	dialogs []dialog       // what it may ask first
	ready   *regexp.Regexp // the screen when it takes a prompt

	question      *regexp.Regexp // the screen when it asks for permission
	grant, refuse []string       // keys

	interrupt []string // keys; Escape if nil

	clear, exit string // commands for a new session, and to leave

	// lazy: it tells nothing before the first prompt of a session. Until then
	// cleanup lists the process.
	lazy bool

	unlike  map[string]state // steps after which the state is not the usual one
	unnamed string           // why no tool is named, if so
}

// dialog is a question at the start of an agent, and the keys that answer it.
type dialog struct {
	screen *regexp.Regexp
	keys   []string
}

// state is what a listing says of a session.
type state struct {
	status  string // or gone
	cleanup bool   // only cleanup notices
	why     string // it is not what a user would expect
}

// gone is the state of a session that is not listed.
const gone = "gone"

func (s state) String() string {
	if s.cleanup {
		return s.status + " after cleanup"
	}
	return s.status
}

// remark says what is not as usual with a step, if anything.
func (a *agent) remark(step string) string {
	if st, ok := a.unlike[step]; ok {
		return fmt.Sprintf("%v: %s", st, st.why)
	}
	if step == "tool" && a.unnamed != "" {
		return "no tool is named: " + a.unnamed
	}
	return ""
}
