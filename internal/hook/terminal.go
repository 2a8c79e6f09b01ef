package hook

import (
	"strings"
	"unicode/utf8"

	"tongs-agents/fsstore"
)

// terminalVars are the variables by which a terminal or multiplexer says which
// of its windows and panes a process runs in, and the ones that lead to the
// desktop session around it. A name that ends in * stands for all with that
// beginning.
var terminalVars = [...]string{
	"TMUX", "TMUX_PANE",
	"ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID",
	"KITTY_WINDOW_ID", "KITTY_LISTEN_ON",
	"WEZTERM_PANE", "WEZTERM_UNIX_SOCKET",
	"KONSOLE_DBUS_*",
	"STY", "WINDOW",
	"GHOSTTY_*",
	"TERM_PROGRAM", "SSH_TTY", "WAYLAND_DISPLAY", "DISPLAY", "WINDOWID",
}

// terminals name the terminal by the variable that only it sets, multiplexers
// first: the variables of a terminal are inherited into the panes of a
// multiplexer, where they name whichever terminal started its server.
var terminals = [...]struct{ variable, name string }{
	{"TMUX", "tmux"},
	{"ZELLIJ_SESSION_NAME", "zellij"},
	{"STY", "screen"},
	{"KITTY_WINDOW_ID", "kitty"},
	{"WEZTERM_PANE", "wezterm"},
	{"KONSOLE_DBUS_SESSION", "konsole"},
	{"GHOSTTY_RESOURCES_DIR", "ghostty"},
}

// terminalEnv returns the variables of the environment that lead to the
// terminal. What a record could not hold is left out.
func terminalEnv() []fsstore.Var {
	var env []fsstore.Var
	eachVariable(func(name, value string) {
		if value == "" || !isTerminalVar(name) || len(env) == fsstore.MaxEnv-2 { // room for the launch
			return
		}
		for _, v := range env {
			if v.Name == name { // the first one counts, as for getenv(3)
				return
			}
		}
		if len(name) <= fsstore.MaxEnvName && len(value) <= fsstore.MaxEnvValue && utf8.ValidString(name) && utf8.ValidString(value) {
			env = append(env, fsstore.Var{Name: name, Value: value})
		}
	})
	return env
}

func isTerminalVar(name string) bool {
	for _, v := range terminalVars {
		if prefix, ok := strings.CutSuffix(v, "*"); name == v || ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// terminalName names the terminal that the variables lead to, "" if none does.
func terminalName(env []fsstore.Var) string {
	program := ""
	for _, t := range terminals {
		for _, v := range env {
			if v.Name == t.variable {
				return t.name
			}
			if v.Name == "TERM_PROGRAM" {
				program = cut(strings.ToLower(v.Value), fsstore.MaxTerminal)
			}
		}
	}
	return program
}
