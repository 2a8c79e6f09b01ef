package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// settings are the settings of an agent, as they are in a text.
type settings struct {
	agent *agent
	text  []byte
	root  *hujson.Value
	hooks *hujson.ObjectMember // nil: there are none
}

// entry is an entry of ours.
type entry struct {
	event   event
	hook    string // the path as it stands there
	handler *hujson.Value

	// path leads to it: the event in the hooks, the group or handler in the
	// event, the handler in the group.
	path []spot

	limited bool // its group is for some tools or reasons only
}

// spot is a place in a container.
type spot struct {
	in    *hujson.Value
	index int
}

// read finds the hooks in a text that is not blank.
func (a *agent) read(text []byte) (*settings, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	s := &settings{agent: a, text: text, root: root}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, s.odd(root, "the settings are no object, but %s", kindName(*root))
	}
	if s.hooks, err = member(object, "hooks"); err != nil || s.hooks == nil {
		return s, err
	}
	hooks, ok := s.hooks.Value.Value.(*hujson.Object)
	if !ok {
		return nil, s.odd(&s.hooks.Value, `"hooks" is no object, but %s`, kindName(s.hooks.Value))
	}
	for _, e := range a.events {
		switch m, err := member(hooks, e.name); {
		case err != nil:
			return nil, s.errorAt(&s.hooks.Value, `in "hooks", %w`, err)
		case m != nil && m.Value.Value.Kind() != '[':
			return nil, s.odd(&m.Value, "%q is no array, but %s", e.name, kindName(m.Value))
		}
	}
	return s, nil
}

// errOdd is the error for settings of a shape that no entry of ours is in.
type errOdd struct{ error }

func (s *settings) odd(v *hujson.Value, format string, args ...any) error {
	return errOdd{s.errorAt(v, format, args...)}
}

func isOdd(err error) bool { return errors.As(err, new(errOdd)) }

func (s *settings) errorAt(v *hujson.Value, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", s.line(v), fmt.Errorf(format, args...))
}

// line is the line that a value begins in.
func (s *settings) line(v *hujson.Value) int {
	return 1 + bytes.Count(s.text[:v.StartOffset], []byte("\n"))
}

// entries returns our entries of an event.
func (s *settings) entries(e event) []entry {
	index, list := s.event(e)
	if list == nil {
		return nil
	}
	var found []entry
	top := spot{&s.hooks.Value, index}
	for i := range list.Value.(*hujson.Array).Elements {
		element := &list.Value.(*hujson.Array).Elements[i]
		object, ok := element.Value.(*hujson.Object)
		if !ok {
			continue
		}
		path := []spot{top, {list, i}}
		if !s.agent.form.groups {
			if hook, ok := s.agent.runs(e, object); ok {
				found = append(found, entry{event: e, hook: hook, handler: element, path: path})
			}
			continue
		}
		m, err := member(object, "hooks")
		if err != nil || m == nil {
			continue
		}
		handlers, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		limited := limits(object)
		for j := range handlers.Elements {
			handler, ok := handlers.Elements[j].Value.(*hujson.Object)
			if !ok {
				continue
			}
			if hook, ok := s.agent.runs(e, handler); ok {
				found = append(found, entry{e, hook, &handlers.Elements[j], append(slices.Clone(path), spot{&m.Value, j}), limited})
			}
		}
	}
	return found
}

// event returns the array of an event and its place in the hooks, nil if there
// is none.
func (s *settings) event(e event) (index int, list *hujson.Value) {
	if s.hooks == nil {
		return 0, nil
	}
	hooks := s.hooks.Value.Value.(*hujson.Object)
	for i := range hooks.Members {
		if literal(hooks.Members[i].Name) == e.name {
			return i, &hooks.Members[i].Value
		}
	}
	return 0, nil
}

// limits reports whether a group is not for all that its event is about.
func limits(group *hujson.Object) bool {
	for i := range group.Members {
		switch m := &group.Members[i]; literal(m.Name) {
		case "hooks", "description":
		case "matcher":
			if s := literal(m.Value); !isText(m.Value) || s != "" && s != "*" {
				return true
			}
		case "sequential": // Gemini CLI: one after the other
		default:
			return true
		}
	}
	return false
}

// ours reports whether a group is nobody else's once its handlers are gone.
func ours(group *hujson.Object) bool {
	return !slices.ContainsFunc(group.Members, func(m hujson.ObjectMember) bool {
		name := literal(m.Name)
		return name != "hooks" && name != "matcher" || name == "matcher" && limits(group)
	})
}

// enter returns the text with our entries.
func (a *agent) enter(text []byte, hook string) ([]byte, error) {
	if blank(text) {
		return append(markOf(text), a.document(hook).render(plain, "")+"\n"...), nil
	}
	for {
		s, err := a.read(text)
		if err != nil {
			return nil, err
		}
		next := s.step(hook)
		if next == nil {
			return text, nil
		}
		text = next
	}
}

// document returns the settings that hold nothing else than our entries.
func (a *agent) document(hook string) object {
	var doc object
	if a.form.version {
		doc = object{{"version", value{1}}}
	}
	return append(doc, pair{"hooks", a.allHooks(hook)})
}

func (a *agent) allHooks(hook string) object {
	var hooks object
	for _, e := range a.events {
		hooks = append(hooks, pair{e.name, array{a.group(e, hook)}})
	}
	return hooks
}

// group returns what stands in the array of an event.
func (a *agent) group(e event, hook string) node {
	if a.form.groups {
		return object{{"hooks", array{a.handler(e, hook)}}}
	}
	return a.handler(e, hook)
}

// step returns the text with one thing of ours that is not as it should be put
// right, nil if all is.
func (s *settings) step(hook string) []byte {
	st := styleOf(s.text, s.root)
	if s.hooks == nil {
		var items []node
		if version, _ := member(s.root.Value.(*hujson.Object), "version"); s.agent.form.version && version == nil {
			items = append(items, pair{"version", value{1}})
		}
		return containerOf(s.root).add(s.text, st, append(items, pair{"hooks", s.agent.allHooks(hook)})...)
	}
	var missing []node
	for _, e := range s.agent.events {
		if _, list := s.event(e); list == nil {
			missing = append(missing, pair{e.name, array{s.agent.group(e, hook)}})
		}
	}
	if len(missing) > 0 {
		return containerOf(&s.hooks.Value).add(s.text, st, missing...)
	}
	for _, e := range s.agent.events {
		if next := s.stepEvent(e, hook, st); next != nil {
			return next
		}
	}
	return nil
}

func (s *settings) stepEvent(e event, hook string, st style) []byte {
	_, list := s.event(e)
	entries := s.entries(e)
	keep := slices.IndexFunc(entries, func(en entry) bool { return !en.limited })
	if keep < 0 {
		return containerOf(list).add(s.text, st, s.agent.group(e, hook))
	}
	if !s.agent.right(entries[keep], hook) {
		return s.replace(entries[keep].handler, st, s.agent.handler(e, hook))
	}
	for i := len(entries) - 1; i >= 0; i-- {
		if i != keep {
			return s.without(entries[i])
		}
	}
	return nil
}

// replace writes another value in the place of an old one, in as many lines.
func (s *settings) replace(old *hujson.Value, st style, n node) []byte {
	if !slices.Contains(s.text[old.StartOffset:old.EndOffset], '\n') {
		st = st.inOneLine()
	}
	var e edit
	e.replace(old.StartOffset, old.EndOffset, n.render(st, indentAt(s.text, old.StartOffset)))
	return e.apply(s.text)
}

// leave returns the text without our entries.
func (a *agent) leave(text []byte) ([]byte, error) {
	for !blank(text) {
		s, err := a.read(text)
		if isOdd(err) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		next := s.unstep()
		if next == nil {
			break
		}
		text = next
	}
	return text, nil
}

// unstep returns the text without the last of our entries, nil if there is
// none.
func (s *settings) unstep() []byte {
	for _, e := range slices.Backward(s.agent.events) {
		if entries := s.entries(e); len(entries) > 0 {
			return s.without(entries[len(entries)-1])
		}
	}
	return nil
}

// without returns the text without an entry, and without the group, the event
// and the hooks that then would be empty.
func (s *settings) without(en entry) []byte {
	path := en.path
	for len(path) > 1 {
		last := path[len(path)-1]
		c := containerOf(last.in)
		if len(c.items) > 1 || !c.bare(s.text) {
			break
		}
		if len(path) == 3 { // handlers in a group
			group := path[1].in.Value.(*hujson.Array).Elements[path[1].index]
			if !ours(group.Value.(*hujson.Object)) || !containerOf(&group).bare(s.text) {
				break
			}
		}
		path = path[:len(path)-1]
	}
	last := path[len(path)-1]
	c := containerOf(last.in)
	if len(path) == 1 && len(c.items) == 1 && c.bare(s.text) {
		root := s.root.Value.(*hujson.Object)
		i := slices.IndexFunc(root.Members, func(m hujson.ObjectMember) bool { return literal(m.Name) == "hooks" })
		return containerOf(s.root).remove(s.text, i)
	}
	return c.remove(s.text, last.index)
}

// empty reports whether nothing is left in settings that we have made.
func (a *agent) empty(text []byte) bool {
	if blank(text) {
		return true
	}
	root, err := parse(text)
	if err != nil {
		return false
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok || !containerOf(root).bare(text) || !blank(text[:root.StartOffset]) || !blank(text[root.EndOffset:]) {
		return false
	}
	return !slices.ContainsFunc(object.Members, func(m hujson.ObjectMember) bool {
		return !a.form.version || literal(m.Name) != "version"
	})
}
