package listing

import (
	"slices"
	"strings"

	"tongs-agents/fsstore"
)

// Filter says which rows are wanted. What is empty lets all through.
type Filter struct {
	Agents, States, Modes []string

	Dirs []string // these directories and what is below them; absolute
	Last bool     // a state is the one before the end
}

// Apply returns the rows that the filter lets through, in their order. It
// leaves rows as it is.
func (f *Filter) Apply(rows []*fsstore.Annotated) []*fsstore.Annotated {
	kept := rows[:0:0]
	for _, r := range rows {
		status := r.Status
		if f.Last {
			status = r.LastStatus()
		}
		if has(f.Agents, r.Harness) && has(f.States, string(status)) && has(f.Modes, r.Mode) && f.here(r.Cwd) {
			kept = append(kept, r)
		}
	}
	return kept
}

func (f *Filter) here(cwd string) bool {
	return len(f.Dirs) == 0 || slices.ContainsFunc(f.Dirs, func(dir string) bool { return within(cwd, dir) })
}

func has(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
