package install

import "fmt"

// todo says what the user has to do, so that the hooks of an agent run.
func (a *agent) todo(env Env, changed bool) []string {
	var list []string
	for _, f := range a.facts(env) {
		if f.Kind != Untrusted && f.Kind != Changed || !changed {
			list = append(list, f.Text)
		}
	}
	switch {
	case a.id == "codex" && changed:
		path := a.path(a.files[0], env)
		list = append(list, fmt.Sprintf("start codex; it says \"Hooks need review\". Choose to review them, or type /hooks, and trust the %d hooks of %s "+
			"whose command ends in \"--agent codex%s\". Until then Codex passes over them and says nothing", len(a.events), path, never))
	case a.id == "kiro":
		list = append(list, "add the hooks to the definition of each agent that you run, and keep those that it has")
	}
	return list
}
