package hook

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// surroundings is what stays the same as long as a process lives. It is read
// when a record of the process does not have it yet.
type surroundings struct {
	host     proc.Host
	env      []fsstore.Var
	terminal string
	mode     string
	tty      string
	cwd      string
}

func (e *event) surroundings(store *fsstore.Store) *surroundings {
	s := &surroundings{host: proc.Root.Host()}
	if e.owner != nil {
		s.mode = e.mode()
		if cwd, err := proc.Root.Cwd(e.owner.PID); err == nil && utf8.ValidString(cwd) {
			s.cwd = cwd
		}
	} else {
		s.mode = proc.ModeOf(e.harness, e.told)
	}
	// A server and its workers have the terminal and the variables of whoever
	// started the first of them, not of the session.
	if s.mode != fsstore.Daemon && s.mode != fsstore.Background {
		s.env = terminalEnv()
		s.terminal = terminalName(s.env)
		if e.owner != nil {
			s.tty = proc.TTYName(e.owner.TTY)
		}
	}
	s.env = append(s.env, e.launchEnv(store, s.mode)...)
	return s
}

// mode returns the mode of the session: what the harness tells its hooks,
// else what the process looks like.
func (e *event) mode() string {
	for _, m := range e.harness.Hooks.Modes {
		if v := Getenv(m.Variable); v != "" && strings.HasPrefix(v, m.Prefix) {
			return m.Mode
		}
	}
	return e.owner.Mode(e.harness)
}

// launchEnv returns the variables of the launch that this process descends
// from. One that a server was started by is not that of its sessions, unless
// it launched the server itself.
func (e *event) launchEnv(store *fsstore.Store, mode string) []fsstore.Var {
	launch, ok := e.launch(store)
	shared := mode == fsstore.Daemon || mode == fsstore.Background
	if !ok || shared && (e.owner == nil || launch.PID+":"+launch.ProcessStart != instanceOf(e.owner)) {
		return nil
	}
	env := []fsstore.Var{{Name: fsstore.EnvLaunchID, Value: launch.ID}}
	if launch.Profile != "" {
		env = append(env, fsstore.Var{Name: fsstore.EnvProfileID, Value: cut(launch.Profile, fsstore.MaxEnvValue)})
	}
	return env
}

// launch returns the launch that this process descends from. Its variables are
// inherited further than that, by whatever the command leaves running, so an
// ancestor must be the launched process.
func (e *event) launch(store *fsstore.Store) (fsstore.Launch, bool) {
	id := Getenv(fsstore.EnvLaunchID)
	if !fsstore.IsLaunchID(id) {
		return fsstore.Launch{}, false
	}
	launch, err := store.Launch(id)
	if err != nil {
		return fsstore.Launch{}, false
	}
	pid, err := strconv.Atoi(launch.PID)
	return launch, err == nil && proc.Root.HasAncestor(e.parent, pid, launch.ProcessStart)
}
