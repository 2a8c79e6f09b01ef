//go:build !(386 || arm)

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ours are the sequences that our programs may write to a terminal: colours, and
// the column at which a cell begins.
var ours = regexp.MustCompile("\x1b\\[[0-9;]*[mG]")

// acts says what in an output is no text; "": it is text, in lines. The rules
// are written down anew here, by what a terminal acts on and what the Unicode
// Standard says of characters that do not stand for themselves.
func acts(out string, terminal bool) string {
	if !utf8.ValidString(out) {
		return "bytes that are no UTF-8"
	}
	if terminal {
		out = strings.ReplaceAll(ours.ReplaceAllString(out, ""), "\r\n", "\n")
	}
	for _, r := range out {
		switch {
		case r == '\n', r == '\u200c', r == '\u200d': // joiners are parts of words; tmux judges
		case unicode.IsControl(r):
			return fmt.Sprintf("the control character %U", r)
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r),
			unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
			return fmt.Sprintf("%U, which cannot be seen", r)
		}
	}
	return ""
}

// actsAsJSON is acts for what a program reads: there, what cannot be seen may be.
func actsAsJSON(out string) string {
	return acts(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) || !unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
			return r
		}
		return -1
	}, out), false)
}

// tmux is a server, whose panes are terminals.
type tmux struct {
	w      *world
	socket string
}

const columns, lines = 160, 100

func (w *world) newTmux(name string) (*tmux, error) {
	s := &tmux{w, filepath.Join(w.dir, name)}
	if _, err := s.do("new-session", "-d", "-s", "s", "-n", "first", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(lines), "cat"); err != nil {
		return nil, err
	}
	w.atEnd(func() { s.do("kill-server") })
	_, err := s.do("set", "-g", "allow-rename", "on", ";", "set", "-g", "automatic-rename", "off", ";", "set", "-g", "allow-passthrough", "on",
		";", "set", "-g", "set-clipboard", "on", ";", "set", "-g", "default-size", fmt.Sprintf("%dx%d", columns, lines), ";", "set", "-g", "default-terminal", "screen-256color")
	return s, err
}

func (s *tmux) do(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = s.w.environ("/nonexistent")
	cmd.Dir = s.w.dir
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tmux %s: %w %s", shortened(strings.Join(args, " ")), err, stderr.String())
	}
	return out.String(), nil
}

// screen is what a text could have done to a terminal.
type screen struct {
	modes  string // as tmux names them
	cursor string
	lines  int
	buffer string // the clipboard
}

// modes are those that an application can change and a user would notice.
const modes = "title #{pane_title}|name #{window_name}|alternate #{alternate_on}|cursor #{cursor_flag}|insert #{insert_flag}|origin #{origin_flag}|wrap #{wrap_flag}|" +
	"mouse #{mouse_any_flag}|keypad #{keypad_flag}#{keypad_cursor_flag}|region #{scroll_region_upper}-#{scroll_region_lower}|width #{pane_width}"

// window is a terminal on which a command runs.
type window struct {
	*tmux
	id string
}

const ended = "ENDED-WITH-"

// open runs a command in a window, without its warnings, which may be as long as
// the name of a file. When it has ended, the screen says so.
func (s *tmux) open(state string, c command) (*window, error) {
	args := []string{"new-window", "-d", "-P", "-F", "#{window_id}", "-n", "fixed"}
	for _, e := range append(s.w.environ(state), c.env...) {
		args = append(args, "-e", e)
	}
	args = append(args, "sh", "-c", `"$@" 2>/dev/null; printf '`+ended+`%s\n' $?; exec cat`, "sh")
	id, err := s.do(append(args, c.argv...)...)
	return &window{s, strings.TrimSpace(id)}, err
}

func (win *window) close() { win.do("kill-window", "-t", win.id) }

// shows waits until the screen has a text, and returns it.
func (win *window) shows(want string) (string, error) {
	text := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var err error
		if text, err = win.do("capture-pane", "-p", "-t", win.id); err != nil {
			return "", err
		}
		if strings.Contains(text, want) {
			return text, nil
		}
	}
	return text, fmt.Errorf("the screen does not show %q:\n%s", want, text)
}

// look is how the terminal is now.
func (win *window) look(text string) (screen, error) {
	var s screen
	var err error
	if s.modes, err = win.do("display-message", "-p", "-t", win.id, modes); err != nil {
		return s, err
	}
	if s.cursor, err = win.do("display-message", "-p", "-t", win.id, "#{cursor_x},#{cursor_y}"); err != nil {
		return s, err
	}
	s.lines = strings.Count(strings.TrimRight(text, "\n "), "\n") + 1
	s.buffer, err = win.do("list-buffers")
	return s, err
}

// onTerminal runs a command on a terminal, which must be in the end as it is
// after a plain text. Where lines do not depend on the text, the cursor is, too.
func (t *trial) onTerminal(c command, sameLines bool) error {
	win, err := t.stage.screen.open(t.state, c)
	if err != nil {
		return err
	}
	defer win.close()
	text, err := win.shows(ended)
	if err != nil {
		return err
	}
	got, err := win.look(text)
	if err != nil {
		return err
	}
	if !sameLines {
		got.cursor, got.lines = "", 0
	}
	t.asUsual(c.String(), got, text)
	if c.argv[1] == "status" {
		rows := 0
		for line := range strings.Lines(text) {
			agent, _, _ := strings.Cut(line, " ")
			for _, harness := range t.sessions {
				if agent == harness {
					rows++
					break
				}
			}
		}
		t.check(rows == len(t.sessions), "%s: %d rows, want %d:\n%s", c, rows, len(t.sessions), text)
	}
	return nil
}

// asUsual compares with the plain text, which comes first.
func (t *trial) asUsual(what string, got screen, text string) {
	want, known := t.stage.usual[what]
	if !known {
		t.stage.usual[what] = got
		return
	}
	t.check(got == want, "%s: the terminal is\n%+v, want\n%+v:\n%s", what, got, want, text)
}

// viewRow is the beginning of a row of the view, before any text of a session.
var viewRow = regexp.MustCompile(`(?m)^. \S (waiting|error|idle|running|started|discovered|ended) +(\w+) `)

// tryMonitor: every row is whole, and the keys do what they should.
func tryMonitor(t *trial) error {
	c := cli("monitor", "--no-maintain")
	win, err := t.stage.screen.open(t.state, c)
	if err != nil {
		return err
	}
	defer win.close()
	text, err := win.shows("· " + strconv.Itoa(len(t.sessions)) + " sessions")
	if err != nil {
		return err
	}
	rows := viewRow.FindAllString(text, -1)
	t.check(len(rows) == len(t.sessions), "%d rows, want %d:\n%s", len(rows), len(t.sessions), text)
	got, err := win.look(text)
	if err != nil {
		return err
	}
	got.cursor, got.lines = "", 0
	t.asUsual("monitor", got, text)
	for _, keys := range [][]string{{"Space"}, {"Down"}, {"/", "g", "o", "o", "d", "-", "b", "Enter"}} {
		if _, err := win.do(append([]string{"send-keys", "-t", win.id}, keys...)...); err != nil {
			return err
		}
	}
	text, err = win.shows("1 of ")
	t.check(err == nil, "the keys do not filter: %v", err)
	if got, err = win.look(text); err != nil {
		return err
	}
	got.cursor, got.lines = "", 0
	t.asUsual("monitor, with keys", got, text)
	if _, err := win.do("send-keys", "-t", win.id, "q"); err != nil {
		return err
	}
	text, err = win.shows(ended + "0")
	if !t.check(err == nil, "it does not end well: %v", err) {
		return nil
	}
	if got, err = win.look(text); err != nil {
		return err
	}
	t.asUsual("monitor, ended", got, text)
	return nil
}
