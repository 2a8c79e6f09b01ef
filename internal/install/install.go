package install

import (
	"bytes"
	"errors"
	"fmt"
)

// Options are the user's wishes.
type Options struct {
	Agents []string // only these; none: all that are found
	Server bool     // enter our MCP server, too
	DryRun bool     // change nothing, and show how the files would differ
}

// ErrNoAgent: there is no coding agent on this machine.
var ErrNoAgent = errors.New("no coding agent was found")

// attempts is how often a file is read anew that others change meanwhile.
const attempts = 5

// Install enters our hooks. What is wrong with one file keeps no other one from
// being changed, and is in the report; an error is for none of them. An agent
// that was asked for by its name need not be found.
func Install(env Env, opts Options) (Report, error) {
	agents, err := selected(opts.Agents)
	if err != nil {
		return Report{}, err
	}
	report := Report{DryRun: opts.DryRun}
	hook, warning, err := FindHook(env)
	if err != nil {
		return report, err
	}
	report.Hook = hook
	if warning != "" {
		report.Warnings = append(report.Warnings, warning)
	}
	w := work{env: env, hook: hook, dry: opts.DryRun, records: records{env.State}}
	found, servers := false, false
	for _, a := range agents {
		r := AgentReport{Agent: a.id, Observed: a.harness().Observed, Files: []FileReport{}}
		r.Found, r.Why = a.find(env)
		wanted := r.Found || len(opts.Agents) > 0
		found = found || wanted
		servers = servers || wanted && opts.Server && a.mcp != nil
		report.Agents = append(report.Agents, r)
	}
	if !found {
		return report, ErrNoAgent
	}
	if servers {
		w.findProgram(&report)
	}
	if !opts.DryRun {
		release, err := w.records.lock()
		if err != nil {
			return report, err
		}
		defer release()
	}
	for i, a := range agents {
		r := &report.Agents[i]
		if !r.Found && len(opts.Agents) == 0 {
			continue
		}
		for _, f := range a.files {
			r.Files = append(r.Files, w.install(a, f))
		}
		r.Todo = a.todo(env, r.changed())
		if w.program != "" && a.mcp != nil {
			r.Files = append(r.Files, w.installServer(a))
		}
	}
	return report, nil
}

// work is one installation.
type work struct {
	env     Env
	hook    string
	program string // of our MCP server; empty: it is not entered
	dry     bool
	records records
}

// findProgram finds the program of our MCP server. Without it none is entered.
func (w *work) findProgram(r *Report) {
	program, warning, err := FindProgram(w.env)
	switch {
	case err != nil: // it is not called by its name
		r.Warnings = append(r.Warnings, "no MCP server is entered: "+err.Error())
	case warning != "" && len(r.Warnings) == 0: // which would be about the same directory
		r.Warnings = append(r.Warnings, warning)
	}
	w.program, r.Program = program, program
}

// install enters our hooks in a file.
func (w *work) install(a *agent, f file) FileReport {
	f = a.meant(f, w.env)
	r := FileReport{Path: a.path(f, w.env), State: Unchanged}
	if f.byHand {
		r.leave(errors.New("the hooks are part of the definition of each agent, which is yours"), false)
		r.Snippet = a.snippet(w.hook)
		return r
	}
	w.change(a, f, w.planFor(a, f), a.snippetFor(f, w.hook), &r)
	return r
}

// installServer enters our MCP server.
func (w *work) installServer(a *agent) FileReport {
	f := a.meantForServer(w.env)
	r := FileReport{Path: a.path(f, w.env), Server: true, State: Unchanged}
	w.change(a, f, w.planForServer(a), a.mcp.document(w.program), &r)
	return r
}

// change changes one file, until what is there is what should be: read back,
// after others may have written it, too.
func (w *work) change(a *agent, f file, p plan, snippet string, r *FileReport) {
	t, err := resolve(r.Path)
	if err != nil {
		r.leave(err, true)
		return
	}
	r.note(t)
	for range attempts {
		old, err := t.read()
		var text []byte
		if err == nil {
			text, err = p.next(old)
		}
		if err != nil {
			r.leave(err, !errors.As(err, new(errTaken))) // whose name that is, the user says
			return
		}
		if old.exists && bytes.Equal(text, old.text) {
			return
		}
		state := Added
		if old.exists && p.ours(old.text) {
			state = Updated
		}
		if err = t.writable(old); err != nil {
			r.leave(err, true)
			r.Snippet = snippet
			return
		}
		if w.dry {
			r.State, r.Diff = state, differ(r.Path, old, content{text: text, exists: true})
			return
		}
		switch err = w.write(a, f, t, p, old, text); {
		case errors.Is(err, errChanged):
			continue
		case err != nil:
			r.leave(err, true)
			return
		}
		if r.State == Unchanged {
			r.State = state
		}
	}
	r.leave(errChanged, true)
}

// write remembers what is to be written, and writes it.
func (w *work) write(a *agent, f file, t target, p plan, old content, text []byte) error {
	r := w.records.get(a.id, t.path)
	before, known := r.original(old.text)
	if r == nil {
		r = &record{Agent: a.id, Name: f.name, Path: t.path}
	}
	switch {
	case known:
	case !old.exists:
		before = original{absent: true}
	case p.ours(old.text):
		before = p.original(old.text)
		before.absent = before.absent || r.Made && a.empty(before.text)
	default:
		before = original{text: old.text}
	}
	made, err := t.makeParents()
	if err != nil {
		return err
	}
	r.Dirs = append(r.Dirs, made...)
	r.add(old.text, before, text)
	if err = w.records.put(r); err != nil {
		err = fmt.Errorf("cannot remember how it was: %w", err)
	} else {
		release := f.take(t)
		err = t.replace(old, text)
		release()
	}
	if err != nil {
		removeEmpty(made)
	}
	return err
}

// meant returns the file that the agent reads: another one where that has the
// hooks.
func (a *agent) meant(f file, env Env) file {
	if f.unless == "" {
		return f
	}
	other := f.other()
	if t, err := resolve(a.path(f, env)); err == nil {
		if c, err := t.read(); err != nil || c.exists {
			return f
		}
	}
	t, err := resolve(a.path(other, env))
	if err != nil {
		return f
	}
	c, err := t.read()
	if err != nil || blank(c.text) {
		return f
	}
	if s, err := a.read(c.text); err == nil && s.hooks == nil {
		return f
	}
	return other
}

// meantForServer returns the file that the agent reads its MCP servers from:
// another one if only that is there.
func (a *agent) meantForServer(env Env) file {
	f := a.mcp.file
	if f.unless == "" {
		return f
	}
	there := func(f file) bool {
		t, err := resolve(a.path(f, env))
		if err != nil {
			return false
		}
		c, err := t.read()
		return err != nil || c.exists
	}
	if !there(f) && there(f.other()) {
		return f.other()
	}
	return f
}
