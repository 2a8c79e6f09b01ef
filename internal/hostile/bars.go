//go:build !(386 || arm)

package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// styles are the colours and styles of a line of a screen.
var styles = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x0e|\x0f")

// tryTmuxBar shows the format in a status line of tmux, which is looked at in
// another tmux: no text is a command, a format or a style there.
func tryTmuxBar(t *trial) error {
	bar := t.stage.bar
	const inner = "inner"
	program := t.bin + "/" + cliProgram
	line := fmt.Sprintf("TONGS_AGENTS_STATE_DIR=%s LC_ALL=C.UTF-8 %s status --format tmux", t.state, program)
	detail := fmt.Sprintf("TONGS_AGENTS_STATE_DIR=%s LC_ALL=C.UTF-8 %s status --format '{{range .Sessions}}{{if eq .Session \"imported\"}}{{.Detail | cut 60 | tmux}}{{end}}{{end}}'", t.state, program)
	args := []string{"new-window", "-d", "-P", "-F", "#{window_id}", "env", "-u", "TMUX", "TERM=screen-256color", "tmux", "-S", t.dir + "/" + inner, "-f", "/dev/null",
		"new-session", "cat", ";", "set", "-g", "status-right-length", "140", ";", "set", "-g", "status-left", "", ";", "set", "-g", "window-status-current-format", "w", ";",
		"set", "-g", "status-interval", "1", ";", "set", "-g", "status-right", "<#(" + line + ")|#(" + detail + ")>"}
	id, err := bar.do(escapeCommands(args)...)
	if err != nil {
		return err
	}
	win := &window{bar, strings.TrimSpace(id)}
	defer win.close()
	defer (&tmux{t.world, t.dir + "/" + inner}).do("kill-server")
	status := ""
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		text, err := win.do("capture-pane", "-p", "-e", "-t", win.id)
		if err != nil {
			return err
		}
		rows := strings.Split(strings.TrimRight(text, "\n"), "\n")
		status = rows[len(rows)-1]
		plain := styles.ReplaceAllString(status, "")
		_, end, _ := strings.Cut(strings.TrimSpace(plain), "|")
		if strings.Contains(plain, "⚠") && strings.HasSuffix(end, ">") && (t.blank || end != ">") {
			break
		}
		if time.Now().After(deadline) {
			t.check(false, "the status line does not come: %q", status)
			return nil
		}
	}
	shown := styles.ReplaceAllString(status, "")
	t.check(strings.Count(shown, "|") >= 1 && strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(shown, "w")), "<"), "the status line is %q", shown)
	t.check(strings.Contains(shown, t.word()), "shows nothing of the text: %q", shown)
	got := screen{modes: strings.Join(styles.FindAllString(status, -1), " ")}
	t.asUsual("status line", got, status)
	return nil
}

// escapeCommands keeps a semicolon for the inner tmux.
func escapeCommands(args []string) []string {
	var escaped []string
	for _, arg := range args {
		if arg == ";" {
			arg = `\;`
		}
		escaped = append(escaped, arg)
	}
	return escaped
}
