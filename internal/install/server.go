package install

import (
	"fmt"
	"path"
	"slices"

	"github.com/tailscale/hujson"

	"tongs-agents/internal/shell"
)

// serverName is the name of our MCP server in the settings of agents, and
// programName the program that it runs, with the argument serverArg. By these
// three an entry is recognised as ours.
const (
	serverName  = "tongs-agents"
	programName = "tongs-agents"
	serverArg   = "mcp"
)

// mcp says where and how an agent's MCP servers are entered.
type mcp struct {
	file file
	key  string // of the object that has the servers by their names
	toml bool   // it is a table of a TOML file

	kind    string // the value of "type", if an entry has one
	list    bool   // "command" is a list, arguments and all
	env     bool   // it has "env"
	enabled bool   // it has "enabled"
}

// errTaken is the error for a server of our name that is not ours.
type errTaken struct {
	line    int // 0: not known
	command []string
}

func (e errTaken) Error() string {
	what := "which runs no program"
	if len(e.command) > 0 {
		what = "which runs " + shell.Command(e.command)
	}
	text := fmt.Sprintf("another MCP server has the name %s, %s", serverName, what)
	if e.line > 0 {
		return fmt.Sprintf("line %d: %s", e.line, text)
	}
	return text
}

// runsServer reports whether a command is that of our server, wherever its
// program is.
func runsServer(command []string) bool {
	return len(command) > 1 && path.Base(command[0]) == programName && command[1] == serverArg
}

// rightProgram reports whether an entry's path to our program may stay.
func rightProgram(entered, program string) bool {
	return entered == program ||
		path.IsAbs(entered) && sameFile(entered, program) && executable(entered) == nil && releaseDir(entered) == ""
}

// entry returns our server's entry.
func (m *mcp) entry(program string) object {
	var o object
	if m.kind != "" {
		o = append(o, pair{"type", value{m.kind}})
	}
	if m.list {
		o = append(o, pair{"command", array{value{program}, value{serverArg}}})
	} else {
		o = append(o, pair{"command", value{program}}, pair{"args", array{value{serverArg}}})
	}
	if m.env {
		o = append(o, pair{"env", object{}})
	}
	if m.enabled {
		o = append(o, pair{"enabled", value{true}})
	}
	return o
}

// document returns settings that hold nothing else than our server.
func (m *mcp) document(program string) string {
	if m.toml {
		return tomlBlock(program, "\n")
	}
	return object{{m.key, object{{serverName, m.entry(program)}}}}.render(plain, "") + "\n"
}

// servers are the MCP servers of settings in JSON.
type servers struct {
	settings
	list  *hujson.ObjectMember // nil: there are none
	index int                  // of ours in the list, or of another one of its name
	entry *hujson.ObjectMember // nil: there is none of our name
}

// read finds the servers in a text that is not blank.
func (m *mcp) read(text []byte) (*servers, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	s := &servers{settings: settings{text: text, root: root}}
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, s.odd(root, "the settings are no object, but %s", kindName(*root))
	}
	if s.list, err = member(top, m.key); err != nil || s.list == nil {
		return s, err
	}
	list, ok := s.list.Value.Value.(*hujson.Object)
	if !ok {
		return nil, s.odd(&s.list.Value, "%q is no object, but %s", m.key, kindName(s.list.Value))
	}
	if s.entry, err = member(list, serverName); err != nil {
		return nil, s.errorAt(&s.list.Value, "in %q, %w", m.key, err)
	}
	s.index = slices.IndexFunc(list.Members, func(m hujson.ObjectMember) bool { return literal(m.Name) == serverName })
	return s, nil
}

// command returns what the server of our name runs.
func (s *servers) command() []string {
	o, ok := s.entry.Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	var words []string
	for _, name := range [...]string{"command", "args"} {
		m, err := member(o, name)
		if err != nil || m == nil {
			continue
		}
		values := []hujson.Value{m.Value}
		if list, ok := m.Value.Value.(*hujson.Array); ok {
			values = list.Elements
		}
		for _, v := range values {
			words = append(words, literal(v))
		}
	}
	return words
}

// taken is the error for a server of our name that runs something else.
func (s *servers) taken() error {
	return errTaken{s.line(&s.entry.Value), s.command()}
}

// enter returns the text with our server. Of one that is there, only the path
// of the program changes: the rest is the user's to say.
func (m *mcp) enter(text []byte, program string) ([]byte, error) {
	if m.toml {
		return tomlEnter(text, program)
	}
	if blank(text) {
		return append(markOf(text), m.document(program)...), nil
	}
	s, err := m.read(text)
	if err != nil {
		return nil, err
	}
	st := styleOf(text, s.root)
	ours := pair{serverName, m.entry(program)}
	switch {
	case s.list == nil:
		return containerOf(s.root).add(text, st, pair{m.key, object{ours}}), nil
	case s.entry == nil:
		return containerOf(&s.list.Value).add(text, st, ours), nil
	case !runsServer(s.command()):
		return nil, s.taken()
	case rightProgram(s.command()[0], program):
		return text, nil
	}
	command, _ := member(s.entry.Value.Value.(*hujson.Object), "command")
	old := command.Value
	if list, ok := old.Value.(*hujson.Array); ok {
		old = list.Elements[0]
	}
	return s.replace(&old, st, value{program}), nil
}

// leave returns the text without our server, and without the list of servers if
// that then would be empty.
func (m *mcp) leave(text []byte) ([]byte, error) {
	if m.toml {
		return tomlLeave(text)
	}
	if blank(text) {
		return text, nil
	}
	s, err := m.read(text)
	if isOdd(err) {
		return text, nil
	}
	if err != nil {
		return nil, err
	}
	if s.entry == nil || !runsServer(s.command()) {
		return text, nil
	}
	list := containerOf(&s.list.Value)
	if len(list.items) > 1 || !list.bare(text) {
		return list.remove(text, s.index), nil
	}
	top := s.root.Value.(*hujson.Object)
	i := slices.IndexFunc(top.Members, func(member hujson.ObjectMember) bool { return literal(member.Name) == m.key })
	return containerOf(s.root).remove(text, i), nil
}

// at returns the command of the server of our name, nil if there is none.
func (m *mcp) at(text []byte) ([]string, error) {
	switch {
	case blank(text):
		return nil, nil
	case m.toml:
		return tomlServer(text)
	}
	s, err := m.read(text)
	if err != nil || s.entry == nil {
		return nil, err
	}
	return append([]string{}, s.command()...), nil
}
