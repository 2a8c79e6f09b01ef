package monitor

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tongs-agents/internal/text"
)

// binding is what some keys do.
type binding struct {
	keys []string // as tea.KeyPressMsg.String names them
	name string   // for the help
	does string
	do   func(*model) tea.Cmd
}

// bindings are all keys. It is a function since their help is one of them.
func bindings() []binding {
	still := func(do func(*model)) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { do(m); return nil }
	}
	return []binding{
		{[]string{"enter"}, "enter", "bring the session's terminal to the front", (*model).bring},
		{[]string{"n"}, "n", "select the next session that needs you", still(func(m *model) { m.next(1) })},
		{[]string{"N", "shift+n"}, "N", "select the one before", still(func(m *model) { m.next(-1) })},
		{[]string{"up", "k"}, "up k", "select the row above", still(func(m *model) { m.move(-1) })},
		{[]string{"down", "j"}, "down j", "select the row below", still(func(m *model) { m.move(1) })},
		{[]string{"pgup", "ctrl+b"}, "pgup", "a page up", still(func(m *model) { m.move(-m.page()) })},
		{[]string{"pgdown", "ctrl+f"}, "pgdn", "a page down", still(func(m *model) { m.move(m.page()) })},
		{[]string{"home", "<"}, "home <", "the first row, whichever that is from now on", still(func(m *model) { m.pinned = false; m.choose(0, 1) })},
		{[]string{"end", ">", "G"}, "end > G", "the last row", still(func(m *model) { m.pinned = true; m.choose(len(m.lines)-1, -1) })},
		{[]string{"space", "tab"}, "space tab", "show or hide the details", still((*model).togglePane)},
		{[]string{"/"}, "/", "show only what matches: words of repo, title, agent, session, status, detail", still(func(m *model) { m.typing = true })},
		{[]string{"esc"}, "esc", "show all again", still(func(m *model) { m.filter("") })},
		{[]string{"s"}, "s", "sort by attention, age, agent, repo", still(func(m *model) { m.order = (m.order + 1) % orders; m.arrange() })},
		{[]string{"g"}, "g", "group by repo, or not", still(func(m *model) { m.grouped = !m.grouped; m.arrange() })},
		{[]string{"r"}, "r", "copy the command that resumes the session", (*model).copyResume},
		{[]string{"R", "shift+r"}, "R", "resume it here, if it does not live", (*model).resume},
		{[]string{"c"}, "c", "clean up: remove what has died, add what no hook reported", (*model).cleanup},
		{[]string{"?", "h", "f1"}, "? h", "this help", still(func(m *model) { m.help, m.helpTop = true, 0 })},
		{[]string{"ctrl+z"}, "ctrl+z", "suspend", func(*model) tea.Cmd { return tea.Suspend }},
		{[]string{"q", "ctrl+c"}, "q ctrl+c", "quit", func(*model) tea.Cmd { return tea.Quit }},
	}
}

// press does what a key stands for where the model is.
func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.help:
		m.pressHelp(name)
		return nil
	case m.typing:
		m.pressQuery(name, key.Text)
		return nil
	}
	for _, b := range bindings() {
		for _, k := range b.keys {
			if k == name {
				return b.do(m)
			}
		}
	}
	return nil
}

// pressHelp scrolls the help; any other key closes it.
func (m *model) pressHelp(name string) {
	switch name {
	case "up", "k":
		m.helpTop--
	case "down", "j":
		m.helpTop++
	case "pgup":
		m.helpTop -= m.page()
	case "pgdown", "space":
		m.helpTop += m.page()
	default:
		m.help = false
	}
	m.helpTop = max(min(m.helpTop, len(m.helpLines())-m.layout().body.height), 0)
}

// pressQuery edits the query. It counts with every key.
func (m *model) pressQuery(name, typed string) {
	switch name {
	case "enter":
		m.typing = false
	case "esc":
		m.typing = false
		m.filter("")
	case "backspace", "ctrl+h":
		if m.query == "" {
			m.typing = false
		}
		_, last := utf8.DecodeLastRuneInString(m.query)
		m.filter(m.query[:len(m.query)-last])
	case "ctrl+u":
		m.filter("")
	case "ctrl+w":
		kept := strings.TrimRight(m.query, " ")
		m.filter(kept[:strings.LastIndex(kept, " ")+1])
	case "up":
		m.move(-1)
	case "down":
		m.move(1)
	case "space":
		m.filter(m.query + " ")
	default:
		m.filter(m.query + text.Clean(typed))
	}
}

func (m *model) paste(s string) {
	if m.typing {
		m.filter(m.query + text.Clean(s))
	}
}

// maxQuery is more than fits any screen, in bytes.
const maxQuery = 1 << 10

func (m *model) filter(query string) {
	if len(query) <= maxQuery {
		m.query = query
		m.arrange()
	}
}

// page is how many rows the keys for pages go.
func (m *model) page() int { return max(m.layout().table.height-1, 1) }

// click selects the row that is clicked, and focuses one that is selected: so
// does a double click.
func (m *model) click(mouse tea.Mouse) tea.Cmd {
	if mouse.Button != tea.MouseLeft {
		return nil
	}
	if m.help {
		m.help = false
		return nil
	}
	m.notice = notice{}
	t := m.layout().table
	at := m.top + mouse.Y - t.y
	if mouse.Y < t.y || mouse.Y >= t.y+t.height || mouse.X >= t.width || at >= len(m.lines) || m.lines[at].row == nil {
		return nil
	}
	if at == m.cursor {
		return m.bring()
	}
	m.pinned = true
	m.choose(at, 1)
	return nil
}

func (m *model) wheel(mouse tea.Mouse) {
	const rows = 3
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -rows, tea.MouseWheelDown: rows}[mouse.Button]
	switch {
	case by == 0:
	case m.help:
		m.helpTop = max(min(m.helpTop+by, len(m.helpLines())-m.layout().body.height), 0)
	default:
		m.move(by)
	}
}
