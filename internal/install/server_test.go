package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// withServer installs hooks and MCP server.
func withServer(env Env, opts Options) (Report, error) {
	opts.Server = true
	return Install(env, opts)
}

// serverAgents are those that get our MCP server.
func serverAgents() []*agent {
	var list []*agent
	for i := range table {
		if table[i].mcp != nil {
			list = append(list, &table[i])
		}
	}
	return list
}

// serverFile is the file of an agent that gets our MCP server, below the home.
func (h *home) serverFile(a *agent) string {
	return strings.TrimPrefix(a.path(a.meantForServer(h.env), h.env), h.dir+"/")
}

// awkwardServers are settings of every kind for an agent: those for hooks, with
// servers in place of hooks, or tables of TOML.
func awkwardServers(a *agent) (list []struct{ name, text, bare string }) {
	if a.mcp.toml {
		return awkwardTOML
	}
	for _, test := range awkward {
		fill := func(text string) string {
			line := "    {\"x\": \"" + strings.Repeat("0123456789", 100) + "\"},\n"
			return strings.NewReplacer(`"hooks"`, quote(a.mcp.key), "EVENT", "other", "OTHER", `{"command": "x"}`,
				"LINES", strings.Repeat(line, 20)).Replace(text)
		}
		if test.name == "event empty" { // which to us is a server
			test.bare = ""
		}
		list = append(list, struct{ name, text, bare string }{test.name, fill(test.text), fill(test.bare)})
	}
	return list
}

var awkwardTOML = []struct{ name, text, bare string }{
	{name: "empty"},
	{name: "blank", text: "\n \n"},
	{name: "one line", text: "model = \"o\"\n"},
	{name: "no final line end", text: "model = \"o\"", bare: "model = \"o\"\n"},
	{name: "many final line ends", text: "model = \"o\"\n\n\n"},
	{name: "CRLF", text: "model = \"o\"\r\n\r\n[features]\r\nhooks = true\r\n"},
	{name: "byte order mark", text: "\xef\xbb\xbfmodel = \"o\"\n"},
	{name: "comments", text: "# mine\nmodel = \"o\" # the best\n\n[features] # some\n# none\n\n# end\n"},
	{name: "a comment at the end", text: "model = \"o\"\n# end", bare: "model = \"o\"\n# end\n"},
	{name: "comment without an end", text: "# end", bare: "# end\n"},
	{name: "another server", text: "[mcp_servers.other]\ncommand = \"x\"\nargs = [\n  \"y\",\n]\n\n[mcp_servers.other.env]\nA = \"1\"\n"},
	{name: "servers as a table", text: "[mcp_servers]\nother = { command = \"x\" }\n"},
	{name: "servers as dotted keys", text: "mcp_servers.other.command = \"x\"\n"},
	{name: "an empty table of servers", text: "[mcp_servers]\n"},
	{name: "a table within servers first", text: "[mcp_servers.other.env]\nA = \"1\"\n\n[mcp_servers.other]\ncommand = \"x\"\n"},
	{name: "a name like ours", text: "[mcp_servers.tongs-agents-2]\ncommand = \"x\"\n\n[other.mcp_servers.tongs-agents]\ncommand = \"tongs-agents\"\n"},
	{name: "ours in a comment and in a text", text: "#[mcp_servers.tongs-agents]\na = '''\n[mcp_servers.tongs-agents]\ncommand = \"x\"\n'''\n"},
	{name: "arrays of tables", text: "[[skills.config]]\npath = \"/a\"\n\n[[skills.config]]\npath = \"/b\"\n\n[projects.\"/src/a b\"]\ntrust_level = \"trusted\"\n"},
	{name: "odd layout", text: "  model=\"o\"\n\t[ a . b ]\n\tc = 1\n\n\n   # x\n"},
	{name: "values of all kinds", text: "a = 1979-05-27T07:32:00-08:00\nb = 1979-05-27\nc = [1.5, inf]\nd = {x = 1, y = [1, 2]}\ne = 0xff\nf = \"\\u00e4\"\ng = \"\"\"\nx\n\"\"\"\n"},
}

// Install and uninstall leave a file as it was, and in between it has all that
// it had, and our server.
func TestServerRoundTrip(t *testing.T) {
	for _, a := range serverAgents() {
		for _, test := range awkwardServers(a) {
			t.Run(a.id+"/"+test.name, func(t *testing.T) {
				h := newHome(t)
				file := h.serverFile(a)
				h.write(file, test.text)
				if err := os.Chmod(h.path(file), 0o600); err != nil {
					t.Fatal(err)
				}
				if got, want := h.run(withServer, a.id), file+" added\n"; !strings.HasSuffix(got, want) {
					t.Fatalf("install: got %q, want %q", got, want)
				}
				installed := h.read(file)
				checkServer(t, a, test.text, installed, h.path("bin/tongs-agents"))
				for range 9 {
					if got, want := h.run(withServer, a.id), file+" unchanged\n"; !strings.HasSuffix(got, want) || h.read(file) != installed {
						t.Fatalf("again: got %q, want %q\n%s", got, want, h.read(file))
					}
				}
				if got := h.run(Install, a.id); strings.Contains(got, "added") || h.read(file) != installed {
					t.Errorf("hooks alone: %q", got)
				}
				if got, want := h.run(Uninstall, a.id), file+" removed\n"; !strings.Contains(got, want) {
					t.Errorf("uninstall: got %q, want %q", got, want)
				}
				if got := h.read(file); got != test.text {
					t.Errorf("after uninstall:\n%q\nwant:\n%q", got, test.text)
				}
				if info, err := os.Stat(h.path(file)); err != nil || info.Mode() != 0o600 {
					t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
				}
				checkClean(t, h, file)

				// Without what was remembered.
				h.run(withServer, a.id)
				if got := h.read(file); got != installed {
					t.Errorf("the second time:\n%s\nwant:\n%s", got, installed)
				}
				if err := os.RemoveAll(h.env.State); err != nil {
					t.Fatal(err)
				}
				h.run(Uninstall, a.id)
				bare := test.text
				if test.bare != "" {
					bare = test.bare
				}
				if got, err := os.ReadFile(h.path(file)); string(got) != bare && !(os.IsNotExist(err) && a.empty([]byte(bare))) {
					t.Errorf("after uninstall without the record:\n%q\nwant:\n%q", got, bare)
				}
			})
		}
	}
}

// checkServer reports what is missing, and what of before has changed.
func checkServer(t *testing.T, a *agent, before, after, program string) {
	t.Helper()
	was, is := meaning(t, a, before), meaning(t, a, after)
	key := a.mcp.key
	var want any
	switch a.id {
	case "claude":
		want = map[string]any{"type": "stdio", "command": program, "args": []any{"mcp"}, "env": map[string]any{}}
	case "codex":
		key = "mcp_servers"
		want = map[string]any{"command": program, "args": []any{"mcp"}, "env_vars": []any{"TONGS_AGENTS_STATE_DIR", "XDG_STATE_HOME"}}
	case "gemini":
		want = map[string]any{"command": program, "args": []any{"mcp"}}
	case "opencode":
		want = map[string]any{"type": "local", "command": []any{program, "mcp"}, "enabled": true}
	}
	list, _ := is[key].(map[string]any)
	if got := list["tongs-agents"]; !reflect.DeepEqual(got, want) {
		t.Errorf("the server is %v, want %v", got, want)
	}
	delete(list, "tongs-agents")
	if len(list) == 0 && was[key] == nil {
		delete(is, key)
	}
	if a.hasHooks(a.mcp.file) {
		delete(was, "hooks")
		delete(is, "hooks")
	}
	if len(was)+len(is) > 0 && !reflect.DeepEqual(is, was) {
		t.Errorf("the rest is %v, was %v", is, was)
	}
	if !blank([]byte(before)) && !isSubsequence(before, after) {
		t.Errorf("more than inserted:\n%s\nwas:\n%s", after, before)
	}
	if strings.Contains(before, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
		t.Errorf("line ends are mixed:\n%q", after)
	}
}

// meaning reads settings.
func meaning(t *testing.T, a *agent, text string) map[string]any {
	t.Helper()
	if !a.mcp.toml {
		return decode(t, text)
	}
	var m map[string]any
	if err := toml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return m
}

// A file that was not there is gone again, and the directories with it.
func TestServerAbsent(t *testing.T) {
	for _, a := range serverAgents() {
		h := newHome(t)
		before := tree(t, h.dir)
		h.run(withServer, a.id)
		checkServer(t, a, "", h.read(h.serverFile(a)), h.path("bin/tongs-agents"))
		in := h.inspect(a.id).Server
		if in == nil || !in.Entered || in.Error != "" || in.Program.Error != "" || in.Program.Other {
			t.Errorf("%s: %+v", a.id, in)
		}
		h.run(Uninstall, a.id)
		if err := os.RemoveAll(h.env.State); err != nil {
			t.Fatal(err)
		}
		if got := tree(t, h.dir); got != before {
			t.Errorf("%s left:\n%s\nwant:\n%s", a.id, got, before)
		}
	}
}

// Texts that are left alone, and why.
func TestServerLeftAlone(t *testing.T) {
	for _, test := range []struct {
		agent, text, want string
		failed            bool
	}{
		{"claude", "{\n\"mcpServers\": {\"tongs-agents\": {\"command\": \"npx\", \"args\": [\"-y\", \"a b\"]}}}",
			"line 2: another MCP server has the name tongs-agents, which runs npx -y 'a b'", false},
		{"claude", `{"mcpServers": {"tongs-agents": {"command": "/x/tongs-agents", "args": ["status"]}}}`,
			"line 1: another MCP server has the name tongs-agents, which runs /x/tongs-agents status", false},
		{"claude", `{"mcpServers": {"tongs-agents": {"type": "http", "url": "https://example.org"}}}`,
			"line 1: another MCP server has the name tongs-agents, which runs no program", false},
		{"claude", `{"mcpServers": {"tongs-agents": 7}}`, "line 1: another MCP server has the name tongs-agents, which runs no program", false},
		{"claude", "{\n\"mcpServers\": []}", `line 2: "mcpServers" is no object, but an array`, true},
		{"claude", "{\n\n\"a\" 1}", "line 3, column 5: invalid character", true},
		{"claude", `{"mcpServers": {"tongs-agents": {}, "tongs-agents": {}}}`, `in "mcpServers", "tongs-agents" is there twice`, true},
		{"gemini", `{"mcpServers": {"tongs-agents": {"command": "sh", "args": ["-c", "tongs-agents mcp"]}}}`,
			"which runs sh -c 'tongs-agents mcp'", false},
		{"opencode", `{"mcp": {"tongs-agents": {"type": "local", "command": ["x", "mcp"]}}}`, "which runs x mcp", false},
		{"codex", "[mcp_servers.tongs-agents]\ncommand = \"x\"\nargs = [\"mcp\"]\n", "which runs x mcp", false},
		{"codex", "[mcp_servers.tongs-agents]\nurl = \"https://example.org\"\n", "which runs no program", false},
		{"codex", "a = 1\nb = \n", "line 2: ", true},
		{"codex", "mcp_servers = 1\n", "line 1: mcp_servers is all in one value", true},
		{"codex", "[[mcp_servers]]\na = 1\n", "a table [mcp_servers.tongs-agents] cannot be added", true},
		{"codex", "mcp_servers = { other = { command = \"x\" } }\n", "line 1: mcp_servers is all in one value, which no table can be added to", true},
		{"codex", "[mcp_servers]\ntongs-agents = { command = \"/gone/tongs-agents\", args = [\"mcp\"] }\n", "where mcp_servers.tongs-agents says its command was not found", true},
	} {
		h := newHome(t)
		a, _ := selected([]string{test.agent})
		file := h.serverFile(a[0])
		h.write(file, test.text)
		report, err := withServer(h.env, Options{Agents: []string{test.agent}})
		if err != nil {
			t.Fatal(err)
		}
		files := report.Agents[0].Files
		got := files[len(files)-1]
		if got.State != LeftAlone || !strings.Contains(got.Reason, test.want) || got.Failed != test.failed || !got.Server {
			t.Errorf("%s: %+v, want %q, failed: %v", test.text, got, test.want, test.failed)
		}
		if files[0].State != Added && test.agent != "gemini" {
			t.Errorf("%s: no hooks: %+v", test.text, files[0])
		}
		in := h.inspect(test.agent).Server
		if in.Entered != strings.Contains(test.text, "/gone/") || !in.Entered && (in.Other == nil) != test.failed && in.Error == "" {
			t.Errorf("%s: %+v", test.text, in)
		}
		h.run(Uninstall, test.agent)
		if test.failed && strings.Contains(test.text, "/gone/") {
			continue // which uninstall cannot take out either
		}
		if got := h.read(file); got != test.text {
			t.Errorf("changed:\n%s\nwant:\n%s", got, test.text)
		}
	}
}

// After an update the program may be elsewhere. What the user has added to the
// entry stays.
func TestServerUpgrade(t *testing.T) {
	for _, test := range []struct{ agent, text, want string }{
		{"claude", `{"mcpServers": {"tongs-agents": {"type": "stdio", "command": "/gone/tongs-agents", "args": ["mcp"], "env": {"A": "1"}}}}`, ""},
		{"claude", `{"mcpServers": {"tongs-agents": {"command": "tongs-agents", "args": ["mcp", "--new"], /* x */ }}}`, ""},
		{"gemini", `{"hooks": {}, "mcpServers": {"tongs-agents": {"trust": true, "command": "/gone/tongs-agents", "args": ["mcp"]}}}`, ""},
		{"opencode", "{\"mcp\": {\"tongs-agents\": {\n  \"enabled\": false, // for now\n  \"type\": \"local\", \"command\": [ \"/gone/tongs-agents\", \"mcp\" ]}}}", ""},
		{"codex", "a = 1\n[mcp_servers.\"tongs-agents\"] # mine\nargs = [\"mcp\"]\ncommand = \"/gone/tongs-agents\" # x\nenabled = false\n\n[b]\ncommand = \"/gone/tongs-agents\"\n",
			"a = 1\n[mcp_servers.\"tongs-agents\"] # mine\nargs = [\"mcp\"]\ncommand = \"@\" # x\nenabled = false\n\n[b]\ncommand = \"/gone/tongs-agents\"\n"},
		{"codex", "[mcp_servers.tongs-agents.tools.agents_status]\napproval_mode = \"approve\"\n[mcp_servers.tongs-agents]\ncommand = '/gone/tongs-agents'\nargs = [\"mcp\"]\n",
			"[mcp_servers.tongs-agents.tools.agents_status]\napproval_mode = \"approve\"\n[mcp_servers.tongs-agents]\ncommand = \"@\"\nargs = [\"mcp\"]\n"},
	} {
		h := newHome(t)
		a, _ := selected([]string{test.agent})
		file := h.serverFile(a[0])
		h.write(file, test.text)
		if got, want := h.run(withServer, test.agent), file+" updated\n"; !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		program := h.path("bin/tongs-agents")
		want := strings.ReplaceAll(test.want, "@", program)
		if test.want == "" {
			want = strings.NewReplacer("/gone/tongs-agents", program, `"tongs-agents", "args"`, quote(program)+`, "args"`).Replace(test.text)
		}
		got := h.read(file)
		if test.agent == "gemini" { // which has hooks in it
			got, want = fmt.Sprint(decode(t, got)["mcpServers"]), fmt.Sprint(decode(t, want)["mcpServers"])
		}
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// A path that leads to the same program stays, unless an update would change it.
func TestServerOtherPath(t *testing.T) {
	h := newHome(t)
	if err := os.Symlink("bin/tongs-agents", h.path("tongs-agents")); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"mcpServers": {"tongs-agents": {"command": %q, "args": ["mcp"]}}}`, h.path("tongs-agents"))
	h.write(".claude.json", text)
	if got := h.run(withServer, "claude"); !strings.HasSuffix(got, ".claude.json unchanged\n") || h.read(".claude.json") != text {
		t.Errorf("%s%s", got, h.read(".claude.json"))
	}
}

// What Codex has noted of our server goes with it: a table that has no command
// keeps Codex from starting.
func TestServerTablesBelow(t *testing.T) {
	h := newHome(t)
	h.write(".codex/config.toml", "a = 1\n")
	h.run(withServer, "codex")
	h.write(".codex/config.toml", h.read(".codex/config.toml")+"\n[mcp_servers.tongs-agents.tools.agents_status]\napproval_mode = \"approve\"\n\n# mine\n[b]\nc = 1\n")
	h.run(Uninstall, "codex")
	if got, want := h.read(".codex/config.toml"), "a = 1\n\n# mine\n[b]\nc = 1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Uninstall says what it cannot take out.
func TestServerInline(t *testing.T) {
	h := newHome(t)
	text := fmt.Sprintf("[mcp_servers]\ntongs-agents = { command = %q, args = [\"mcp\"] }\n", h.path("bin/tongs-agents"))
	h.write(".codex/config.toml", text)
	if got := h.run(withServer, "codex"); !strings.HasSuffix(got, "config.toml unchanged\n") {
		t.Error(got)
	}
	want := ".codex/config.toml left alone: mcp_servers.tongs-agents is written in a way that is not ours: take it out by hand\n"
	if got := h.run(Uninstall, "codex"); !strings.Contains(got, want) || h.read(".codex/config.toml") != text {
		t.Errorf("got %q, want %q", got, want)
	}
}

// OpenCode reads two files: ours goes to the one that is there.
func TestServerOpenCodeFile(t *testing.T) {
	h := newHome(t)
	h.write(".config/opencode/opencode.jsonc", "{\n  // mine\n}\n")
	h.run(withServer, "opencode")
	if _, err := os.Lstat(h.path(".config/opencode/opencode.json")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if in := h.inspect("opencode").Server; !in.Entered || filepath.Base(in.Path) != "opencode.jsonc" {
		t.Errorf("%+v", in)
	}
	h.write(".config/opencode/opencode.json", "{}") // since then
	h.run(Uninstall, "opencode")
	if got := h.read(".config/opencode/opencode.jsonc"); got != "{\n  // mine\n}\n" {
		t.Error(got)
	}
}

// A read-only file is left alone, and what to enter is said; a link stays one.
func TestServerTargets(t *testing.T) {
	h := newHome(t)
	h.write("dotfiles/claude.json", "{}\n")
	if err := os.Symlink("dotfiles/claude.json", h.path(".claude.json")); err != nil {
		t.Fatal(err)
	}
	h.write(".codex/config.toml", "")
	if err := os.Chmod(h.path(".codex/config.toml"), 0o444); err != nil {
		t.Fatal(err)
	}
	report, err := withServer(h.env, Options{Agents: []string{"claude", "codex"}})
	if err != nil {
		t.Fatal(err)
	}
	claude, codex := report.Agents[0].Files[1], report.Agents[1].Files[1]
	if claude.State != Added || claude.Target != h.path("dotfiles/claude.json") {
		t.Errorf("%+v", claude)
	}
	if link, err := os.Readlink(h.path(".claude.json")); link != "dotfiles/claude.json" {
		t.Error(link, err)
	}
	want := fmt.Sprintf("[mcp_servers.tongs-agents]\ncommand = %q\nargs = [\"mcp\"]\nenv_vars = [\"TONGS_AGENTS_STATE_DIR\", \"XDG_STATE_HOME\"]\n", h.path("bin/tongs-agents"))
	if codex.State != LeftAlone || codex.Reason != "read-only" || codex.Snippet != want {
		t.Errorf("%+v", codex)
	}
}

// While Claude Code changes its file, it has a directory beside it.
func TestServerAgentLock(t *testing.T) {
	h := newHome(t)
	h.write(".claude.json", "{}")
	lock := h.path(".claude.json.lock")
	mkdir := func() {
		if err := os.Mkdir(lock, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mkdir()
	done := make(chan string)
	go func() { done <- h.run(withServer, "claude") }()
	select {
	case got := <-done:
		t.Errorf("did not wait: %s", got)
	case <-time.After(200 * time.Millisecond):
		h.write(".claude.json", "{\n  \"numStartups\": 1\n}\n")
		if err := os.Remove(lock); err != nil {
			t.Error(err)
		}
		<-done
	}
	if got := h.read(".claude.json"); !strings.Contains(got, "numStartups") || !strings.Contains(got, "tongs-agents") {
		t.Error(got)
	}
	if _, err := os.Lstat(lock); !os.IsNotExist(err) {
		t.Errorf("the lock is left: %v", err)
	}

	// One that was killed has left it.
	mkdir()
	old := time.Now().Add(-2 * staleLock)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	if got := h.run(Uninstall, "claude"); !strings.Contains(got, ".claude.json removed\n") {
		t.Error(got)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("another's lock is gone: %v", err)
	}
}

// Without the program by its name, hooks are entered all the same.
func TestServerNoProgram(t *testing.T) {
	h := newHome(t)
	if err := os.Rename(h.path("bin/tongs-agents"), h.path("bin/ta")); err != nil {
		t.Fatal(err)
	}
	report, err := withServer(h.env, Options{Agents: []string{"claude"}})
	if err != nil || len(report.Warnings) != 1 || !strings.HasPrefix(report.Warnings[0], "no MCP server is entered: tongs-agents was not found") || len(report.Agents[0].Files) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
