package install

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"tongs-agents/internal/install/assets"
)

// Inspection says how the hooks of one agent stand.
type Inspection struct {
	Agent    string           `json:"agent"`
	Observed bool             `json:"observed"` // tried on the real program
	Found    bool             `json:"found"`
	Why      string           `json:"why"` // where the agent was found, or where it was looked for
	Files    []FileInspection `json:"files"`
	Facts    []Fact           `json:"facts"` // what else keeps its hooks from running

	Server *ServerInspection `json:"mcp,omitempty"` // nil: install enters none for this agent
}

// ServerInspection says how our MCP server stands in the settings of an agent.
type ServerInspection struct {
	Path    string             `json:"path"`
	Target  string             `json:"target,omitempty"` // where Path leads, if it is a symbolic link
	Error   string             `json:"error,omitempty"`  // why it cannot be read or parsed, with the line
	Entered bool               `json:"entered"`
	Program *ProgramInspection `json:"program,omitempty"` // that the entry names
	Other   []string           `json:"other,omitempty"`   // what another server of our name runs
}

// FileInspection says how our hooks stand in one file.
type FileInspection struct {
	Path    string `json:"path"`
	Target  string `json:"target,omitempty"` // where Path leads, if it is a symbolic link
	Present bool   `json:"present"`          // the file is there
	Error   string `json:"error,omitempty"`  // why it cannot be read or parsed, with the line

	Entered    []string `json:"entered"`    // events that have our hook
	Missing    []string `json:"missing"`    // events that do not
	Duplicated []string `json:"duplicated"` // events that have it more than once
	Outdated   []string `json:"outdated"`   // events where install would change it

	Hooks []ProgramInspection `json:"hooks"` // the programs that the entries name, each once
}

// Complete reports whether install would find nothing to do in the file.
func (f *FileInspection) Complete() bool {
	return f.Present && f.Error == "" && len(f.Missing)+len(f.Duplicated)+len(f.Outdated) == 0
}

// ProgramInspection is a program of ours that entries name.
type ProgramInspection struct {
	Path  string `json:"path"`            // as it stands there, without quotes
	Error string `json:"error,omitempty"` // why it cannot be run: missing, not executable
	Other bool   `json:"other"`           // it is not the program that install enters
}

// Inspect says how the hooks of the agents stand that are found, or have
// entries of ours; none named: all. It changes nothing.
func Inspect(env Env, agents ...string) ([]Inspection, error) {
	list, err := selected(agents)
	if err != nil {
		return nil, err
	}
	hook, _, _ := FindHook(env) // without it, no program is the right one
	program, _, _ := FindProgram(env)
	var all []Inspection
	for _, a := range list {
		in := Inspection{Agent: a.id, Observed: a.harness().Observed, Files: []FileInspection{}, Facts: []Fact{}}
		in.Found, in.Why = a.find(env)
		present := false
		for _, f := range a.files {
			if f.byHand {
				continue
			}
			file := a.inspect(a.meant(f, env), env, hook)
			present = present || len(file.Entered) > 0
			in.Files = append(in.Files, file)
		}
		if in.Found || present || len(agents) > 0 {
			in.Facts = append(in.Facts, a.facts(env)...)
			in.Server = a.inspectServer(env, program)
			all = append(all, in)
		}
	}
	return all, nil
}

func (a *agent) inspect(f file, env Env, hook string) FileInspection {
	in := FileInspection{Path: a.path(f, env), Entered: []string{}, Missing: []string{}, Duplicated: []string{}, Outdated: []string{}, Hooks: []ProgramInspection{}}
	t, err := resolve(in.Path)
	if err != nil {
		in.Error = err.Error()
		return in
	}
	if t.path != in.Path {
		in.Target = t.path
	}
	c, err := t.read()
	if err != nil {
		in.Error = err.Error()
		return in
	}
	in.Present = c.exists
	if f.asset != "" {
		in.asset(f, c, env, hook)
		return in
	}
	s := &settings{agent: a}
	if !blank(c.text) {
		if s, err = a.read(c.text); err != nil {
			in.Error = err.Error()
			return in
		}
	}
	for _, e := range a.events {
		in.event(s, e, env, hook)
	}
	return in
}

// event notes how an event stands.
func (in *FileInspection) event(s *settings, e event, env Env, hook string) {
	entries := s.entries(e)
	entered, right := false, false
	for _, en := range entries {
		entered = entered || !en.limited
		right = right || !en.limited && s.agent.right(en, hook)
		in.hook(en.hook, env, hook)
	}
	switch {
	case !entered:
		in.Missing = append(in.Missing, e.name)
		return
	case !right:
		in.Outdated = append(in.Outdated, e.name)
	}
	in.Entered = append(in.Entered, e.name)
	if len(entries) > 1 {
		in.Duplicated = append(in.Duplicated, e.name)
	}
}

// wholeFile stands for the events of a file that is ours whole: it says itself
// which ones it sends.
const wholeFile = "all"

func (in *FileInspection) asset(f file, c content, env Env, hook string) {
	switch {
	case !c.exists || blank(c.text):
		in.Missing = append(in.Missing, wholeFile)
		return
	case !assets.Ours(c.text):
		in.Error = "is not ours: it does not say that tongs-agents install wrote it"
		return
	}
	in.Entered = append(in.Entered, wholeFile)
	if !bytes.Equal(c.text, assets.Render(f.asset, hook)) {
		in.Outdated = append(in.Outdated, wholeFile)
	}
	if path, ok := assets.Hook(f.asset, c.text); ok {
		in.hook(path, env, hook)
	}
}

// inspectServer says how our MCP server stands, nil if none is entered for the
// agent.
func (a *agent) inspectServer(env Env, program string) *ServerInspection {
	if a.mcp == nil {
		return nil
	}
	in := &ServerInspection{Path: a.path(a.meantForServer(env), env)}
	t, err := resolve(in.Path)
	var c content
	if err == nil {
		if t.path != in.Path {
			in.Target = t.path
		}
		c, err = t.read()
	}
	var command []string
	if err == nil {
		command, err = a.mcp.at(c.text)
	}
	switch {
	case err != nil:
		in.Error = err.Error()
	case runsServer(command):
		in.Entered = true
		p := inspectProgram(command[0], env, program)
		in.Program = &p
	case command != nil:
		in.Other = command
	}
	return in
}

// hook notes a program that an entry names.
func (in *FileInspection) hook(path string, env Env, hook string) {
	if !slices.ContainsFunc(in.Hooks, func(h ProgramInspection) bool { return h.Path == path }) {
		in.Hooks = append(in.Hooks, inspectProgram(path, env, hook))
	}
}

// inspectProgram looks at a program that an entry names, where it should name
// the right one.
func inspectProgram(path string, env Env, right string) ProgramInspection {
	h := ProgramInspection{Path: path}
	file, ok := expand(path, env)
	switch err := executable(file); {
	case !ok:
		h.Error = "is no absolute path"
	case err != nil:
		h.Error = cause(err).Error()
	default:
		h.Other = !sameFile(file, right)
	}
	return h
}

// expand returns the file that a path in a command means to a shell.
func expand(path string, env Env) (string, bool) {
	for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(path, home); ok {
			return filepath.Join(env.Home, rest), true
		}
	}
	return path, filepath.IsAbs(path)
}
