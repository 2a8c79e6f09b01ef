package fsstore

// Record is what is known of one session in one process: schema 1 of
// docs/format.md, which also has every key's limits. Zero values stand for
// absent keys.
type Record struct {
	Key
	Kind   string // KindSession or KindProcess
	Legacy bool   // a schema 0 file: read, never written

	Repo, Cwd         string
	PID, ProcessStart string // decimal; start is in clock ticks since boot, field 22 of proc_pid_stat(5)
	Identity          string // Identified or Unresolved
	Status            Status
	Detail, Tool      string
	TS, Started       int64 // seconds since the epoch: last report, first event of this instance

	Sequence    int64 // the producer's order, if HasSequence
	HasSequence bool
	Arrival     int64 // counts the writes of this record

	Source, LastEvent string
	Terminal          string
	TerminalEnv       []Var
	Focus             Focus

	BootID, PIDNamespace, MachineID string // where PID and ProcessStart mean something

	Title, TranscriptPath, Model string
	Resume                       []string // the command that continues the session
	Mode, TTY                    string
	Boottime                     int64 // nanoseconds of CLOCK_BOOTTIME: the event that set the state
	WaitingFor                   *Wait // who asked, while waiting
	Subagents, BackgroundTasks   int64 // running now
	Recent                       []Recent
	EndReason                    string
	RemovedAt                    int64

	Unknown []Member // keys of other programs, written back with their values
}

const (
	KindSession = "session"
	KindProcess = "process" // found by a scan; the session id is unknown
	Identified  = "identified"
)

// Sources of a record: who reported last.
const (
	SourceHook    = "hook"
	SourcePlugin  = "plugin"
	SourceNotify  = "notify"
	SourceProcess = "process" // a scan found the process; no hook has reported
)

// Status is the state of a session.
type Status string

const (
	Started    Status = "started"
	Running    Status = "running"
	Idle       Status = "idle"
	Waiting    Status = "waiting"
	Error      Status = "error"
	Ended      Status = "ended"
	Discovered Status = "discovered"
)

// Statuses are all of them, the ones that want the user first.
var Statuses = []Status{Waiting, Error, Idle, Running, Started, Discovered, Ended}

// Valid reports whether s is one of the Statuses.
func (s Status) Valid() bool {
	for _, known := range Statuses {
		if s == known {
			return true
		}
	}
	return false
}

// Var is an environment variable.
type Var struct{ Name, Value string }

// Focus says what brings the session to the front.
type Focus struct {
	Kind          string // FocusTerminal, FocusDesktop or FocusUnavailable
	Terminal      string
	Env           []Var // with FocusTerminal only
	DesktopTarget string
}

const (
	FocusTerminal    = "terminal"
	FocusDesktop     = "desktop"
	FocusUnavailable = "unavailable"
)

// Wait says who asked the user: the main agent, or one of its subagents.
type Wait struct{ AgentID, Tool string }

// Recent is an event of the near past.
type Recent struct {
	Event  string
	Status Status
	TS     int64
}

// Member is a key with its value as JSON text.
type Member struct {
	Name  string
	Value []byte
}

// Modes of a session.
const (
	Interactive = "interactive"
	Headless    = "headless"
	Background  = "background"
	Daemon      = "daemon" // hosted by a server process that serves several sessions
	Desktop     = "desktop"
)

// EnvLaunchID and EnvProfileID are the variables by which a launch marks what
// descends from it.
const (
	EnvLaunchID  = "TONGS_AGENTS_LAUNCH_ID"
	EnvProfileID = "TONGS_AGENTS_PROFILE_ID"
)

// LookupEnv returns a variable of the session's terminal environment.
func (r *Record) LookupEnv(name string) string {
	for _, v := range r.TerminalEnv {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// AddRecent appends an event to the recent ones and lets go of the oldest
// beyond the limits. An event that repeats itself only moves on in time.
func (r *Record) AddRecent(e Recent) {
	if n := len(r.Recent); n > 0 && r.Recent[n-1].Event == e.Event && r.Recent[n-1].Status == e.Status {
		r.Recent = r.Recent[:n-1]
	}
	r.Recent = append(append(make([]Recent, 0, MaxRecent+1), r.Recent...), e)
	for len(r.Recent) > MaxRecent || recentSize(r.Recent) > maxRecent {
		r.Recent = r.Recent[1:]
	}
}

// recentSize is an upper bound of the length of the events as JSON.
func recentSize(events []Recent) int {
	size := len("[]")
	for _, e := range events {
		size += len(`{"event":"","status":"","ts":},`) + escapedSize(e.Event) + escapedSize(string(e.Status)) + len("-9223372036854775808")
	}
	return size
}

// escapedSize is an upper bound of the length of a text in a JSON string.
func escapedSize(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return len(`\u0000`) * len(s)
		}
	}
	return len(s)
}
