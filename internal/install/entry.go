package install

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"tongs-agents/internal/harness"
	"tongs-agents/internal/shell"
)

// hookName is the base name of our hook's program, by which its entries are
// recognised.
const hookName = "tongs-agents-hook"

// never fails a command line whatever our program does: a fault of the Go
// runtime at its start has status 2, which to several agents means to block.
const never = " || :"

// handler returns the entry of an event.
func (a *agent) handler(e event, hook string) object {
	var h object
	if a.form.typed {
		h = append(h, pair{"type", value{"command"}})
	}
	h = append(h, pair{a.form.commandKey(), value{a.command(e, hook)}})
	if a.form.args {
		h = append(h, pair{"args", array{}})
	}
	timeout := a.form.timeout
	if e.timeout > 0 {
		timeout = e.timeout
	}
	return append(h, pair{a.form.timeoutKey, value{timeout}})
}

// command returns the command of an event. It is the same in every release: to
// Codex another one is a hook that the user has not approved.
func (a *agent) command(e event, hook string) string {
	if a.form.args {
		return hook
	}
	command := shell.Quote(hook)
	if a.form.alias {
		command += " " + a.alias(e)
	}
	return command + " --agent " + a.id + never
}

// alias returns our name for an event.
func (a *agent) alias(e event) string { return a.harness().Hooks.Event(e.name).Event.String() }

// runs returns the path of our hook as a handler names it. It is not ok if the
// handler runs something else, or our hook for a purpose of the user's own.
func (a *agent) runs(e event, handler *hujson.Object) (hook string, ok bool) {
	words, ok := commandLine(handler)
	if !ok || len(words) == 0 || path.Base(words[0]) != hookName {
		return "", false
	}
	hook = words[0]
	for i := 1; i < len(words); i++ {
		id, isAgent := strings.CutPrefix(words[i], "--agent=")
		if words[i] == "--agent" && i+1 < len(words) {
			i++
			id, isAgent = words[i], true
		}
		switch {
		case isAgent:
			if id != a.id {
				return "", false
			}
		case strings.HasPrefix(words[i], "-"): // of another release
		case harness.EventByAlias(words[i]).String() != a.alias(e):
			return "", false
		}
	}
	return hook, true
}

// commandLine returns the words of a handler's command.
func commandLine(handler *hujson.Object) ([]string, bool) {
	var command, args *hujson.Value
	for i := range handler.Members {
		m := &handler.Members[i]
		switch literal(m.Name) {
		case "command", "bash":
			command = &m.Value
		case "args":
			args = &m.Value
		}
	}
	if command == nil || !isText(*command) {
		return nil, false
	}
	if args == nil {
		text := strings.TrimSpace(literal(*command))
		for _, end := range []string{"|| :", "||:", "|| true"} {
			text = strings.TrimSuffix(text, end)
		}
		return shell.Split(text)
	}
	words := []string{literal(*command)}
	list, ok := args.Value.(*hujson.Array)
	if !ok {
		return nil, false
	}
	for _, arg := range list.Elements {
		words = append(words, literal(arg))
	}
	return words, true
}

// otherwise are the members by which an agent would run a handler in another
// way than we need: not always, later, or by another program.
var otherwise = []string{"args", "async", "asyncRewake", "bash", "command", "enabled", "exec", "if", "matcher", "shell"}

// equals reports whether a handler says what ours does. It may say more, as
// what the agent shows while it runs.
func (want object) equals(handler *hujson.Object) bool {
	for _, p := range want {
		m, err := member(handler, p.name)
		if err != nil || m == nil || !sameJSON(m.Value, p.value) {
			return false
		}
	}
	return !slices.ContainsFunc(handler.Members, func(m hujson.ObjectMember) bool {
		name := literal(m.Name)
		wanted := slices.ContainsFunc(want, func(p pair) bool { return p.name == name })
		return !wanted && slices.Contains(otherwise, name)
	})
}

// right reports whether an entry is as it should be. Its path may be another
// one to the same program, if an update does not change it: a hook that the
// user has approved stays approved.
func (a *agent) right(en entry, hook string) bool {
	handler := en.handler.Value.(*hujson.Object)
	if a.handler(en.event, hook).equals(handler) {
		return true
	}
	return path.IsAbs(en.hook) && sameFile(en.hook, hook) && executable(en.hook) == nil && releaseDir(en.hook) == "" &&
		a.handler(en.event, en.hook).equals(handler)
}

func sameJSON(got hujson.Value, want node) bool {
	got = got.Clone()
	got.Minimize()
	var a, b any
	if json.Unmarshal(got.Pack(), &a) != nil || json.Unmarshal([]byte(want.render(plain, "")), &b) != nil {
		return false
	}
	return reflect.DeepEqual(a, b)
}
