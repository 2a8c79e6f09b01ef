package install

import "tongs-agents/internal/install/assets"

// snippet returns what the user has to enter, as JSON.
func (a *agent) snippet(hook string) string { return a.document(hook).render(plain, "") + "\n" }

// snippetFor returns what should stand in a file.
func (a *agent) snippetFor(f file, hook string) string {
	if f.asset != "" {
		return string(assets.Render(f.asset, hook))
	}
	return a.snippet(hook)
}
