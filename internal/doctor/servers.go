package doctor

import (
	"slices"

	"tongs-agents/internal/install"
	"tongs-agents/internal/shell"
)

// servers looks at our MCP server in the settings of each agent. It is for
// those who want it: where no agent has it, nothing is wrong.
func (p *patient) servers() []Finding {
	var found []Finding
	without := OK
	if slices.ContainsFunc(p.inspections, func(in install.Inspection) bool { return in.Server != nil && in.Server.Entered }) {
		without = Warn
	}
	for i := range p.inspections {
		if in := &p.inspections[i]; in.Server != nil {
			f := p.server(in, without)
			f.Text = in.Agent + ": " + f.Text
			found = append(found, f)
		}
	}
	return found
}

// server looks at the settings of one agent.
func (p *patient) server(in *install.Inspection, without Level) Finding {
	s := in.Server
	name := s.Path
	if s.Target != "" {
		name += " -> " + s.Target
	}
	switch {
	case s.Error != "":
		return warn("%s: %s", name, s.Error).with(p.edit(s.Path))
	case s.Other != nil:
		return warn("%s has another MCP server of our name, which runs %s", name, shell.Command(s.Other)).with(p.edit(s.Path))
	case !s.Entered:
		return found(without, "%s has no MCP server of ours", name).with(p.install(in))
	case s.Program.Error != "":
		return warn("%s names for the MCP server %s: %s", name, s.Program.Path, s.Program.Error).with(p.install(in))
	case s.Program.Other:
		return warn("%s names for the MCP server %s, another program than this", name, s.Program.Path).with(p.install(in))
	}
	return ok("MCP server in %s", name)
}
