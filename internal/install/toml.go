package install

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// The parser of TOML does not say where in a text a value is. So a table of ours
// is looked for by its lines, and an edit is believed only if the parser says
// that the text then means what it meant before, but for our server.

const tomlServers = "mcp_servers"

var (
	tomlHeader = regexp.MustCompile(`^[ \t]*\[`)

	// All servers in one value, which no table can be added to. Our parser would
	// not mind, that of Codex does.
	tomlInline = regexp.MustCompile(`^[ \t]*(?:mcp_servers|"mcp_servers"|'mcp_servers')[ \t]*=`)

	// That of our server, and of tables below it: Codex keeps there which tools
	// the user has approved.
	tomlOurs = regexp.MustCompile(`^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(?:tongs-agents|"tongs-agents"|'tongs-agents')[ \t]*([.\]])`)

	tomlCommand = regexp.MustCompile(`^[ \t]*command[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|'[^']*')`)
)

// Codex starts a server with a few variables of its own choice and those that
// the entry names. These say where the store is.
const stateVariables = `["TONGS_AGENTS_STATE_DIR", "XDG_STATE_HOME"]`

// tomlBlock is our server as a table.
func tomlBlock(program, eol string) string {
	return "[" + tomlServers + "." + serverName + "]" + eol +
		"command = " + tomlString(program) + eol +
		"args = [" + tomlString(serverArg) + "]" + eol +
		"env_vars = " + stateVariables + eol
}

// tomlString writes a text that has no control characters.
func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// tomlRead returns what a text means, and our server in it: nil if there is
// none.
func tomlRead(text []byte) (all, server map[string]any, err error) {
	if err := toml.Unmarshal(text, &all); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return nil, nil, fmt.Errorf("line %d: %s", parse.Position.Line, parse.Message)
		}
		return nil, nil, err
	}
	list, _ := all[tomlServers].(map[string]any)
	if entry, ok := list[serverName]; ok {
		if server, ok = entry.(map[string]any); !ok {
			return all, map[string]any{}, nil
		}
	}
	return all, server, nil
}

// tomlRun returns what a server runs.
func tomlRun(server map[string]any) []string {
	command, ok := server["command"].(string)
	if !ok {
		return nil
	}
	words := []string{command}
	args, _ := server["args"].([]any)
	for _, arg := range args {
		words = append(words, fmt.Sprint(arg))
	}
	return words
}

func tomlServer(text []byte) ([]string, error) {
	_, server, err := tomlRead(text)
	if err != nil || server == nil {
		return nil, err
	}
	return append([]string{}, tomlRun(server)...), nil
}

// tomlEnter returns the text with our server.
func tomlEnter(text []byte, program string) ([]byte, error) {
	all, server, err := tomlRead(text)
	switch {
	case err != nil:
		return nil, err
	case server == nil:
		return tomlAdd(text, all, program)
	case !runsServer(tomlRun(server)):
		return nil, errTaken{command: tomlRun(server)}
	case rightProgram(tomlRun(server)[0], program):
		return text, nil
	}
	server["command"] = program
	lines := tomlLines(text)
	for i := range lines {
		table := lines.table(i, false)
		if table == nil {
			continue
		}
		for j := table.first + 1; j < table.end; j++ {
			m := tomlCommand.FindSubmatchIndex(lines[j].text)
			if m == nil {
				continue
			}
			var e edit
			e.replace(lines[j].start+m[2], lines[j].start+m[3], tomlString(program))
			if next := e.apply(text); tomlMeans(next, all) {
				return next, nil
			}
		}
	}
	return nil, fmt.Errorf("where %s.%s says its command was not found", tomlServers, serverName)
}

// tomlAdd returns the text with our server behind all else.
func tomlAdd(text []byte, all map[string]any, program string) ([]byte, error) {
	eol := "\n"
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		eol = "\r\n"
	}
	next := bytes.Clone(text)
	if !blank(text) {
		if !bytes.HasSuffix(text, []byte("\n")) {
			next = append(next, eol...)
		}
		next = append(next, eol...)
	}
	next = append(next, tomlBlock(program, eol)...)
	if all == nil {
		all = map[string]any{}
	}
	if i := slices.IndexFunc(tomlLines(text), func(l textLine) bool { return tomlInline.Match(l.text) }); i >= 0 {
		return nil, fmt.Errorf("line %d: %s is all in one value, which no table can be added to", i+1, tomlServers)
	}
	list, isTable := all[tomlServers].(map[string]any)
	if !isTable {
		list = map[string]any{}
		all[tomlServers] = list
	}
	_, server, err := tomlRead([]byte(tomlBlock(program, eol)))
	if err != nil {
		return nil, err
	}
	list[serverName] = server
	if !tomlMeans(next, all) {
		return nil, fmt.Errorf("a table [%s.%s] cannot be added", tomlServers, serverName)
	}
	return next, nil
}

// tomlLeave returns the text without our server.
func tomlLeave(text []byte) ([]byte, error) {
	all, server, err := tomlRead(text)
	if err != nil {
		return nil, err
	}
	if server == nil || !runsServer(tomlRun(server)) {
		return text, nil
	}
	var e edit
	lines := tomlLines(text)
	for i := range lines {
		if t := lines.table(i, true); t != nil {
			start := t.first
			if start > 1 && blank(lines[start-1].text) && !blank(text[:lines[start-1].start]) { // as it was added
				start--
			}
			e.delete(lines[start].start, lines.end(t.end-1))
		}
	}
	next := e.apply(text)
	list := all[tomlServers].(map[string]any)
	delete(list, serverName)
	if len(list) == 0 && !tomlMeans(next, all) {
		delete(all, tomlServers)
	}
	if !tomlMeans(next, all) {
		return nil, fmt.Errorf("%s.%s is written in a way that is not ours: take it out by hand", tomlServers, serverName)
	}
	return next, nil
}

// tomlMeans reports whether a text means that.
func tomlMeans(text []byte, want map[string]any) bool {
	got, _, err := tomlRead(text)
	return err == nil && (len(got) == 0 && len(want) == 0 || reflect.DeepEqual(got, want))
}

// textLine is a line, its end included.
type textLine struct {
	start int
	text  []byte
}

// textLines are all lines of a text.
type textLines []textLine

func tomlLines(text []byte) textLines {
	var lines textLines
	at := 0
	for line := range bytes.Lines(text) {
		lines = append(lines, textLine{at, line})
		at += len(line)
	}
	return lines
}

// end is where a line ends.
func (l textLines) end(i int) int { return l[i].start + len(l[i].text) }

// tomlTable is the lines of a table, from its header to its last value.
type tomlTable struct{ first, end int }

// table returns the table that begins at a line, if it is that of our server,
// or one below that, if those count.
func (l textLines) table(i int, below bool) *tomlTable {
	m := tomlOurs.FindSubmatch(l[i].text)
	if m == nil || string(m[1]) != "]" && !below || !l.isHeader(i) {
		return nil
	}
	t := &tomlTable{i, i + 1}
	for j := i + 1; j < len(l) && !l.isHeader(j); j++ {
		if s := bytes.TrimSpace(l[j].text); len(s) > 0 && s[0] != '#' {
			t.end = j + 1
		}
	}
	return t
}

// isHeader reports whether a line is the header of a table, and not in the
// midst of a text or an array: what is before it is complete.
func (l textLines) isHeader(i int) bool {
	if !tomlHeader.Match(l[i].text) {
		return false
	}
	var before []byte
	for _, line := range l[:i] {
		before = append(before, line.text...)
	}
	return toml.Unmarshal(before, new(map[string]any)) == nil
}
