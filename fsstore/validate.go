package fsstore

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"tongs-agents/internal/harness"
)

// Limits of the schema, in bytes unless said otherwise.
const (
	MaxRecord   = 64 << 10
	MaxSession  = 512
	MaxInstance = 512
	MaxRepo     = 512
	MaxCwd      = 4096
	MaxDetail   = 512
	MaxTool     = 256
	MaxEvent    = 512
	MaxTitle    = 512
	MaxPath     = 4096
	MaxModel    = 128
	MaxEnv      = 32 // variables
	MaxEnvName  = 128
	MaxEnvValue = 1024
	MaxReason   = 64
	MaxTerminal = 64
	MaxTTY      = 64
	MaxArgs     = 32 // arguments of the resume command
	MaxArg      = 1024
	MaxRecent   = 8    // events
	maxRecent   = 1024 // bytes of all recent events as JSON
	maxNumber   = 128
	maxID       = 64 // of a boot, a namespace, a machine
	maxSource   = 32
	maxTarget   = 512

	// MaxAhead is how many seconds a producer's clock may be ahead of ours.
	MaxAhead = 300
)

// Validate checks everything that a record must be, whoever made it. The error
// is ErrInvalid and names the key.
func (r *Record) Validate() error {
	h := harness.ByID(r.Harness)
	switch {
	case h == nil:
		return invalid("harness_id", "is no registered harness: "+strconv.Quote(r.Harness))
	case r.Session == "":
		return invalid("session_id", "is empty")
	case r.Instance == "" && !r.Legacy:
		return invalid("instance_id", "is empty")
	case r.Kind != KindSession && r.Kind != KindProcess:
		return invalid("record_kind", "is neither session nor process")
	case !r.Status.Valid():
		return invalid("status", "is unknown: "+strconv.Quote(string(r.Status)))
	case r.Arrival < 1 && !r.Legacy:
		return invalid("arrival_sequence", "is less than 1")
	}
	if err := r.validateTexts(); err != nil {
		return err
	}
	if err := r.validateNumbers(); err != nil {
		return err
	}
	if err := r.validateProcess(); err != nil {
		return err
	}
	return r.validateLists()
}

func (r *Record) validateTexts() error {
	for _, t := range [...]struct {
		key, text string
		max       int
	}{
		{"session_id", r.Session, MaxSession},
		{"instance_id", r.Instance, MaxInstance},
		{"repo", r.Repo, MaxRepo},
		{"cwd", r.Cwd, MaxCwd},
		{"pid", r.PID, maxNumber},
		{"process_start", r.ProcessStart, maxNumber},
		{"detail", r.Detail, MaxDetail},
		{"tool", r.Tool, MaxTool},
		{"source", r.Source, maxSource},
		{"last_event", r.LastEvent, MaxEvent},
		{"terminal", r.Terminal, MaxTerminal},
		{"focus_target.terminal", r.Focus.Terminal, MaxTerminal},
		{"focus_target.desktop_target", r.Focus.DesktopTarget, maxTarget},
		{"boot_id", r.BootID, maxID},
		{"pid_namespace", r.PIDNamespace, maxID},
		{"machine_id", r.MachineID, maxID},
		{"title", r.Title, MaxTitle},
		{"transcript_path", r.TranscriptPath, MaxPath},
		{"model", r.Model, MaxModel},
		{"tty", r.TTY, MaxTTY},
		{"end_reason", r.EndReason, MaxReason},
	} {
		if err := validateText(t.key, t.text, t.max); err != nil {
			return err
		}
	}
	return nil
}

func validateText(key, text string, max int) error {
	switch {
	case len(text) > max:
		return invalid(key, "is longer than "+strconv.Itoa(max)+" bytes")
	case strings.IndexByte(text, 0) >= 0:
		return invalid(key, "has a NUL character")
	case !utf8.ValidString(text):
		return invalid(key, "is not UTF-8")
	}
	return nil
}

func (r *Record) validateNumbers() error {
	for _, n := range [...]struct {
		key   string
		value int64
	}{
		{"ts", r.TS}, {"started", r.Started}, {"sequence", r.Sequence}, {"boottime_ns", r.Boottime},
		{"subagents", r.Subagents}, {"background_tasks", r.BackgroundTasks}, {"removed_at", r.RemovedAt},
	} {
		if n.value < 0 {
			return invalid(n.key, "is negative")
		}
	}
	return nil
}

func (r *Record) validateProcess() error {
	switch {
	case !isDecimal(r.PID):
		return invalid("pid", "is not decimal")
	case !isDecimal(r.ProcessStart):
		return invalid("process_start", "is not decimal")
	case r.Focus.Kind != FocusTerminal && r.Focus.Kind != FocusDesktop && r.Focus.Kind != FocusUnavailable:
		return invalid("focus_target.kind", "is neither terminal, desktop nor unavailable")
	case len(r.Focus.Env) > 0 && r.Focus.Kind != FocusTerminal:
		return invalid("focus_target.terminal_env", "belongs to kind terminal alone")
	}
	switch r.Mode {
	case "", Interactive, Headless, Background, Daemon, Desktop:
	default:
		return invalid("mode", "is unknown: "+strconv.Quote(r.Mode))
	}
	switch r.Identity {
	case Identified:
		if r.Instance == Unresolved {
			return invalid("instance_id", "is unresolved in an identified record")
		}
	case Unresolved:
		if r.Legacy {
			break
		}
		if r.Instance != Unresolved || r.PID != "" || r.ProcessStart != "" || r.Focus.Kind != FocusUnavailable {
			return invalid("process_identity", "is unresolved in a record with a process, an instance or a focus target")
		}
	default:
		return invalid("process_identity", "is neither identified nor unresolved")
	}
	return nil
}

func (r *Record) validateLists() error {
	if err := validateEnv("terminal_env", r.TerminalEnv); err != nil {
		return err
	}
	if err := validateEnv("focus_target.terminal_env", r.Focus.Env); err != nil {
		return err
	}
	if len(r.Resume) > MaxArgs {
		return invalid("resume", "has more than "+strconv.Itoa(MaxArgs)+" arguments")
	}
	for _, arg := range r.Resume {
		if err := validateText("resume", arg, MaxArg); err != nil {
			return err
		}
	}
	if r.WaitingFor != nil {
		if err := validateText("waiting_for.agent_id", r.WaitingFor.AgentID, MaxSession); err != nil {
			return err
		}
		if err := validateText("waiting_for.tool", r.WaitingFor.Tool, MaxTool); err != nil {
			return err
		}
	}
	if len(r.Recent) > MaxRecent {
		return invalid("recent", "has more than "+strconv.Itoa(MaxRecent)+" events")
	}
	if recentSize(r.Recent) > maxRecent && len(appendRecent(nil, r.Recent)) > maxRecent {
		return invalid("recent", "is longer than "+strconv.Itoa(maxRecent)+" bytes")
	}
	for _, e := range r.Recent {
		if !e.Status.Valid() || e.TS < 0 {
			return invalid("recent", "has an event of an unknown status or a negative time")
		}
		if err := validateText("recent", e.Event, MaxEvent); err != nil {
			return err
		}
	}
	return nil
}

func validateEnv(key string, env []Var) error {
	if len(env) > MaxEnv {
		return invalid(key, "has more than "+strconv.Itoa(MaxEnv)+" variables")
	}
	for _, v := range env {
		if v.Name == "" {
			return invalid(key, "has a variable without a name")
		}
		if err := validateText(key, v.Name, MaxEnvName); err != nil {
			return err
		}
		if err := validateText(key, v.Value, MaxEnvValue); err != nil {
			return err
		}
	}
	return nil
}

func isDecimal(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
