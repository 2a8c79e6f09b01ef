package doctor

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/shell"
	"tongs-agents/internal/text"
)

// recent is how long an error of a hook is worth a warning.
const recent = 24 * time.Hour

// errors looks at what hooks could not do. They print nothing, so this is the
// only place where it can be seen.
func (p *patient) errors() []Finding {
	file := filepath.Join(p.Env.State, "hook-errors")
	clear := shell.Command([]string{"rm", file})
	e, err := fsstore.ReadHookErrors(p.Env.State)
	switch {
	case errors.Is(err, fsstore.ErrUnavailable):
		return nil // which the check of the store says
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{ok("no hook has failed")}
	case err != nil:
		return []Finding{warn("%s: %v", file, err).with(clear)}
	}
	age := p.now.Sub(time.Unix(e.TS, 0))
	said := "hooks have failed %d times, the last one %s ago: %s"
	if age >= recent {
		return []Finding{ok(said, e.Count, text.Span(age), e.Last)}
	}
	return []Finding{warn(said, e.Count, text.Span(age), e.Last).with(clear)}
}
