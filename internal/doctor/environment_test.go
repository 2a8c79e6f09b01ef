package doctor

import (
	"os"
	"testing"
)

func TestEnvironment(t *testing.T) {
	h := newHome(t)
	h.wants("nothing", h.patient().environment(), "ok: home ~\n")
	h.vars["XDG_STATE_HOME"] = "./state"
	h.vars["TONGS_AGENTS_STATE_DIR"] = "state"
	h.vars["XDG_CONFIG_HOME"] = h.path("config")
	h.vars["TONGS_AGENTS_DISABLE"] = "1"
	h.wants("relative", h.patient().environment(), `
warn: TONGS_AGENTS_STATE_DIR is "state", which is relative and counts as unset
  unset TONGS_AGENTS_STATE_DIR
warn: XDG_STATE_HOME is "./state", which is relative and counts as unset
  unset XDG_STATE_HOME
warn: TONGS_AGENTS_DISABLE is 1: hooks of agents that are started from here do nothing
  unset TONGS_AGENTS_DISABLE
`)
}

// sudo may leave HOME as it was.
func TestForeignHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	h := newHome(t)
	p := h.patient()
	if err := os.Chown(h.dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	h.vars["SUDO_USER"] = "me"
	h.wants("foreign", p.environment(), `
warn: home ~ belongs to uid 65534, and this runs as uid 0: its settings and store are not yours
  sudo -u me -H ~/bin/tongs-agents doctor
`)
	p.Env.Home = h.path("nowhere")
	h.wants("missing", p.environment(), "warn: home directory: stat ~/nowhere: no such file or directory\n")
}
