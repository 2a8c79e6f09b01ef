package monitor

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/maintain"
	"tongs-agents/internal/focus"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// model is all that a screen is made of.
type model struct {
	Config
	width, height int
	method        ansi.Method // how the terminal counts cells
	theme         theme
	signs         signs

	now        time.Time
	listing    listing.Listing
	listed     bool  // there was a listing
	storeErr   error // why there is none now
	maintained error // why the last maintenance failed

	rows    []*fsstore.Annotated // the ones that Keep lets through, attention first
	lines   []line               // what of them is shown, in order
	cursor  int                  // the selected line; -1: none
	pinned  bool                 // the user has chosen it; else it is the first one
	chosen  fsstore.Key          // its session
	top     int                  // the first line on the screen
	order   order
	grouped bool
	query   string // shows only what matches
	typing  bool   // keys go into the query

	pane    paneState
	help    bool
	helpTop int
	notice  notice       // of the last key
	busy    string       // what a command is doing
	left    focus.Result // for which the view was left

	once bool // one frame, for no keys
}

// notice is what the last key came to.
type notice struct {
	text   string
	failed bool
}

func newModel(c Config, now time.Time) *model {
	m := &model{Config: c, now: now, cursor: -1, width: 80, height: 24, theme: themeOf(unknown), signs: unicodeSigns}
	if c.ASCII {
		m.signs = asciiSigns
	}
	return m
}

// tickMsg comes every second, since ages grow.
type tickMsg time.Time

func tick() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) })
}

func (m *model) Init() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, tick()) }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.theme = themeOf(light)
		if msg.IsDark() {
			m.theme = themeOf(dark)
		}
	case tea.ModeReportMsg:
		// As the renderer takes it: a terminal that knows the mode uses it.
		if msg.Mode == ansi.ModeUnicodeCore && (msg.Value.IsSet() || msg.Value.IsReset()) {
			m.method = ansi.GraphemeWidth
		}
	case tickMsg:
		m.now = time.Time(msg)
		cmd = tick()
	case listedMsg:
		m.list(msg)
	case warnedMsg:
		m.notice = notice{msg.err.Error(), true}
	case maintainedMsg:
		m.maintained = msg.err
	case tea.KeyPressMsg:
		m.notice = notice{}
		cmd = m.press(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseClickMsg:
		cmd = m.click(msg.Mouse())
	case tea.MouseWheelMsg:
		m.wheel(msg.Mouse())
	case focusedMsg:
		cmd = m.focused(focus.Result(msg))
	case cleanedMsg:
		m.busy, m.notice = "", cleanupNotice(maintain.Result(msg))
	case resumeMsg:
		m.busy = ""
		if msg.err != nil {
			m.notice = notice{"not resumed: " + msg.err.Error(), true}
			break
		}
		cmd = tea.ExecProcess(msg.cmd, func(err error) tea.Msg { return resumedMsg{err} })
	case resumedMsg:
		m.notice = notice{text: "the resumed session was left"}
		if msg.err != nil {
			m.notice = notice{"the resumed session ended: " + msg.err.Error(), true}
		}
	}
	m.scroll()
	return m, cmd
}

// list takes over a listing. What was there before an error is gone: it is not
// known to be so still.
func (m *model) list(msg listedMsg) {
	m.now, m.listing, m.rows, m.listed, m.storeErr = msg.at, msg.Listing, msg.kept, true, msg.err
	m.arrange()
}

// aged is a row as it is now. What it needs is the feed's business: it has a new
// listing, in a new order, at the second in which that changes.
func (m *model) aged(r *fsstore.Annotated) *fsstore.Annotated {
	a := fsstore.Annotate(&r.Record, m.now)
	a.NeedsAttention, a.Duplicate = r.NeedsAttention, r.Duplicate
	return &a
}

// selected is the selected row, or nil.
func (m *model) selected() *fsstore.Annotated {
	if m.cursor < 0 {
		return nil
	}
	return m.lines[m.cursor].row
}

// focusedMsg is how focusing a session ended.
type focusedMsg focus.Result

// focusPatience is how long a terminal may take to come to the front.
const focusPatience = 15 * time.Second

func (m *model) bring() tea.Cmd {
	row := m.selected()
	switch {
	case row == nil || m.busy != "":
		return nil
	case m.Focus == nil:
		m.notice = notice{"no terminal can be focused from here", true}
		return nil
	}
	m.busy = "focusing " + text.Clean(row.Repo) + m.signs.cut
	bring, r := m.Focus, m.aged(row)
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), focusPatience)
		defer cancel()
		return focusedMsg(bring(ctx, r))
	}
}

func (m *model) focused(result focus.Result) tea.Cmd {
	m.busy = ""
	switch {
	case !result.OK():
		m.notice = notice{"not focused: " + result.Reason, true}
	case m.ExitOnFocus:
		m.left = result
		return tea.Quit
	default:
		m.notice = notice{text: result.String()}
	}
	return nil
}

// cleanedMsg is what a cleanup has done.
type cleanedMsg maintain.Result

func (m *model) cleanup() tea.Cmd {
	switch {
	case m.busy != "":
		return nil
	case m.Cleanup == nil:
		m.notice = notice{"this view only looks: --no-maintain", true}
		return nil
	}
	m.busy = "cleaning up" + m.signs.cut
	return func() tea.Msg { return cleanedMsg(m.Cleanup()) }
}

func cleanupNotice(r maintain.Result) notice {
	switch {
	case r.Err != nil:
		return notice{"cleanup: " + r.Err.Error(), true}
	case r.Skipped != "":
		return notice{"another cleanup is under way", true}
	}
	var done []string
	for _, part := range []struct {
		verb    string
		changes []maintain.Change
	}{{"added", r.Added}, {"mended", r.Mended}, {"removed", r.Removed}} {
		if n := len(part.changes); n > 0 {
			done = append(done, fmt.Sprintf("%s %d", part.verb, n))
		}
	}
	if len(done) == 0 {
		return notice{text: "cleanup: nothing to do"}
	}
	return notice{text: "cleanup: " + strings.Join(done, ", ")}
}

func (m *model) copyResume() tea.Cmd {
	row := m.selected()
	if row == nil {
		return nil
	}
	command := ""
	if m.Copy != nil {
		command = m.Copy(&row.Record)
	}
	if command == "" {
		m.notice = notice{"no command resumes this session", true}
		return nil
	}
	m.notice = notice{text: "copied: " + command}
	return tea.SetClipboard(command)
}

// resumeMsg is the command that continues a session, resumedMsg its end.
type (
	resumeMsg struct {
		cmd *exec.Cmd
		err error
	}
	resumedMsg struct{ err error }
)

func (m *model) resume() tea.Cmd {
	row := m.selected()
	switch {
	case row == nil || m.busy != "":
		return nil
	case m.Resume == nil:
		m.notice = notice{"no session can be resumed from here", true}
		return nil
	}
	m.busy = "resuming" + m.signs.cut
	resume, r := m.Resume, row.Record
	return func() tea.Msg {
		cmd, err := resume(&r)
		return resumeMsg{cmd, err}
	}
}
