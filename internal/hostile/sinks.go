//go:build !(386 || arm)

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tongs-agents/internal/mdtable"
)

// sink is where texts of sessions come out, and who judges what comes.
type sink struct {
	name, judge string
	try         func(*trial) error
}

var sinks = []sink{
	{"lists, show, explain: piped", "bytes", tryPiped},
	{"lists, show, explain: terminal", "tmux", tryTerminal},
	{"monitor", "tmux", tryMonitor},
	{"hints, warnings, errors", "bytes", tryComplaints},
	{"doctor, hook-errors", "bytes, tmux", tryDoctor},
	{"--json, export", "encoding/json", tryJSON},
	{"status --format tmux", "tmux", tryTmuxBar},
	{"status --format waybar", "encoding/json, xml", tryWaybar},
	{"status --format i3blocks, starship", "encoding/xml, bytes", tryLines},
	{"status --format {{…}}", "encoding/json, xml, bash", tryTemplate},
	{"watch, --json, --exec", "encoding/json, sh", tryWatch},
	{"notifications", "dbus-daemon, encoding/xml", tryNotifications},
	{"metrics", "expfmt", tryMetrics},
	{"mcp", "encoding/json", tryMCP},
	{"completion", "bash", tryCompletion},
	{"resume command, pasted", "shells", tryPaste},
	{"resume", "the agent", tryResume},
	{"cleanup", "bytes, encoding/json", tryCleanup}, // last: it changes the store
}

// trial is a text at a sink.
type trial struct {
	*world
	*tally
	*scene
	stage *theatre
}

// theatre is what the judges need, once for all texts.
type theatre struct {
	screen, bar *tmux
	bus         *bus
	shells      []shell
	usual       map[string]screen // by the command: how the terminal is after it, with a plain text
}

func tryTexts(w *world) error {
	if err := needs("tmux", "bash", "dash", "dbus-daemon", "flock"); err != nil {
		return err
	}
	stage := &theatre{usual: map[string]screen{}, shells: findShells()}
	var err error
	if stage.screen, err = w.newTmux("screen"); err != nil {
		return err
	}
	if stage.bar, err = w.newTmux("bar"); err != nil {
		return err
	}
	if stage.bus, err = w.newBus(); err != nil {
		return err
	}
	if err := w.newSpies(); err != nil {
		return err
	}
	tallies := make([]tally, len(sinks))
	tried := 0
	for n, t := range texts {
		if n > 0 && !w.chosen(n, t.name) { // the first one says how it has to be
			continue
		}
		tried++
		s, err := w.newScene(n, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		for i, sink := range sinks {
			tallies[i].w, tallies[i].what = w, t.name+", "+sink.name
			trial := &trial{w, &tallies[i], s, stage}
			if err := sink.try(trial); err != nil {
				return fmt.Errorf("%s, %s: %w", t.name, sink.name, err)
			}
			trial.unharmed()
		}
		s.launched.Close()
	}
	table := mdtable.Table{Texts: 2, Head: []string{"sink", "judge", "texts", "checks", "failures"}}
	for i, sink := range sinks {
		table.Add(sink.name, sink.judge, tried, tallies[i].checks, tallies[i].failures)
	}
	return table.Print(os.Stdout)
}

// unharmed looks for what a text may have made somebody do.
func (t *trial) unharmed() {
	var found []string
	for _, dir := range []string{t.dir, filepath.Join(t.dir, "home"), filepath.Dir(t.state), t.state, "/tmp", "/"} {
		path := filepath.Join(dir, canary)
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
			os.RemoveAll(path)
		}
	}
	t.check(len(found) == 0, "something in the text was run: there is %s", found)
}

// out runs a command that has to succeed.
func (t *trial) out(c command) (ran, error) {
	r, err := t.run(t.state, c)
	if err == nil {
		t.check(r.status == 0 && !r.late, "%s: %v", c, r)
	}
	return r, err
}

// listings are the commands that print sessions as text, and how many lines
// they have to print of so many sessions; nil: that differs.
var listings = []struct {
	args  []string
	lines func(sessions int) int
}{
	{[]string{"status"}, func(n int) int { return n + 1 }},
	{[]string{"ps"}, nil},
	{[]string{"stats"}, nil},
	{[]string{"resumable"}, func(int) int { return 5 }},
	{[]string{"monitor", "--once", "--no-maintain"}, func(n int) int { return n + 2 }},
	{[]string{"monitor", "--once", "--no-maintain", "--sidebar", "--width", "30"}, func(n int) int { return n + 1 }},
	{[]string{"show", "imported"}, nil},
	{[]string{"explain", "imported"}, nil},
	{[]string{"explain", "cut-off"}, nil},
}

// tryPiped: text is one line each, and nothing in it acts.
func tryPiped(t *trial) error {
	for _, l := range listings {
		c := cli(l.args...)
		r, err := t.out(c)
		if err != nil {
			return err
		}
		t.check(acts(r.stdout, false) == "", "%s prints %s: %q", c, acts(r.stdout, false), r.stdout)
		if l.lines != nil {
			got, want := strings.Count(r.stdout, "\n"), l.lines(len(t.sessions))
			t.check(got == want, "%s prints %d lines, want %d: %q", c, got, want, r.stdout)
		}
		if !slices.Contains([]string{"stats", "ps"}, l.args[0]) && !slices.Contains(l.args, "--sidebar") {
			t.check(strings.Contains(r.stdout, t.word()), "%s shows nothing of the text: %q", c, r.stdout)
		}
	}
	return nil
}

// tryTerminal: the terminal is as it is after the plain text.
func tryTerminal(t *trial) error {
	for _, l := range listings {
		if slices.Contains(l.args, "--no-maintain") {
			continue // monitor itself is tried
		}
		if err := t.onTerminal(cli(l.args...), l.args[0] == "status" || l.args[0] == "ps"); err != nil {
			return err
		}
	}
	return nil
}

// tryComplaints: what goes to standard error is text, too.
func tryComplaints(t *trial) error {
	query := strings.ReplaceAll(t.s, "\x00", "")
	name := strings.ReplaceAll(query, "/", "_") // of a directory: the path is the user's own
	for _, c := range []command{
		cli("status"), cli("ps"), cli("show", "--", "x"+query), cli("explain", "--", query+"x"), cli("resume", "--", query+"x"), cli("remove", "--", query+"x"),
		cli("focus", "--", query+"x"), cli("focus", "imported"), cli("wait", "--until", "idle", "--timeout", "0s", "--", query+"x"), cli("status", "--format", query),
		cli("status", "--format", "{{"+query), cli("status", "--agent", query), cli(query), cli("status", "--"+query), cli("import", query), cli("resume", "noticed"),
		{argv: []string{cliProgram, "status"}, env: []string{"TONGS_AGENTS_STATE_DIR=/nonexistent/" + name}},
		{argv: []string{cliProgram, "notify", "--status", "idle"}, env: []string{"TONGS_AGENTS_STATE_DIR=/proc/" + name}},
	} {
		if len(query) > 4096 {
			c.argv = cli("status").argv
		}
		r, err := t.run(t.state, c)
		if err != nil {
			return err
		}
		t.check(!r.late && r.status >= 0, "%s: %v", c, r)
		t.check(acts(r.stderr, false) == "", "%s prints %s on standard error: %q", c, acts(r.stderr, false), r.stderr)
		for line := range strings.Lines(r.stderr) {
			t.check(strings.HasPrefix(line, "tongs-agents: ") || strings.HasPrefix(line, "  "), "%s: a line of the text's own on standard error: %q", c, line)
		}
	}
	return nil
}

func tryDoctor(t *trial) error {
	c := cli("doctor", "--agent", "claude") // whose settings there are none of
	r, err := t.run(t.state, c)
	if err != nil {
		return err
	}
	t.check(!r.late && r.status >= 0 && r.status <= 1, "%v", r)
	t.check(acts(r.stdout, false) == "", "prints %s: %q", acts(r.stdout, false), r.stdout)
	for line := range strings.Lines(r.stdout) {
		level, _, _ := strings.Cut(line, " ")
		t.check(slices.Contains([]string{"ok", "warn", "error", ""}, level), "a line of the text's own: %q", line)
	}
	_, errors, _ := strings.Cut(r.stdout, " errors ")
	t.check(strings.Contains(errors, t.word()) && errors != "", "does not say what hooks could not do: %q", r.stdout)
	return t.onTerminal(c, false)
}

// tryCleanup: what it says before it does anything, and when it does.
func tryCleanup(t *trial) error {
	for _, c := range []command{cli("cleanup", "--dry-run"), cli("cleanup", "--dry-run", "--json"), cli("cleanup")} {
		r, err := t.out(c)
		if err != nil {
			return err
		}
		bad := acts(r.stdout, false)
		if slices.Contains(c.argv, "--json") {
			bad = actsAsJSON(r.stdout)
		}
		t.check(bad == "", "%s prints %s: %q", c, bad, r.stdout)
		t.check(strings.Contains(r.stdout, t.cutOff), "%s does not name the session that is gone: %q", c, r.stdout)
	}
	left, err := t.listed(t.state, "status")
	if err != nil {
		return err
	}
	t.check(slices.ContainsFunc(left, func(r row) bool { return r.Session == goodB }), "a good session is gone: %v", left)
	return nil
}
