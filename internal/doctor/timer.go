package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"tongs-agents/internal/shell"
	"tongs-agents/internal/text"
)

const (
	timerUnit   = "tongs-agents-cleanup.timer"
	serviceUnit = "tongs-agents-cleanup.service"
)

// The stamp of a store that is maintained every minute is never older than
// this, nor further ahead of the clock.
const (
	staleStamp = time.Hour
	aheadStamp = time.Minute
)

// cleanup looks at when the list was last brought up to date, and at what does
// so. Whoever has no systemd may run it by cron or a monitor.
func (p *patient) cleanup() []Finding {
	stamp, fresh := p.stamp()
	var found []Finding
	if stamp.Text != "" {
		found = append(found, stamp)
	}
	units, err := showUnits()
	if err != nil {
		f := ok("no systemd timer: %v; cron can run cleanup", err)
		if !fresh {
			f = f.with(p.cron())
		}
		return append(found, f)
	}
	found = append(found, units.timer(lingers()))
	if units.failed() {
		found = append(found, warn("the last cleanup by the timer failed").with("journalctl --user -u "+serviceUnit))
	}
	return append(found, p.managerStore(units)...)
}

// stamp says when the store was last maintained.
func (p *patient) stamp() (f Finding, fresh bool) {
	if p.stored.store == nil {
		return f, false
	}
	last := p.stored.store.Stamp().Time
	switch age := p.now.Sub(last); {
	case last.IsZero():
		f = warn("the list was never brought up to date")
	case age > staleStamp:
		f = warn("the list was last brought up to date %s ago", text.Span(age))
	case age < -aheadStamp:
		f = warn("the list was last brought up to date %s ahead of the clock", text.Span(-age))
	default:
		return ok("the list was last brought up to date %s ago", text.Span(age)), true
	}
	return f.with(p.self("cleanup")), false
}

// cron is the command that lets cron do what the timer does.
func (p *patient) cron() string {
	line := "* * * * * " + shell.Command([]string{p.exe, "cleanup"}) + " >/dev/null 2>&1"
	line = strings.ReplaceAll(line, "%", `\%`) // which ends the command, see crontab(5)
	return "(crontab -l; echo " + shell.Word(line) + ") | crontab -"
}

// units is what the user manager says of the timer and its service.
type units struct {
	timerLoad, timerActive, timerFile string
	serviceActive                     string
}

// showUnits asks the user manager. An error says that there is none.
func showUnits() (units, error) {
	out, err := ask("systemctl", "--user", "show", "--property=Id,LoadState,ActiveState,UnitFileState", timerUnit, serviceUnit)
	if err != nil {
		return units{}, err
	}
	return parseUnits(out), nil
}

// parseUnits reads lines NAME=VALUE, an empty line after each unit.
func parseUnits(out string) units {
	var u units
	for block := range strings.SplitSeq(strings.TrimSpace(out), "\n\n") {
		properties := map[string]string{}
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			properties[name] = value
		}
		switch properties["Id"] {
		case timerUnit:
			u.timerLoad, u.timerActive, u.timerFile = properties["LoadState"], properties["ActiveState"], properties["UnitFileState"]
		case serviceUnit:
			u.serviceActive = properties["ActiveState"]
		}
	}
	return u
}

const enableTimer = "systemctl --user daemon-reload && systemctl --user enable --now " + timerUnit

func (u units) timer(lingering string) Finding {
	switch {
	case u.timerLoad != "loaded":
		return warn("%s is not installed: nothing runs cleanup", timerUnit).with(reinstall + " && " + enableTimer)
	case u.timerActive != "active" && u.timerActive != "activating":
		return warn("%s is %s: nothing runs cleanup", timerUnit, u.timerActive).with(enableTimer)
	case u.timerFile != "enabled" && u.timerFile != "static":
		return warn("%s is active, but not after the next login", timerUnit).with(enableTimer)
	}
	return ok("%s is active%s", timerUnit, lingering)
}

func (u units) failed() bool { return u.serviceActive == "failed" }

// lingers says how long the user manager lives, if that can be learned.
func lingers() string {
	out, err := ask("loginctl", "show-user", fmt.Sprint(os.Getuid()), "--property=Linger", "--value")
	if err != nil {
		return ""
	}
	switch strings.TrimSpace(out) {
	case "yes":
		return ", also while you are logged out"
	case "no":
		return " while you are logged in (loginctl enable-linger: also when not)"
	}
	return ""
}

// managerStore says if the user manager's variables name another store than
// ours: it does not read the shell's profile.
func (p *patient) managerStore(u units) []Finding {
	name := p.namedBy()
	if u.timerActive != "active" || name != "TONGS_AGENTS_STATE_DIR" && name != "XDG_STATE_HOME" {
		return nil
	}
	out, err := ask("systemctl", "--user", "show-environment")
	if err != nil {
		return nil
	}
	want := p.Env.Getenv(name)
	for line := range strings.Lines(out) {
		// A value that is no plain word is written as the shell's $'…'.
		if value, is := strings.CutPrefix(strings.TrimSpace(line), name+"="); is && (value == want || strings.HasPrefix(value, "$'")) {
			return nil
		}
	}
	return []Finding{warn("the timer cleans another store: %s is not set to %s in the user manager", name, want).
		with(shell.Command([]string{"systemctl", "--user", "set-environment", name + "=" + want}))}
}

// patience is how long another program is waited for.
const patience = 3 * time.Second

// ask runs a program and returns what it prints. The error is short: that
// there is no such program, or the first line of what it complains of.
func ask(name string, args ...string) (string, error) {
	if _, err := exec.LookPath(name); err != nil {
		return "", fmt.Errorf("%s was not found", name)
	}
	o := run(exec.Command(name, args...), patience)
	switch {
	case o.late:
		return "", fmt.Errorf("%s did not answer within %s", name, patience)
	case o.err != nil:
		if line, _, _ := strings.Cut(o.stderr, "\n"); line != "" {
			return "", errors.New(line)
		}
		return "", fmt.Errorf("%s: %w", name, o.err)
	}
	return o.stdout, nil
}
