package monitor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/maintain"
	"tongs-agents/internal/focus"
	"tongs-agents/internal/listing"
)

var now = time.Unix(1_800_000_000, 0)

// row makes a row that was reported so many seconds ago.
func row(harness, repo string, status fsstore.Status, age int64, title, detail string) *fsstore.Annotated {
	a := fsstore.Annotate(&fsstore.Record{
		Key:  fsstore.Key{Harness: harness, Session: harness + "-" + repo, Instance: "1:1"},
		Repo: repo, Cwd: "/home/u/src/" + repo, Status: status, Title: title, Detail: detail,
		TS: now.Unix() - age, Started: now.Unix() - age - 3600, PID: "4242", TTY: "pts/7", Terminal: "tmux",
		Model: "opus-5", Mode: fsstore.Interactive, Resume: []string{harness, "--resume", "it's"},
		Recent: []fsstore.Recent{
			{Event: "prompt-submit", Status: fsstore.Running, TS: now.Unix() - age - 90},
			{Event: "stop", Status: status, TS: now.Unix() - age},
		},
	}, now)
	return &a
}

// rows are a listing of everything there may be, in its order.
func rows() []*fsstore.Annotated {
	long := strings.Repeat("very-long-", 30)
	waiting := row("claude", "ledger-api", fsstore.Waiting, 12, "Round half-even in invoices", "permission needed: Bash")
	waiting.WaitingFor = &fsstore.Wait{Tool: "Bash", AgentID: "a1"}
	duplicate := row("opencode", "infra", fsstore.Error, 600, "", "turn failed (API error)")
	duplicate.Duplicate = true
	return []*fsstore.Annotated{
		row("claude", long, fsstore.Waiting, 4000, strings.Repeat("A long title. ", 30), "waiting for user input"),
		waiting,
		row("codex", "website", fsstore.Idle, 260, "Fix the totals", "Totals now round half-even. All tests pass."),
		duplicate,
		row("copilot", "docs", fsstore.Idle, 60, hostile, hostile),
		row("gemini", "数据管道", fsstore.Running, 45, "重构解析器 🇩🇪🇫🇷", "处理管道中的文件 🚀 👩‍💻👨‍👩‍👧‍👦 ❤️ 👍🏽 e\u0301 की"),
		row("gemini", "ledger-api", fsstore.Running, 2, "Upgrade the parser", "using run_shell_command"),
		row("qwen", "", fsstore.Started, 5, "", "session started"),
		row("goose", "website", fsstore.Discovered, 7, "", ""),
		row("codex", "docs", fsstore.Ended, 100, "", "session closed"),
	}
}

// hostile would move the cursor, set a title, ring, reorder and more.
const hostile = "\x1b[2J\x1b[1;1H\x1b]0;pwned\x07\x1b]52;c;cHduZWQ=\x07red\x1b[31m \u202eright\u2066\r\nnext\x9b2J\u009b1m\x00\x08 \u0d4e"

// view is a model that shows the rows.
func view(t *testing.T, width, height int, c Config, rows ...*fsstore.Annotated) *model {
	t.Helper()
	m := newModel(c, now)
	send(m, tea.WindowSizeMsg{Width: width, Height: height})
	send(m, listed(rows...))
	return m
}

func listed(rows ...*fsstore.Annotated) listedMsg {
	return listedMsg{Listing: listing.Listing{Rows: rows, Exists: true}, kept: rows, at: now}
}

// send updates a model, and with what a command answers, too: with all but the
// tick, which would be a second.
func send(m *model, msg tea.Msg) (quit bool) {
	_, cmd := m.Update(msg)
	if _, isTick := msg.(tickMsg); cmd == nil || isTick {
		return false
	}
	switch answer := cmd().(type) {
	case tea.QuitMsg:
		return true
	case focusedMsg, cleanedMsg, resumeMsg:
		return send(m, answer)
	}
	return false
}

// press presses keys, separated by spaces.
func press(m *model, keys string) (quit bool) {
	special := map[string]rune{
		"enter": tea.KeyEnter, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "esc": tea.KeyEscape, "space": tea.KeySpace, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
	}
	for name := range strings.FieldsSeq(keys) {
		key := tea.KeyPressMsg{Code: special[name]}
		if letter, control := strings.CutPrefix(name, "ctrl+"); control {
			key = tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
		} else if key.Code == 0 {
			key = tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
		}
		quit = send(m, key) || quit
	}
	return quit
}

// screen is the screen without colours.
func screen(m *model) string {
	lines := strings.Split(ansi.Strip(m.View().Content), "\n")
	for i := range lines {
		lines[i] = trimmed(lines[i])
	}
	return strings.Join(lines, "\n") + "\n"
}

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: the screen is\n%s\nwant\n%s", name, got, want)
	}
}

func TestView(t *testing.T) {
	failing := errors.New("store /home/u/state unavailable: not a directory")
	for _, test := range []struct {
		name          string
		width, height int
		config        Config
		do            func(m *model)
	}{
		{"table-10", 10, 13, Config{}, nil},
		{"table-20", 20, 14, Config{}, nil},
		{"table-30", 30, 14, Config{}, nil},
		{"table-80", 80, 16, Config{}, nil},
		{"table-120", 120, 16, Config{}, func(m *model) { press(m, "down down") }},
		{"table-200", 200, 24, Config{}, func(m *model) { press(m, "n") }},
		{"ascii-80", 80, 16, Config{ASCII: true}, func(m *model) { press(m, "down space") }},
		{"sidebar-30", 30, 14, Config{Sidebar: true}, func(m *model) { press(m, "down") }},
		{"sidebar-60", 60, 14, Config{Sidebar: true}, nil},
		{"details-30", 30, 24, Config{}, func(m *model) { press(m, "down space") }},
		{"details-80", 80, 26, Config{}, func(m *model) { press(m, "down tab") }},
		{"details-hostile", 80, 26, Config{}, func(m *model) { press(m, "down down down down space") }},
		{"grouped-80", 80, 20, Config{}, func(m *model) { press(m, "g") }},
		{"grouped-30", 30, 20, Config{}, func(m *model) { press(m, "g") }},
		{"sorted", 80, 16, Config{}, func(m *model) { press(m, "s s") }},
		{"typing", 80, 16, Config{}, func(m *model) { press(m, "/ w e b s i t e space f i x") }},
		{"filtered", 80, 16, Config{}, func(m *model) { press(m, "/ L e d g e r enter") }},
		{"nothing-matches", 30, 10, Config{}, func(m *model) { press(m, "/ x y z enter") }},
		{"short", 80, 5, Config{}, func(m *model) { press(m, "down down down down") }},
		{"help-80", 80, 40, Config{}, func(m *model) { press(m, "?") }},
		{"help-30", 30, 14, Config{}, func(m *model) { press(m, "? pgdown") }},
		{"reading", 40, 6, Config{}, func(m *model) { *m = *newModel(Config{}, now); m.width, m.height = 40, 6 }},
		{"no-store", 40, 12, Config{}, func(m *model) { send(m, listedMsg{at: now}) }},
		{"no-sessions", 40, 12, Config{}, func(m *model) { send(m, listed()) }},
		{"kept-none", 40, 8, Config{}, func(m *model) {
			l := listed(rows()...)
			l.kept = nil
			send(m, l)
		}},
		{"unusable", 60, 8, Config{}, func(m *model) { send(m, listedMsg{err: failing, at: now}) }},
		{"cleanup-fails", 60, 14, Config{}, func(m *model) { send(m, maintainedMsg{errors.New("record lock: timed out")}) }},
		{"unreadable", 60, 14, Config{}, func(m *model) {
			l := listed(rows()...)
			l.Unreadable = make([]fsstore.Unreadable, 3)
			send(m, l)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := view(t, test.width, test.height, test.config, rows()...)
			if test.do != nil {
				test.do(m)
			}
			golden(t, test.name, screen(m))
		})
	}
}

// Whatever is shown on whatever terminal, no line is wider than it, there are
// not more than it has, and nothing in them acts on it but our own colours.
func TestLimits(t *testing.T) {
	states := map[string]func(m *model){
		"table":     func(m *model) {},
		"details":   func(m *model) { m.pane = paneShown; press(m, "down down down down") },
		"wide":      func(m *model) { m.pane = paneShown; press(m, "down down down down down") },
		"long":      func(m *model) { m.pane = paneShown },
		"grouped":   func(m *model) { press(m, "g end") },
		"help":      func(m *model) { press(m, "? down down") },
		"typing":    func(m *model) { press(m, "/ 数 据"); m.paste(hostile + strings.Repeat("👩‍💻", 30)) },
		"filtered":  func(m *model) { press(m, "/ e enter") },
		"no match":  func(m *model) { press(m, "/ q q q enter") },
		"notice":    func(m *model) { m.notice = notice{hostile + strings.Repeat("数据", 50), true} },
		"banners":   func(m *model) { m.storeErr, m.maintained = errors.New(hostile), errors.New(strings.Repeat("x ", 200)) },
		"no store":  func(m *model) { send(m, listedMsg{at: now}) },
		"badly off": func(m *model) { m.listing.Unreadable = make([]fsstore.Unreadable, 12345); m.busy = "cleaning up" },
	}
	var widths []int
	for width := range 36 {
		widths = append(widths, width)
	}
	widths = append(widths, 47, 48, 49, 80, 99, 100, 119, 120, 149, 150, 200)
	for name, change := range states {
		for _, c := range []Config{{}, {Sidebar: true, ASCII: true}} {
			for _, method := range []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth} {
				for _, width := range widths {
					m := view(t, width, 1+width%23, c, rows()...)
					m.method = method
					m.theme = themeOf(background(width % 3))
					change(m)
					m.scroll()
					content := m.View().Content
					lines := strings.Split(content, "\n")
					if len(lines) > m.height {
						t.Fatalf("%s %+v: %d lines on %d×%d", name, c, len(lines), width, m.height)
					}
					for _, line := range lines {
						plain := colours.Replace(line)
						if w := method.StringWidth(plain); w > width {
							t.Fatalf("%s %+v: a line of %d cells on %d×%d:\n%q", name, c, w, width, m.height, line)
						}
						if strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u202e' || r == '\u2066' }) {
							t.Fatalf("%s %+v: a line that acts on the terminal:\n%q", name, c, line)
						}
					}
					if c.ASCII && name == "help" && strings.ContainsFunc(content, func(r rune) bool { return r > '~' }) {
						t.Fatalf("a sign beyond ASCII: %q", content)
					}
				}
			}
		}
	}
}

// colours takes the styles away that themes have, and nothing else.
var colours = func() *strings.Replacer {
	var pairs []string
	for _, b := range []background{unknown, dark, light} {
		th := themeOf(b)
		for _, s := range []style{th.plain, th.bold, th.faint, th.attention, th.failed, th.running, th.ending} {
			for _, sequence := range s {
				if sequence != "" {
					pairs = append(pairs, sequence, "")
				}
			}
		}
	}
	return strings.NewReplacer(append(pairs, ansi.ResetStyle, "")...)
}()

func chosen(m *model) string {
	if r := m.selected(); r != nil {
		return r.Session
	}
	return ""
}

func TestSelection(t *testing.T) {
	m := view(t, 80, 24, Config{}, rows()...)
	first := chosen(m)
	for _, step := range []struct{ keys, want string }{
		{"down", "claude-ledger-api"},
		{"k", first},
		{"up", first},
		{"n", "claude-ledger-api"},
		{"n", "codex-website"},
		{"n", first}, // around
		{"N", "codex-website"},
		{"end", "codex-docs"},
		{"j", "codex-docs"},
		{"n", first},
		{"G", "codex-docs"},
		{"pgup", first},
		{"pgdown", "codex-docs"},
		{"home", first},
		{"g end", "codex-website"}, // the repos in the order of their first rows, the last one
	} {
		press(m, step.keys)
		if got := chosen(m); step.keys != "g end" && got != step.want {
			t.Errorf("after %s %q is selected, want %q", step.keys, got, step.want)
		}
	}
	if got := chosen(m); got != "qwen-" {
		t.Errorf("the last row of all groups is %q, want qwen-", got)
	}
}

// What the user has selected stays selected; what nobody has is on top.
func TestSelectionStays(t *testing.T) {
	all := rows()
	m := view(t, 80, 24, Config{}, all...)
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	send(m, listed(reversed...))
	if got := chosen(m); got != "codex-docs" {
		t.Errorf("nothing was selected, and %q is, want the first row", got)
	}
	press(m, "down") // goose
	send(m, listed(all...))
	if got := chosen(m); got != "goose-website" {
		t.Errorf("%q is selected after the rows were sorted anew, want goose-website", got)
	}
	send(m, listed(slices.DeleteFunc(slices.Clone(all), func(r *fsstore.Annotated) bool { return r.Harness == "goose" })...))
	if got := chosen(m); got != "codex-docs" {
		t.Errorf("%q is selected after the selected row has gone, want the one in its place", got)
	}
	send(m, listed())
	press(m, "down up n enter r R g s space")
	if got := chosen(m); got != "" {
		t.Errorf("%q is selected among no rows", got)
	}
}

func TestScroll(t *testing.T) {
	var many []*fsstore.Annotated
	for i := range 100 {
		many = append(many, row("claude", fmt.Sprintf("repo-%02d", i), fsstore.Running, 5, "", ""))
	}
	m := view(t, 80, 13, Config{}, many...) // 10 rows
	for _, step := range []struct {
		keys string
		want string // the rows on the screen
	}{
		{"", "00 09"},
		{"pgdown", "00 09"},
		{"down", "01 10"},
		{"pgdown pgdown", "19 28"},
		{"up up", "19 28"},
		{"end", "90 99"},
		{"home", "00 09"},
	} {
		press(m, step.keys)
		lines := strings.Split(screen(m), "\n")
		shown := repos(lines)
		if got := shown[0] + " " + shown[len(shown)-1]; got != step.want {
			t.Errorf("after %q the rows are %s, want %s", step.keys, got, step.want)
		}
	}
	send(m, tea.WindowSizeMsg{Width: 80, Height: 6})
	press(m, "end")
	send(m, tea.WindowSizeMsg{Width: 80, Height: 40})
	if shown := repos(strings.Split(screen(m), "\n")); len(shown) != 37 || shown[36] != "99" {
		t.Errorf("on a higher screen there are %d rows up to %s, want 37 up to 99", len(shown), shown[len(shown)-1])
	}
}

// repos are the numbers of the repos on a screen.
func repos(lines []string) []string {
	var all []string
	for _, l := range lines {
		if _, rest, ok := strings.Cut(l, "repo-"); ok {
			all = append(all, rest[:2])
		}
	}
	return all
}

func sessions(m *model) string {
	var all []string
	for _, l := range m.lines {
		if l.row != nil {
			all = append(all, l.row.Harness+"-"+l.row.Repo)
		}
	}
	return strings.Join(all, " ")
}

func TestFilter(t *testing.T) {
	all := []*fsstore.Annotated{
		row("claude", "api", fsstore.Waiting, 5, "Fix Login", "permission needed: Bash"),
		row("codex", "web", fsstore.Idle, 5, "Totals", "All tests pass"),
		row("gemini", "api", fsstore.Running, 5, "Parser", "using \x1b[31mBash"),
	}
	for _, test := range []struct{ keys, want string }{
		{"", "claude-api codex-web gemini-api"},
		{"/ a p i", "claude-api gemini-api"},
		{"/ B A S H", "claude-api gemini-api"},
		{"/ b a s h space g e m i", "gemini-api"},
		{"/ r u n n i n g", "gemini-api"},
		{"/ l o g i n", "claude-api"},
		{"/ [ 3 1", ""},
		{"/ a p i x backspace", "claude-api gemini-api"},
		{"/ a p i space x y ctrl+w", "claude-api gemini-api"},
		{"/ x y z ctrl+u", "claude-api codex-web gemini-api"},
		{"/ x y z esc", "claude-api codex-web gemini-api"},
		{"/ w e b enter", "codex-web"},
		{"/ w e b enter esc", "claude-api codex-web gemini-api"},
		{"/ q", ""}, // the key does not quit
	} {
		m := view(t, 80, 24, Config{}, all...)
		if press(m, test.keys) {
			t.Errorf("%s quits", test.keys)
		}
		if got := sessions(m); got != test.want {
			t.Errorf("after %q there are %q, want %q", test.keys, got, test.want)
		}
	}
	m := view(t, 80, 24, Config{}, all...)
	press(m, "/")
	send(m, tea.PasteMsg{Content: "a\x1b[31mpi\n"})
	if got := sessions(m); got != "claude-api gemini-api" {
		t.Errorf("after pasting there are %q", got)
	}
	if !press(m, "ctrl+c") {
		t.Error("ctrl+c does not quit while typing")
	}
	m = view(t, 80, 24, Config{}, all...)
	if press(m, "/ a p i enter ?"); !strings.Contains(screen(m), "q back") {
		t.Errorf("the help does not say how it is left:\n%s", screen(m))
	}
}

func TestOrder(t *testing.T) {
	all := []*fsstore.Annotated{
		row("gemini", "b", fsstore.Waiting, 50, "", ""),
		row("codex", "A", fsstore.Waiting, 5, "", ""),
		row("claude", "b", fsstore.Running, 20, "", ""),
	}
	m := view(t, 80, 24, Config{}, all...)
	for _, step := range []struct{ keys, want string }{
		{"", "gemini-b codex-A claude-b"},
		{"s", "codex-A claude-b gemini-b"},
		{"s", "claude-b codex-A gemini-b"},
		{"s", "codex-A gemini-b claude-b"},
		{"s", "gemini-b codex-A claude-b"},
		{"g", "gemini-b claude-b codex-A"},
	} {
		press(m, step.keys)
		if got := sessions(m); got != step.want {
			t.Errorf("after %q the order is %q, want %q", step.keys, got, step.want)
		}
	}
}

func TestFocus(t *testing.T) {
	var asked []string
	result := focus.Result{State: focus.Complete, Selection: focus.Step{Attempted: true, Succeeded: true, Detail: "pane %3"}}
	c := Config{Focus: func(ctx context.Context, r *fsstore.Annotated) focus.Result {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("focusing may take forever")
		}
		asked = append(asked, r.Session)
		return result
	}}
	m := view(t, 80, 24, c, rows()...)
	if press(m, "down enter") {
		t.Error("the view quits without --exit-on-focus")
	}
	if !strings.Contains(screen(m), "selected pane %3") {
		t.Errorf("the screen does not say what was done:\n%s", screen(m))
	}
	m.ExitOnFocus = true
	result = focus.Result{State: focus.Unavailable, Reason: "no process \x1b[31mrecorded"}
	if press(m, "enter") {
		t.Error("the view quits although nothing was focused")
	}
	if !strings.Contains(screen(m), "not focused: no process recorded") {
		t.Errorf("the screen does not say why:\n%s", screen(m))
	}
	if press(m, "down"); strings.Contains(screen(m), "not focused") {
		t.Error("a notice outlives the next key")
	}

	// Where a reason does not fit one line it has several, and the table the rest.
	result.Reason = "no terminal or window shows process 4242: no desktop is known"
	for _, size := range []tea.WindowSizeMsg{{Width: 30, Height: 12}, {Width: 30, Height: 3}} {
		send(m, size)
		press(m, "end enter")
		got := screen(m)
		said := strings.Join(strings.Fields(got), " ")
		if want := result.Reason; size.Height == 3 {
			if !strings.Contains(said, "not focused: no terminal or w…") {
				t.Errorf("on %v the screen is\n%s", size, got)
			}
		} else if !strings.Contains(said, want) || !strings.Contains(got, "❯ - docs") {
			t.Errorf("on %v the screen lacks the reason, or the selected row:\n%s", size, got)
		}
	}
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24})
	m.listing.Unreadable = make([]fsstore.Unreadable, 3)
	if press(m, "enter"); !strings.Contains(screen(m), "4242: no") || !strings.Contains(screen(m), "desktop is known") {
		t.Errorf("the screen lacks the reason for what is unreadable:\n%s", screen(m))
	}
	press(m, "home down down")
	result.State = focus.Partial
	if !press(m, "enter") {
		t.Error("the view goes on although a session was focused")
	}
	if got := strings.Join(asked, " "); got != "claude-ledger-api claude-ledger-api codex-docs codex-docs codex-docs codex-website" {
		t.Errorf("focused were %s", got)
	}
}

// A second key does not start what is under way.
func TestBusy(t *testing.T) {
	m := view(t, 80, 24, Config{Focus: func(context.Context, *fsstore.Annotated) focus.Result { return focus.Result{} }}, rows()...)
	if _, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeyEnter}); cmd == nil {
		t.Fatal("enter does nothing")
	}
	if _, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeyEnter}); cmd != nil {
		t.Error("enter focuses while it is focusing")
	}
	if !strings.Contains(screen(m), "focusing") {
		t.Errorf("the screen does not say what is under way:\n%s", screen(m))
	}
}

func TestCleanup(t *testing.T) {
	var result maintain.Result
	m := view(t, 80, 24, Config{Cleanup: func() maintain.Result { return result }}, rows()...)
	for _, test := range []struct {
		result maintain.Result
		want   string
	}{
		{maintain.Result{}, "cleanup: nothing to do"},
		{maintain.Result{Removed: make([]maintain.Change, 2), Added: make([]maintain.Change, 1)}, "cleanup: added 1, removed 2"},
		{maintain.Result{Skipped: maintain.Busy}, "another cleanup is under way"},
		{maintain.Result{Skipped: maintain.Unavailable, Err: errors.New("no space")}, "cleanup: no space"},
	} {
		result = test.result
		press(m, "c")
		if !strings.Contains(screen(m), test.want) {
			t.Errorf("the screen does not say %q:\n%s", test.want, screen(m))
		}
	}
	m = view(t, 80, 24, Config{}, rows()...)
	if press(m, "c"); !strings.Contains(screen(m), "only looks") {
		t.Errorf("the screen does not say that it only looks:\n%s", screen(m))
	}
}

func TestResume(t *testing.T) {
	m := view(t, 80, 24, Config{
		Copy:   func(r *fsstore.Record) string { return "resume " + r.Repo },
		Resume: func(r *fsstore.Record) (*exec.Cmd, error) { return nil, errors.New("it lives in process 42") },
	}, row("claude", "api", fsstore.Running, 5, "", ""))
	_, cmd := m.Update(tea.KeyPressMsg{Code: 'r', Text: "r"})
	if got, want := fmt.Sprint(cmd()), fmt.Sprint(tea.SetClipboard("resume api")()); got != want {
		t.Errorf("r copies %q, want %q", got, want)
	}
	if !strings.Contains(screen(m), "copied: resume api") {
		t.Errorf("the screen does not say what was copied:\n%s", screen(m))
	}
	if press(m, "R"); !strings.Contains(screen(m), "not resumed: it lives in process 42") {
		t.Errorf("the screen does not say why nothing was resumed:\n%s", screen(m))
	}
	m.Resume = func(r *fsstore.Record) (*exec.Cmd, error) { return exec.Command("true"), nil }
	_, cmd = m.Update(tea.KeyPressMsg{Code: 'R', Text: "R"})
	if _, cmd = m.Update(cmd()); cmd == nil {
		t.Error("R runs nothing")
	}
	m.Copy = func(*fsstore.Record) string { return "" }
	if press(m, "r"); !strings.Contains(screen(m), "no command resumes") {
		t.Errorf("the screen does not say that nothing was copied:\n%s", screen(m))
	}
}

func TestMouse(t *testing.T) {
	focused := 0
	m := view(t, 80, 13, Config{Focus: func(context.Context, *fsstore.Annotated) focus.Result { focused++; return focus.Result{} }}, rows()...)
	click := func(y int) { send(m, tea.MouseClickMsg{X: 10, Y: y, Button: tea.MouseLeft}) }
	click(4) // the header, the titles and two rows are above
	if got := chosen(m); got != "codex-website" || focused != 0 {
		t.Errorf("a click on the third row selects %q and focuses %d", got, focused)
	}
	click(4)
	if focused != 1 {
		t.Errorf("the second click focuses %d times", focused)
	}
	for _, y := range []int{0, 1, 12, 40, -1} {
		click(y)
	}
	if got := chosen(m); got != "codex-website" || focused != 1 {
		t.Errorf("clicks beside the rows select %q and focus %d", got, focused)
	}
	send(m, tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if got := chosen(m); got != "gemini-数据管道" {
		t.Errorf("the wheel selects %q", got)
	}
	send(m, tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if got := chosen(m); got != "codex-website" {
		t.Errorf("the wheel back selects %q", got)
	}
}

// While nothing changes the screen stays the same, but for ages.
func TestAges(t *testing.T) {
	m := view(t, 80, 13, Config{}, row("claude", "api", fsstore.Running, 60, "", ""))
	before := screen(m)
	send(m, tickMsg(now.Add(59*time.Second)))
	if got := screen(m); got != before {
		t.Errorf("within a minute the screen has changed:\n%s", got)
	}
	send(m, tickMsg(now.Add(60*time.Second)))
	if got := screen(m); !strings.Contains(got, " 2m") {
		t.Errorf("after two minutes the screen is\n%s", got)
	}
}

func TestWarning(t *testing.T) {
	m := view(t, 80, 13, Config{}, rows()...)
	send(m, warnedMsg{errors.New("no notifications: no bus")})
	if !strings.Contains(screen(m), "no notifications: no bus") {
		t.Errorf("the screen does not warn:\n%s", screen(m))
	}
}

// What is kept goes to whoever notifies, and to the view.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, harness := range []string{"claude", "codex"} {
		r := &fsstore.Record{
			Key:  fsstore.Key{Harness: harness, Session: "s", Instance: fsstore.Unresolved},
			Kind: fsstore.KindSession, Identity: fsstore.Unresolved, Status: fsstore.Waiting, TS: 1, Arrival: 1,
			Source: fsstore.SourceHook, Focus: fsstore.Focus{Kind: fsstore.FocusUnavailable},
		}
		if _, err := store.Import(r, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var sent listedMsg
	notified := ""
	follow(ctx, Config{
		Dir: dir, NoMaintain: true,
		Filter: listing.Filter{Agents: []string{"codex"}},
	}, func(msg tea.Msg) {
		sent = msg.(listedMsg)
		cancel()
	}, func(rows []*fsstore.Annotated) {
		for _, r := range rows {
			notified += r.Harness
		}
	})
	if notified != "codex" || len(sent.kept) != 1 || len(sent.Rows) != 2 || sent.err != nil {
		t.Errorf("of two sessions %q was told, %d of %d are shown, error %v; want codex, 1 of 2", notified, len(sent.kept), len(sent.Rows), sent.err)
	}
}

// The colours are those for the background, and signs say the same without.
func TestBackground(t *testing.T) {
	m := view(t, 80, 13, Config{}, rows()...)
	seen := map[string]bool{m.View().Content: true}
	for _, c := range []ansi.Color{ansi.Black, ansi.BrightWhite} {
		send(m, tea.BackgroundColorMsg{Color: c})
		seen[m.View().Content] = true
	}
	if len(seen) != 3 {
		t.Errorf("three backgrounds have %d sets of colours", len(seen))
	}
	drawn := map[string]bool{}
	for _, s := range []signs{unicodeSigns, asciiSigns} {
		for _, r := range rows() {
			sign := s.of(r)
			if ansi.StringWidth(sign) != 1 {
				t.Errorf("sign %q takes %d cells", sign, ansi.StringWidth(sign))
			}
			drawn[sign] = true
		}
		if s.selected == "" || drawn[s.selected] {
			t.Errorf("the sign of the selected row is %q", s.selected)
		}
	}
	if len(drawn) < 8 {
		t.Errorf("only %d different signs: %v", len(drawn), drawn)
	}
}

func TestOnce(t *testing.T) {
	l := listed(rows()...).Listing
	for _, test := range []struct {
		name   string
		width  int
		config Config
	}{{"once-30", 30, Config{}}, {"once-80", 80, Config{}}, {"once-sidebar", 30, Config{Sidebar: true, ASCII: true}}} {
		got := Once(test.config, l, now, test.width, false)
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s: colours: %q", test.name, got)
		}
		golden(t, test.name, got)
	}
	if got := Once(Config{}, l, now, 80, true); !strings.Contains(got, "\x1b[1;33m") {
		t.Errorf("no colours: %q", got)
	}
}
