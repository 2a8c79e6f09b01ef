// Package doctor examines an installation: what works, what does not, and the
// command that repairs it.
//
// It changes nothing. The store is opened for reading; the hook is tried on a
// throw-away one. What other programs are asked, they are asked for a bounded
// time.
package doctor

import (
	"fmt"
	"os"
	"time"

	"tongs-agents/internal/install"
	"tongs-agents/internal/shell"
)

// Level says how bad a finding is.
type Level string

const (
	OK    Level = "ok"
	Warn  Level = "warn"  // works, but less well than it could
	Error Level = "error" // does not work
)

// Finding is what a check has found out.
type Finding struct {
	Check  string `json:"check"`
	Level  Level  `json:"level"`
	Text   string `json:"text"`             // for the user, without a full stop
	Repair string `json:"repair,omitempty"` // a command for the shell
}

// Summary counts findings.
type Summary struct {
	OK    int `json:"ok"`
	Warn  int `json:"warn"`
	Error int `json:"error"`
}

// Report is what all checks have found out, in their order.
type Report struct {
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
}

// Options say what is examined.
type Options struct {
	Env     install.Env
	Agents  []string // only the hooks of these; none: of all that are found
	Version string   // of this program
}

// check is one question. Its findings have no Check yet.
type check struct {
	name string
	run  func(*patient) []Finding
}

// checks are asked in this order: what another one needs comes first.
var checks = []check{
	{"programs", (*patient).programs},
	{"environment", (*patient).environment},
	{"processes", (*patient).processes},
	{"hooks", (*patient).hooks},
	{"mcp", (*patient).servers},
	{"store", (*patient).place},
	{"records", (*patient).records},
	{"locks", (*patient).locks},
	{"cleanup", (*patient).cleanup},
	{"errors", (*patient).errors},
	{"self-test", (*patient).selfTest},
}

// Examine makes all checks. An error is for a mistake in the call.
func Examine(opts Options) (Report, error) {
	p, err := admit(opts)
	if err != nil {
		return Report{}, err
	}
	defer p.discharge()
	r := Report{Findings: []Finding{}}
	for _, c := range checks {
		for _, f := range c.run(p) {
			f.Check = c.name
			r.add(f)
		}
	}
	return r, nil
}

func (r *Report) add(f Finding) {
	r.Findings = append(r.Findings, f)
	switch f.Level {
	case OK:
		r.Summary.OK++
	case Warn:
		r.Summary.Warn++
	case Error:
		r.Summary.Error++
	}
}

// patient is what several checks look at.
type patient struct {
	Options
	now         time.Time
	exe         string // this program
	hook        hook
	inspections []install.Inspection
	mounts      []mount
	stored      stored
}

// hook is the program that entries in settings should name.
type hook struct {
	path    string
	warning string
	err     error // there is none
}

// admit looks at what several checks need.
func admit(opts Options) (*patient, error) {
	p := &patient{Options: opts, now: time.Now()}
	p.exe, _ = os.Executable()
	p.hook.path, p.hook.warning, p.hook.err = install.FindHook(opts.Env)
	var err error
	if p.inspections, err = install.Inspect(opts.Env, opts.Agents...); err != nil {
		return nil, err
	}
	p.mounts = readMounts()
	p.stored = readStore(opts.Env.State)
	return p, nil
}

func (p *patient) discharge() { p.stored.close() }

// self is a command of this program, as the user called it.
func (p *patient) self(args ...string) string {
	return shell.Command(append([]string{p.Env.Invoked}, args...))
}

func ok(format string, args ...any) Finding   { return found(OK, format, args...) }
func warn(format string, args ...any) Finding { return found(Warn, format, args...) }
func fail(format string, args ...any) Finding { return found(Error, format, args...) }

func found(level Level, format string, args ...any) Finding {
	return Finding{Level: level, Text: fmt.Sprintf(format, args...)}
}

// with adds the command that repairs what was found.
func (f Finding) with(command string) Finding {
	f.Repair = command
	return f
}
