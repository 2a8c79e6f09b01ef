package bar

import (
	"html"
	"strings"
	"text/template"
	"time"

	"tongs-agents/internal/jsonstream"
	"tongs-agents/internal/shell"
	"tongs-agents/internal/text"
)

// functions are those of a template, beside the library's.
func functions() template.FuncMap {
	return template.FuncMap{
		"age":   age,
		"cut":   cut,
		"json":  jsonString,
		"pango": pango,
		"shell": shell.Word,
		"tmux":  tmux,
	}
}

// age writes a number of seconds as 4m.
func age(seconds int64) string { return text.Span(time.Duration(seconds) * time.Second) }

// tmux escapes a text for tmux, which expands formats in what a #() command
// prints, in older versions further commands too. ##( and ##{ are shown as #(
// and #{ there, and so is ##[, which else would be a style; of several # in a
// row, which are drawn as half as many, some are lost. See "FORMATS" and
// "STYLES" in tmux(1).
func tmux(s string) string { return strings.ReplaceAll(s, "#", "##") }

// pango escapes a text for Pango markup, a subset of XML.
func pango(s string) string { return html.EscapeString(s) }

// jsonString makes a text a JSON string, quotes included.
func jsonString(s string) string { return string(jsonstream.AppendString(nil, s)) }
