package doctor

import (
	"os"
	"path/filepath"
	"syscall"

	"tongs-agents/internal/shell"
)

// environment looks at the variables that decide where things are, and at the
// home directory.
func (p *patient) environment() []Finding {
	var found []Finding
	for _, name := range []string{"TONGS_AGENTS_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "HOME"} {
		if value := p.Env.Getenv(name); value != "" && !filepath.IsAbs(value) {
			found = append(found, warn("%s is %q, which is relative and counts as unset", name, value).with("unset "+name))
		}
	}
	if p.Env.Getenv("TONGS_AGENTS_DISABLE") == "1" {
		found = append(found, warn("TONGS_AGENTS_DISABLE is 1: hooks of agents that are started from here do nothing").
			with("unset TONGS_AGENTS_DISABLE"))
	}
	if f, bad := p.home(); bad {
		found = append(found, f)
	}
	if len(found) == 0 {
		found = append(found, ok("home %s", p.Env.Home))
	}
	return found
}

// home says what is wrong with the home directory. One of another user is what
// sudo leaves, by its settings.
func (p *patient) home() (f Finding, bad bool) {
	info, err := os.Stat(p.Env.Home)
	if err != nil {
		return warn("home directory: %v", err), true
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if int(owner) == os.Geteuid() {
		return f, false
	}
	f = warn("home %s belongs to uid %d, and this runs as uid %d: its settings and store are not yours", p.Env.Home, owner, os.Geteuid())
	if user := p.Env.Getenv("SUDO_USER"); user != "" {
		f = f.with(shell.Command([]string{"sudo", "-u", user, "-H", p.Env.Invoked, "doctor"}))
	}
	return f, true
}
