package install

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a file is laid out.
type style struct {
	eol     string // between lines
	unit    string // of indentation
	oneLine bool
	gap     string // after a comma and a colon on one line
}

// plain is the style of files that we make.
var plain = style{eol: "\n", unit: "  ", gap: " "}

// styleOf returns the style of settings, the value of which is an object.
func styleOf(text []byte, root *hujson.Value) style {
	st := plain
	if newline := bytes.IndexByte(text, '\n'); newline > 0 && text[newline-1] == '\r' {
		st.eol = "\r\n"
	}
	members := root.Value.(*hujson.Object).Members
	if len(members) == 0 {
		return st
	}
	first := &members[0]
	if unit, ok := ownLine(text, first.Name.StartOffset); ok && unit != "" {
		st.unit = strings.TrimPrefix(unit, indentAt(text, root.StartOffset))
		if st.unit == "" {
			st.unit = plain.unit
		}
	}
	if bytes.IndexByte(text[root.StartOffset:root.EndOffset], '\n') < 0 {
		st.oneLine = true
		if len(first.Value.BeforeExtra) == 0 {
			st.gap = ""
		}
	}
	return st
}

// inOneLine is the style for what goes into a line of the file.
func (st style) inOneLine() style {
	st.oneLine = true
	return st
}

// node is JSON to be written: an object, a member of one, an array or a value.
type node interface {
	render(st style, indent string) string
}

type object []pair

type pair struct {
	name  string
	value node
}

type array []node

// value is anything that encoding/json knows how to write.
type value struct{ any }

func (o object) render(st style, indent string) string {
	parts := make([]string, len(o))
	for i, p := range o {
		parts[i] = p.render(st, indent+st.unit)
	}
	return bracket("{", parts, "}", st, indent)
}

func (p pair) render(st style, indent string) string {
	gap := " "
	if st.oneLine {
		gap = st.gap
	}
	return quote(p.name) + ":" + gap + p.value.render(st, indent)
}

func (a array) render(st style, indent string) string {
	parts := make([]string, len(a))
	for i, n := range a {
		parts[i] = n.render(st, indent+st.unit)
	}
	return bracket("[", parts, "]", st, indent)
}

func (v value) render(style, string) string { return quote(v.any) }

func bracket(open string, parts []string, close string, st style, indent string) string {
	switch {
	case len(parts) == 0:
		return open + close
	case st.oneLine:
		return open + strings.Join(parts, ","+st.gap) + close
	}
	line := st.eol + indent + st.unit
	return open + line + strings.Join(parts, ","+line) + st.eol + indent + close
}

// quote writes JSON without the escapes that are for HTML.
func quote(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("install: " + err.Error()) // texts and numbers only
	}
	return strings.TrimSuffix(b.String(), "\n")
}
