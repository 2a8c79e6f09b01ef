package fsstore

import (
	"strconv"

	"tongs-agents/internal/jsonstream"
)

// AppendJSON appends the record as a JSON object on one line. It is valid if
// the record is.
func (r *Record) AppendJSON(b []byte) []byte { return r.appendJSON(b, true) }

// appendJSON is AppendJSON with or without the environment of the terminal.
func (r *Record) appendJSON(b []byte, env bool) []byte {
	o := object{b: append(b, '{')}
	if !r.Legacy {
		o.int("schema_version", 1)
	}
	o.text("record_kind", r.Kind)
	o.key("canonical_id")
	o.b = append(r.appendCanonicalID(append(o.b, '"')), '"') // of a valid record it has nothing to escape
	o.text("session_id", r.Session)
	o.text("instance_id", r.Instance)
	o.text("harness_id", r.Harness)
	o.text("agent", r.Harness)
	o.text("repo", r.Repo)
	o.text("cwd", r.Cwd)
	o.text("pid", r.PID)
	o.text("process_start", r.ProcessStart)
	o.text("process_identity", r.Identity)
	o.text("status", string(r.Status))
	o.text("detail", r.Detail)
	o.text("tool", r.Tool)
	o.int("ts", r.TS)
	o.int("started", r.Started)
	if r.HasSequence {
		o.int("sequence", r.Sequence)
	}
	o.int("arrival_sequence", r.Arrival)
	o.text("source", r.Source)
	o.text("last_event", r.LastEvent)
	o.text("terminal", r.Terminal)
	if env {
		o.env("terminal_env", r.TerminalEnv)
	}
	o.focus(&r.Focus, env)
	o.optionalText("boot_id", r.BootID)
	o.optionalText("pid_namespace", r.PIDNamespace)
	o.optionalText("machine_id", r.MachineID)
	o.optionalText("title", r.Title)
	o.optionalText("transcript_path", r.TranscriptPath)
	o.optionalText("model", r.Model)
	if len(r.Resume) > 0 {
		o.texts("resume", r.Resume)
	}
	o.optionalText("mode", r.Mode)
	o.optionalText("tty", r.TTY)
	o.optionalInt("boottime_ns", r.Boottime)
	if r.WaitingFor != nil {
		o.key("waiting_for")
		w := object{b: append(o.b, '{')}
		w.optionalText("agent_id", r.WaitingFor.AgentID)
		w.optionalText("tool", r.WaitingFor.Tool)
		o.b = append(w.b, '}')
	}
	o.optionalInt("subagents", r.Subagents)
	o.optionalInt("background_tasks", r.BackgroundTasks)
	if len(r.Recent) > 0 {
		o.key("recent")
		o.b = appendRecent(o.b, r.Recent)
	}
	o.optionalText("end_reason", r.EndReason)
	o.optionalInt("removed_at", r.RemovedAt)
	for _, m := range r.Unknown {
		o.key(m.Name)
		o.b = append(o.b, m.Value...)
	}
	return append(o.b, '}')
}

// encode is AppendJSON within the size limit of a record: one that is too
// large loses its recent events, then its environment, and only then fails.
func (r *Record) encode(b []byte) ([]byte, error) {
	b = r.AppendJSON(b[:0])
	if len(b) <= MaxRecord {
		return b, nil
	}
	r.Recent = nil
	if b = r.AppendJSON(b[:0]); len(b) <= MaxRecord {
		return b, nil
	}
	r.TerminalEnv, r.Focus.Env = nil, nil
	if b = r.AppendJSON(b[:0]); len(b) <= MaxRecord {
		return b, nil
	}
	return nil, tooLong()
}

func tooLong() error { return invalid("record", "is longer than "+strconv.Itoa(MaxRecord)+" bytes") }

func appendRecent(b []byte, events []Recent) []byte {
	b = append(b, '[')
	for i, e := range events {
		if i > 0 {
			b = append(b, ',')
		}
		o := object{b: append(b, '{')}
		o.text("event", e.Event)
		o.text("status", string(e.Status))
		o.int("ts", e.TS)
		b = append(o.b, '}')
	}
	return append(b, ']')
}

// object appends the members of a JSON object, whose opening brace is there.
type object struct{ b []byte }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(jsonstream.AppendString(o.b, name), ':')
}

func (o *object) text(name, value string) {
	o.key(name)
	o.b = jsonstream.AppendString(o.b, value)
}

func (o *object) optionalText(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) int(name string, value int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

func (o *object) optionalInt(name string, value int64) {
	if value != 0 {
		o.int(name, value)
	}
}

func (o *object) texts(name string, values []string) {
	o.key(name)
	o.b = append(o.b, '[')
	for i, v := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = jsonstream.AppendString(o.b, v)
	}
	o.b = append(o.b, ']')
}

func (o *object) env(name string, env []Var) {
	o.key(name)
	inner := object{b: append(o.b, '{')}
	for _, v := range env {
		inner.text(v.Name, v.Value)
	}
	o.b = append(inner.b, '}')
}

func (o *object) focus(f *Focus, env bool) {
	o.key("focus_target")
	inner := object{b: append(o.b, '{')}
	inner.text("kind", f.Kind)
	inner.text("terminal", f.Terminal)
	if env {
		inner.env("terminal_env", f.Env)
	}
	inner.text("desktop_target", f.DesktopTarget)
	o.b = append(inner.b, '}')
}

func (o *object) bool(name string, value bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, value)
}
