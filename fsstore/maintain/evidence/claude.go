package evidence

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/proc"
)

// claude reads sessions/PID.json in the configuration directory of Claude
// Code.
type claude struct{ root proc.FS }

// maxClaude is a hundred times the length of such a file.
const maxClaude = 64 << 10

func (c claude) Observe(r *fsstore.Record) (Observation, bool) {
	pid, err := strconv.Atoi(r.PID)
	if err != nil {
		return Observation{}, false
	}
	dir, ok := claudeDir(r.TranscriptPath)
	if !ok {
		dir, ok = c.dir(pid)
	}
	if !ok {
		return Observation{}, false
	}
	o, ok := readClaude(dir, pid, r.ProcessStart)
	if !ok || o.Session != r.Session {
		return Observation{}, false
	}
	if o.Status == fsstore.Idle {
		o.Detail = interrupted // any other end of a turn runs a hook
	}
	return o, true
}

func (c claude) Identify(pid int, start string) (Observation, bool) {
	dir, ok := c.dir(pid)
	if !ok {
		return Observation{}, false
	}
	return readClaude(dir, pid, start)
}

// claudeDir returns the configuration directory that a transcript is in, as
// DIR/projects/WORKSPACE/SESSION.jsonl. DIR itself may be below some projects,
// but WORKSPACE has no slash.
func claudeDir(transcript string) (string, bool) {
	i := strings.LastIndex(transcript, "/projects/")
	return transcript[:max(i, 0)], i > 0 && filepath.IsAbs(transcript)
}

// dir returns the configuration directory by the environment of the process.
func (c claude) dir(pid int) (string, bool) {
	env, err := c.root.Environ(pid)
	if err != nil {
		return "", false
	}
	if dir := getenv(env, "CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return dir, true
	}
	home := getenv(env, "HOME")
	return home + "/.claude", filepath.IsAbs(home)
}

// getenv returns the first of several values, as getenv(3) does.
func getenv(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func readClaude(dir string, pid int, start string) (Observation, bool) {
	text, whole, ok := tail(dir+"/sessions/"+strconv.Itoa(pid)+".json", maxClaude)
	if !ok || !whole {
		return Observation{}, false
	}
	return ParseClaude(text, pid, start)
}

// ParseClaude reads the file of a process that started at that clock tick.
//
// It is written in place, so that half of it may be found, and has no status
// at first. /clear changes the session, and the status some milliseconds later
// or not at all.
func ParseClaude(file []byte, pid int, start string) (Observation, bool) {
	var (
		o                               Observation
		filePID, updated                int64
		fileStart, status, kind, reason string
	)
	s := jsonstream.NewBytes(file)
	err := s.Object(func(key []byte) (err error) {
		switch string(key) {
		case "pid":
			filePID, err = s.Int()
		case "procStart":
			fileStart, err = ticks(s)
		case "sessionId":
			o.Session, err = text(s, fsstore.MaxSession)
		case "cwd":
			o.Cwd, err = text(s, fsstore.MaxCwd)
		case "kind":
			kind, err = text(s, fsstore.MaxDetail)
		case "status":
			status, err = text(s, fsstore.MaxDetail)
		case "waitingFor":
			reason, err = text(s, fsstore.MaxDetail)
		case "statusUpdatedAt": // and updatedAt, which a new name changes too
			updated, err = s.Int()
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil || s.End() != nil || filePID != int64(pid) || fileStart == "" || fileStart != start || o.Session == "" || updated <= 0 {
		return Observation{}, false
	}
	switch {
	case status == "idle":
		o.Status = fsstore.Idle
	case status == "busy":
		o.Status = fsstore.Running
	case status == "waiting" && reason != "dialog open": // a menu that the user opened: /model
		o.Status, o.Detail = fsstore.Waiting, reason
	default:
		return Observation{}, false
	}
	o.At = time.UnixMilli(updated)
	if kind == "bg" {
		o.Mode = fsstore.Background
	}
	if !filepath.IsAbs(o.Cwd) {
		o.Cwd = ""
	}
	return o, true
}

// ticks reads a number, which Claude Code writes as text.
func ticks(s *jsonstream.Scanner) (string, error) {
	if k, err := s.Peek(); err != nil || k != jsonstream.Number {
		return text(s, fsstore.MaxDetail)
	}
	n, err := s.Int()
	return strconv.FormatInt(n, 10), err
}
