package doctor

import (
	"fmt"
	"slices"
	"strings"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/install"
	"tongs-agents/internal/shell"
	"tongs-agents/proc"
)

// hooks looks at the settings of each agent. An agent that has no hook of ours
// may be none that the user wants listed, unless it is so with all of them.
func (p *patient) hooks() []Finding {
	if len(p.inspections) == 0 {
		return []Finding{warn("no coding agent was found in PATH or by its configuration directory")}
	}
	without := Warn
	if !slices.ContainsFunc(p.inspections, isEntered) {
		without = Error
	}
	silent := p.silent()
	var found []Finding
	for i := range p.inspections {
		in := &p.inspections[i]
		of := p.agent(in, without)
		if n := silent[in.Agent]; n > 0 {
			of = append(of, warn("%s whose hooks have not reported: started before they were there, or without them", plural(n, "process runs", "processes run")))
		}
		for _, f := range of {
			f.Text = in.Agent + ": " + f.Text
			found = append(found, f)
		}
	}
	return found
}

func isEntered(in install.Inspection) bool {
	return slices.ContainsFunc(in.Files, func(f install.FileInspection) bool { return len(f.Entered) > 0 })
}

// agent looks at the settings of one agent.
func (p *patient) agent(in *install.Inspection, without Level) []Finding {
	if len(in.Files) == 0 {
		return []Finding{ok("found by %s; its hooks are entered by hand, which is not looked at", in.Why).with(p.install(in))}
	}
	var bad []Finding
	for i := range in.Files {
		bad = append(bad, p.file(in, &in.Files[i], without)...)
	}
	for _, fact := range in.Facts {
		bad = append(bad, p.fact(fact))
	}
	if len(bad) > 0 {
		return bad
	}
	return []Finding{healthy(in)}
}

// healthy says that nothing is wrong with the hooks of an agent.
func healthy(in *install.Inspection) Finding {
	var entered []string
	for _, f := range in.Files {
		entered = append(entered, where(&f))
	}
	text := "hooks in " + strings.Join(entered, ", ")
	if in.Found {
		text += "; found by " + in.Why
	} else {
		text += "; the agent itself was not found: " + in.Why
	}
	if !in.Observed {
		text += "; by its documentation, not tried on the real program"
	}
	return ok("%s", text)
}

// where names a file, and what it leads to.
func where(f *install.FileInspection) string {
	if f.Target != "" {
		return f.Path + " -> " + f.Target
	}
	return f.Path
}

// file says what is wrong with our hooks in one file.
func (p *patient) file(in *install.Inspection, f *install.FileInspection, without Level) []Finding {
	name := where(f)
	if f.Error != "" {
		return []Finding{fail("%s: %s", name, f.Error).with(p.edit(f.Path))}
	}
	if len(f.Entered) == 0 && len(f.Hooks) == 0 {
		return []Finding{found(without, "%s has no hooks: its sessions do not report", name).with(p.install(in))}
	}
	var bad []Finding
	add := func(f Finding) { bad = append(bad, f.with(p.install(in))) }
	if len(f.Missing) > 0 {
		add(fail("%s lacks hooks for %s", name, strings.Join(f.Missing, " ")))
	}
	for _, h := range f.Hooks {
		switch {
		case h.Error != "":
			add(fail("%s names the hook %s: %s", name, h.Path, h.Error))
		case h.Other && p.hook.err == nil:
			add(warn("%s names the hook %s, another program than %s", name, h.Path, p.hook.path))
		}
	}
	if len(f.Duplicated) > 0 {
		add(warn("%s has several hooks for %s", name, strings.Join(f.Duplicated, " ")))
	}
	if len(f.Outdated) > 0 && len(bad) == 0 { // which may be why
		add(warn("%s has hooks that install would change for %s", name, strings.Join(f.Outdated, " ")))
	}
	return bad
}

// fact is what else keeps the hooks of an agent from running.
func (p *patient) fact(f install.Fact) Finding {
	switch f.Kind {
	case install.Untrusted:
		return fail("%s", f.Text).with("codex")
	case install.Changed: // as one release of Codex sees it
		return warn("%s", f.Text).with("codex")
	case install.TwoForms:
		return warn("%s", f.Text).with(p.edit(f.File))
	}
	return fail("%s", f.Text).with(p.edit(f.File))
}

func (p *patient) install(in *install.Inspection) string {
	return p.self("install", "--agent", in.Agent)
}

// edit is the command that opens a file in the user's editor, which is a
// command of the shell itself.
func (p *patient) edit(file string) string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if editor := p.Env.Getenv(name); editor != "" {
			return fmt.Sprintf("%s %s", editor, shell.Word(file))
		}
	}
	return "vi " + shell.Word(file)
}

// silent counts, of each agent, the live processes that only cleanup has found.
func (p *patient) silent() map[string]int {
	processes := liveness.NewProcesses(proc.Root)
	n := map[string]int{}
	for _, r := range p.stored.contents.Records {
		if r.Source != fsstore.SourceProcess || r.Status == fsstore.Ended || r.RemovedAt != 0 {
			continue
		}
		if answer, _ := processes.Check(r.Record); answer == proc.Alive {
			n[r.Harness]++
		}
	}
	return n
}
