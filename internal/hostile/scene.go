//go:build !(386 || arm)

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tongs-agents/fsstore"
)

// scene is a store into which a text has come by every way that there is: two
// sessions say nothing of it, the others have it in all their fields.
type scene struct {
	text
	state    string
	imported string            // session id of the record with every field
	cutOff   string            // of one that can be resumed
	cutOffs  []*fsstore.Record // those that can be, as resumable lists them
	sessions map[string]string // all that status must list: harness by session
	launched io.Closer
}

const (
	goodA, goodB = "good-a", "good-b"
)

// newScene makes the store of a text, by what the programs of agents do.
func (w *world) newScene(n int, t text) (*scene, error) {
	s := &scene{text: t, state: filepath.Join(w.dir, "texts", strconv.Itoa(n), "state"), sessions: map[string]string{}}
	if err := os.MkdirAll(filepath.Dir(s.state), 0o755); err != nil {
		return nil, err
	}
	var commands []command
	for _, good := range []string{goodA, goodB} {
		commands = append(commands, s.entry("other", good, cli("notify", "--session", good, "--pid", "none", "--status", "running", "--detail", "good")))
	}
	commands = append(commands, s.hooks()...)
	commands = append(commands, s.programs()...)
	s.cutOffRecords(filepath.Join(w.dir, "src"))
	commands = append(commands, importing(append(s.cutOffs, s.fullRecord())...))
	if err := w.must(s.state, commands...); err != nil {
		return nil, err
	}
	if err := s.files(); err != nil {
		return nil, err
	}
	return s, w.launch(s)
}

// entry is a command by which a session comes into the store.
func (s *scene) entry(harness, session string, c command) command {
	s.sessions[session] = harness
	return c
}

// hooks are what an agent calls its hooks with: Claude Code, an emitter and a
// plugin. A name that is no text is refused, so it then has another one.
func (s *scene) hooks() []command {
	p := s.payload()
	session, cwd := `"hooked"`, `"/src/app"`
	id := "hooked"
	if s.exact(fsstore.MaxSession) && s.s != "" {
		session, id = p, s.s
	}
	if s.exact(fsstore.MaxCwd - len("/src/")) {
		cwd = `"/src/` + p[1:]
	}
	claude := func(event string) command {
		c := hook(fmt.Sprintf(`{"session_id":%s,"cwd":%s,"hook_event_name":%q,"transcript_path":%s,"model":%s,"session_title":%s,"tool_name":%[4]s,`+
			`"message":%[4]s,"notification_type":"permission_prompt","reason":%[4]s,"agent_type":%[4]s,"prompt":%[4]s,"source":%[4]s}`,
			session, cwd, event, p, p, p), "--agent", "claude")
		if value := strings.ReplaceAll(s.s, "\x00", ""); len(value) < 64<<10 {
			for _, name := range []string{"TERM_PROGRAM", "TMUX", "TMUX_PANE", "KITTY_LISTEN_ON", "GHOSTTY_X", "DISPLAY", "STY", "WINDOWID", "TONGS_AGENTS_PROFILE_ID"} {
				c.env = append(c.env, name+"="+value)
			}
		}
		return c
	}
	pid, _ := alive()
	emitted := fmt.Sprintf(`{"schema_version":1,"event_id":"pi.session-start","session_id":"emitted","instance_id":"i-emitted","sequence":1,"pid":%s,`+
		`"cwd":"/src/app","status":"waiting","detail":%s,"tool":%[2]s,"title":%[2]s}`, pid, p)
	snapshot := fmt.Sprintf(`{"id":%q,"status":{"plugged":"busy"},"blocking":["plugged"],"titles":{"plugged":%s},"cwds":{"plugged":%s},"pid":%s}`,
		pid, p, cwd, pid)
	return []command{
		s.entry("claude", id, claude("SessionStart")), claude("PreToolUse"), claude("Notification"),
		s.entry("pi", "emitted", hook(emitted, "fleet-event")),
		s.entry("opencode", "plugged", hook(snapshot, "snapshot", "--agent", "opencode")),
	}
}

// programs are other commands that take texts.
func (s *scene) programs() []command {
	detail := strings.ReplaceAll(s.s, "\x00", "")
	return []command{s.entry("codex", "noticed", cli("notify", "--agent", "codex", "--session", "noticed", "--pid", "none", "--status", "waiting", "--detail", detail))}
}

// fullRecord has the text in every field that takes any.
func (s *scene) fullRecord() *fsstore.Record {
	pid, start := alive()
	s.imported = "imported"
	r := record("other", s.imported, pid, start)
	s.sessions[s.imported] = r.Harness
	r.Status = fsstore.Waiting
	r.Title, r.Detail, r.Tool, r.Model = s.stored(fsstore.MaxTitle), s.stored(fsstore.MaxDetail), s.stored(fsstore.MaxTool), s.stored(fsstore.MaxModel)
	r.Cwd, r.Repo, r.TranscriptPath = "/src/"+s.stored(fsstore.MaxCwd-5), s.stored(fsstore.MaxRepo), s.stored(fsstore.MaxPath)
	r.Source, r.LastEvent, r.Terminal, r.TTY, r.EndReason = s.stored(32), s.stored(fsstore.MaxEvent), s.stored(fsstore.MaxTerminal), s.stored(fsstore.MaxTTY), s.stored(fsstore.MaxReason)
	r.Resume = []string{agentName, "--resume", s.stored(fsstore.MaxArg)}
	r.WaitingFor = &fsstore.Wait{AgentID: s.stored(fsstore.MaxSession), Tool: s.stored(fsstore.MaxTool)}
	r.Recent = []fsstore.Recent{{Event: s.stored(100), Status: fsstore.Running, TS: r.TS}}
	r.TerminalEnv = []fsstore.Var{{Name: "x" + s.stored(fsstore.MaxEnvName-1), Value: s.stored(fsstore.MaxEnvValue)},
		{Name: fsstore.EnvLaunchID, Value: s.stored(fsstore.MaxEnvValue)}, {Name: fsstore.EnvProfileID, Value: s.stored(fsstore.MaxEnvValue)}}
	r.Focus = fsstore.Focus{Kind: fsstore.FocusTerminal, Terminal: r.Terminal, Env: r.TerminalEnv, DesktopTarget: s.stored(512)}
	r.Unknown = []fsstore.Member{{Name: "x-" + s.stored(100), Value: quoted(s.stored(100))}}
	return r
}

// cutOffRecords are sessions whose process is dead: the command that resumes one
// has the text as an argument, that of the other one is the text. Their
// directories are below src, unless the text would lead out of there.
func (s *scene) cutOffRecords(src string) {
	dir := filepath.Join(src, "app")
	if most := fsstore.MaxCwd - len(src) - 1; !strings.Contains(s.s, "../") {
		dir = src + "/" + s.stored(most)
	}
	s.cutOff = "cut-off"
	for i, resume := range [][]string{
		{agentName, "--resume", s.stored(fsstore.MaxArg)},
		{s.program(), s.stored(fsstore.MaxArg), "", "x"},
	} {
		r := record("claude", s.cutOff+strings.Repeat("-2", i), strconv.Itoa(deadPID+i), "1")
		r.TS -= int64(i)
		r.Title, r.Detail, r.Cwd, r.Resume = s.stored(fsstore.MaxTitle), s.stored(fsstore.MaxDetail), dir, resume
		s.sessions[r.Session] = r.Harness
		s.cutOffs = append(s.cutOffs, r)
	}
}

// program is the text as the name of a program.
func (s *scene) program() string {
	name := strings.ReplaceAll(s.stored(200), "/", "_")
	if name == "" || name == "." || name == ".." {
		return agentName
	}
	return name
}

// files are what other programs have left in the store: a record of schema 0,
// one that cannot be read, and an error of a hook. A name in a directory is
// any bytes.
func (s *scene) files() error {
	name := strings.NewReplacer("/", "_", "\x00", "").Replace(s.s)
	sessions := filepath.Join(s.state, "sessions")
	legacy := fmt.Sprintf(`{"agent":"gemini","status":"waiting","cwd":"/src/app","detail":%s,"ts":%d}`, quoted(s.stored(fsstore.MaxDetail)), time.Now().Unix())
	s.sessions["legacy"] = "gemini"
	return errors.Join(
		os.WriteFile(filepath.Join(sessions, "legacy.json"), []byte(legacy), 0o600),
		os.WriteFile(filepath.Join(sessions, "bad "+name[:min(len(name), 200)]+".json"), []byte("{"), 0o600),
		fsstore.NoteHookError(s.state, s.s, time.Now().Unix()),
	)
}

// launch starts a command one of whose arguments is the text. It ends with the
// scene.
func (w *world) launch(s *scene) error {
	c := cli("launch", "--", "cat", "--", "-", strings.ReplaceAll(s.s, "\x00", ""))
	cmd := w.prepare(w.ctx, s.state, c)
	cmd.Stdin = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.launched = closer(func() error {
		in.Close()
		if err := cmd.Wait(); !errors.As(err, new(*exec.ExitError)) {
			return err // cat finds no file of that name
		}
		return nil
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		list, err := w.listed(s.state, "status")
		if err != nil {
			return err
		}
		for _, r := range list {
			if _, known := s.sessions[r.Session]; !known {
				s.sessions[r.Session] = "other"
				return nil
			}
		}
		if time.Now().After(deadline) {
			return errors.New("launch: no record")
		}
	}
}

type closer func() error

func (c closer) Close() error { return c() }

// row is a session of a listing.
type row struct {
	Session string `json:"session_id"`
	Harness string `json:"harness_id"`
	Title   string
	Detail  string
	Status  string
}

func (w *world) listed(state, command string) ([]row, error) {
	r, err := w.run(state, cli(command, "--json"))
	if err != nil {
		return nil, err
	}
	var list struct{ Sessions []row }
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || r.status != 0 {
		return nil, fmt.Errorf("%s --json: %v, %w", command, r, err)
	}
	return list.Sessions, nil
}

// quoted is a text as a JSON string.
func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // never of a text
	}
	return b
}
