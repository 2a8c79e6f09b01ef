package bar

import (
	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// Session is a row as a template sees it: its texts are clean, on one line.
// They are cleaned when asked for, since a bar that is drawn every second asks
// for few of them.
type Session struct{ row *fsstore.Annotated }

func sessions(rows []*fsstore.Annotated) []Session {
	s := make([]Session, len(rows))
	for i, r := range rows {
		s[i].row = r
	}
	return s
}

func (s Session) Agent() string   { return s.row.Harness }
func (s Session) Status() string  { return string(s.row.Status) }
func (s Session) ID() string      { return s.row.CanonicalID() }
func (s Session) Session() string { return text.Clean(s.row.Session) }
func (s Session) Repo() string    { return text.Clean(s.row.Repo) }
func (s Session) Cwd() string     { return text.Clean(s.row.Cwd) }
func (s Session) Title() string   { return text.Clean(s.row.Title) }
func (s Session) Tool() string    { return text.Clean(s.row.Tool) }
func (s Session) Model() string   { return text.Clean(s.row.Model) }
func (s Session) Mode() string    { return text.Clean(s.row.Mode) }
func (s Session) PID() string     { return text.Clean(s.row.PID) }
func (s Session) TTY() string     { return text.Clean(s.row.TTY) }
func (s Session) Launch() string  { return text.Clean(s.row.LaunchID) }
func (s Session) Profile() string { return text.Clean(s.row.ProfileID) }

// Detail is what the session does, with what runs beside it.
func (s Session) Detail() string { return listing.Detail(s.row) }

// Age is how long ago the session was last reported, as 4m; empty if that is
// not known.
func (s Session) Age() string { return listing.Age(s.row) }

// AgeSeconds is Age as a number.
func (s Session) AgeSeconds() int64 { return s.row.Age }

func (s Session) NeedsAttention() bool   { return s.row.NeedsAttention }
func (s Session) Duplicate() bool        { return s.row.Duplicate }
func (s Session) Subagents() int64       { return s.row.Subagents }
func (s Session) BackgroundTasks() int64 { return s.row.BackgroundTasks }
