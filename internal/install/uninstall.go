package install

import (
	"bytes"
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/install/assets"
)

// Uninstall takes our hooks and our MCP server out again, also of files that the
// environment of now does not lead to, but that of an earlier installation.
func Uninstall(env Env, opts Options) (Report, error) {
	agents, err := selected(opts.Agents)
	if err != nil {
		return Report{}, err
	}
	report := Report{DryRun: opts.DryRun, Agents: []AgentReport{}}
	w := work{env: env, dry: opts.DryRun, records: records{env.State}}
	if !opts.DryRun {
		release, err := w.records.lock()
		if err != nil {
			return report, err
		}
		defer release()
	}
	for _, a := range agents {
		r := AgentReport{Agent: a.id, Observed: a.harness().Observed}
		r.Found, r.Why = a.find(env)
		for _, f := range slices.Backward(a.all()) { // the entries first
			r.Files = append(r.Files, w.uninstall(a, f)...)
		}
		if len(r.Files) > 0 {
			report.Agents = append(report.Agents, r)
		}
	}
	return report, nil
}

// uninstall changes the file back, and those that a record names besides.
func (w *work) uninstall(a *agent, f file) []FileReport {
	paths := []string{a.path(f, w.env)}
	if f.unless != "" {
		paths = append(paths, a.path(f.other(), w.env))
	}
	for _, r := range w.records.of(a.id) {
		known := slices.ContainsFunc(paths, func(path string) bool {
			t, _ := resolve(path)
			return t.path == r.Path
		})
		if !known && (r.Name == f.name || r.Name == f.unless) {
			paths = append(paths, r.Path)
		}
	}
	var reports []FileReport
	for _, path := range paths {
		if r, ok := w.uninstallFile(a, f, path); ok {
			reports = append(reports, r)
		}
	}
	return reports
}

// uninstallFile changes one file back. It is not ok if there is nothing to say
// of it.
func (w *work) uninstallFile(a *agent, f file, path string) (r FileReport, ok bool) {
	if f.byHand {
		return r, false
	}
	r = FileReport{Path: path, State: Unchanged, Server: !a.hasHooks(f) && a.hasServer(f)}
	t, err := resolve(path)
	if errors.Is(err, unix.ENOTDIR) { // so that the file cannot be there
		return r, false
	}
	if err != nil {
		r.leave(err, true)
		return r, true
	}
	r.note(t)
	for range attempts {
		old, err := t.read()
		if err != nil {
			r.leave(err, true)
			return r, true
		}
		rec := w.records.get(a.id, t.path)
		before, err := w.before(a, f, rec, old)
		if err != nil {
			r.leave(err, true)
			return r, true
		}
		if old.exists == !before.absent && bytes.Equal(old.text, before.text) {
			if !w.dry {
				if err := w.records.drop(rec, !old.exists); err != nil {
					r.leave(err, true)
				}
			}
			return r, r.State != Unchanged || old.exists && !r.Server
		}
		if err := t.writable(old); err != nil {
			r.leave(err, true)
			return r, true
		}
		if w.dry {
			r.State, r.Diff = Removed, differ(path, old, content{text: before.text, exists: !before.absent})
			return r, true
		}
		release := f.take(t)
		if before.absent {
			err = t.remove(old)
		} else {
			err = t.replace(old, before.text)
		}
		release()
		switch {
		case errors.Is(err, errChanged):
			continue
		case err != nil:
			r.leave(err, true)
			return r, true
		}
		r.State = Removed
	}
	r.leave(errChanged, true)
	return r, true
}

// before returns what a file should be without us.
func (w *work) before(a *agent, f file, rec *record, old content) (original, error) {
	if !old.exists {
		return original{absent: true}, nil
	}
	if before, known := rec.original(old.text); known {
		return before, nil
	}
	if f.asset != "" {
		if assets.Ours(old.text) {
			return original{absent: true}, nil
		}
		return original{text: old.text}, nil
	}
	if !bytes.Contains(old.text, []byte(programName)) { // which the name of the hook begins with
		return original{text: old.text}, nil
	}
	rest, err := a.leaveAll(f, old.text)
	if err != nil {
		return original{}, err
	}
	changed := !bytes.Equal(rest, old.text)
	if changed && (f.ours || rec != nil && rec.Made) && a.empty(rest) {
		return original{absent: true}, nil
	}
	return original{text: rest}, nil
}
