package doctor

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

const activeUnits = `Id=tongs-agents-cleanup.timer
LoadState=loaded
ActiveState=active
UnitFileState=enabled

Id=tongs-agents-cleanup.service
LoadState=loaded
ActiveState=inactive
UnitFileState=static
`

func TestUnits(t *testing.T) {
	h := newHome(t)
	for _, test := range []struct{ name, out, want string }{
		{"active", activeUnits, "ok: tongs-agents-cleanup.timer is active\n"},
		{"not enabled", strings.Replace(activeUnits, "=enabled", "=disabled", 1), `
warn: tongs-agents-cleanup.timer is active, but not after the next login
  systemctl --user daemon-reload && systemctl --user enable --now tongs-agents-cleanup.timer
`},
		{"inactive", strings.Replace(activeUnits, "=active", "=inactive", 1), `
warn: tongs-agents-cleanup.timer is inactive: nothing runs cleanup
  systemctl --user daemon-reload && systemctl --user enable --now tongs-agents-cleanup.timer
`},
		{"not installed", "Id=tongs-agents-cleanup.timer\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\n", `
warn: tongs-agents-cleanup.timer is not installed: nothing runs cleanup
  make install && systemctl --user daemon-reload && systemctl --user enable --now tongs-agents-cleanup.timer
`},
		{"nonsense", "x", `
warn: tongs-agents-cleanup.timer is not installed: nothing runs cleanup
  make install && systemctl --user daemon-reload && systemctl --user enable --now tongs-agents-cleanup.timer
`},
	} {
		u := parseUnits(test.out)
		h.wants(test.name, []Finding{u.timer("")}, test.want)
		if u.failed() {
			t.Errorf("%s: the service has failed", test.name)
		}
	}
	if !parseUnits(strings.Replace(activeUnits, "ActiveState=inactive", "ActiveState=failed", 1)).failed() {
		t.Error("a failed service is none")
	}
}

// systemctl puts a stand-in into PATH.
func (h *home) systemctl(script string) {
	h.t.Helper()
	h.write("fake/systemctl", "#!/bin/sh\n"+script+"\n", 0o755)
	h.write("fake/loginctl", "#!/bin/sh\necho no\n", 0o755)
	h.t.Setenv("PATH", h.path("fake")+":/usr/bin:/bin")
}

func TestCleanup(t *testing.T) {
	h := newHome(t)
	h.put(record("s"))
	h.systemctl("echo Failed to connect to bus: No medium found >&2; exit 1")
	p := h.patient()
	p.exe = "/opt/tongs-agents"
	h.wants("never, by nothing", p.cleanup(), `
warn: the list was never brought up to date
  ~/bin/tongs-agents cleanup
ok: no systemd timer: Failed to connect to bus: No medium found; cron can run cleanup
  (crontab -l; echo '* * * * * /opt/tongs-agents cleanup >/dev/null 2>&1') | crontab -
`)

	h.stamp(0)
	if got := h.lines(h.patient().cleanup()); !strings.HasPrefix(got, "ok: the list was last brought up to date ") || strings.Contains(got, "crontab") {
		t.Errorf("by cron: %s", got)
	}
	h.stamp(-2 * time.Hour)
	h.systemctl("cat <<'X'\n" + activeUnits + "X")
	h.vars["XDG_STATE_HOME"] = "/x y"
	got := h.lines(h.patient().cleanup())
	for _, want := range []string{
		"warn: the list was last brought up to date 2h0m", " ago\n  ~/bin/tongs-agents cleanup\n",
		"ok: tongs-agents-cleanup.timer is active while you are logged in (loginctl enable-linger: also when not)\n",
		"warn: the timer cleans another store: XDG_STATE_HOME is not set to /x y in the user manager\n" +
			"  systemctl --user set-environment 'XDG_STATE_HOME=/x y'\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	h.stamp(time.Hour)
	if got := h.lines(h.patient().cleanup()); !strings.Contains(got, "ahead of the clock") {
		t.Error(got)
	}
	h.vars["XDG_STATE_HOME"] = "/x"
	h.systemctl("test \"$2\" != show-environment || { echo XDG_STATE_HOME=/x; exit; }\ncat <<'X'\n" + activeUnits + "X")
	if got := h.lines(h.patient().cleanup()); strings.Contains(got, "another store") {
		t.Error(got)
	}
}

// stamp makes the store one that was maintained at another time.
func (h *home) stamp(from time.Duration) {
	h.t.Helper()
	s, err := fsstore.Open(h.path("state"), fsstore.Write)
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	if err := s.SetStamp(""); err != nil {
		h.t.Fatal(err)
	}
	when := time.Now().Add(from)
	if err := os.Chtimes(h.path("state/sessions/.fleet-maintenance.stamp"), when, when); err != nil {
		h.t.Fatal(err)
	}
}

// The command for cron enters a line that cron reads as the same path.
func TestCron(t *testing.T) {
	h := newHome(t)
	h.write("fake/crontab", "#!/bin/sh\ncase $1 in -l) echo 1 2 3 4 5 theirs;; -) cat >"+h.path("crontab")+";; esac\n", 0o755)
	t.Setenv("PATH", h.path("fake")+":/usr/bin:/bin")
	p := h.patient()
	p.exe = "/opt/50% of it's/tongs-agents"
	if out, err := exec.Command("sh", "-c", p.cron()).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(h.path("crontab"))
	want := "1 2 3 4 5 theirs\n" + `* * * * * '/opt/50\% of it'\''s/tongs-agents' cleanup >/dev/null 2>&1` + "\n"
	if string(got) != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// A program that is not there is named, and one that hangs is given up.
func TestAsk(t *testing.T) {
	h := newHome(t)
	h.systemctl("exit 3")
	for name, want := range map[string]string{
		"nosuch": "nosuch was not found", "systemctl": "systemctl: exit status 3",
	} {
		if _, err := ask(name); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}
