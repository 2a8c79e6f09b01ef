// Package bar words a listing for the status bars of other programs: each by a
// format of its own, or any by a template of the user.
//
// What a session says comes from outside, and several bars take markup or
// commands in the text that they show. A format escapes for its own bar; a
// template has a function for each.
package bar

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
)

// Format is how a listing is worded.
type Format struct {
	text   func(*Data) (string, error)
	failed func(error) string // nil: nothing is known of the bar

	// HidesFailures: the bar shows nothing of a command that fails, whatever it
	// printed.
	HidesFailures bool
}

// The formats of bars, by name. None has anything to show of no sessions.
var formats = []struct {
	name string
	Format
}{
	{"tmux", Format{text: tmuxLine, failed: failedTmux}},
	{"waybar", Format{text: waybarObject, failed: failedWaybar, HidesFailures: true}},
	{"i3blocks", Format{text: i3blocksLines, failed: failedI3blocks, HidesFailures: true}},
	{"starship", Format{text: starshipText, failed: failedStarship, HidesFailures: true}},
}

// Names are the names that Parse takes for a format.
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// templateName stands before the position in errors of a template.
const templateName = "--format"

// Parse returns the format of that name, or of a template, which has {{ in it.
func Parse(s string) (*Format, error) {
	for i := range formats {
		if formats[i].name == s {
			return &formats[i].Format, nil
		}
	}
	if !strings.Contains(s, "{{") {
		return nil, fmt.Errorf("%s: unknown format %q, want one of: %s, or a template such as {{.Active}}",
			templateName, s, strings.Join(Names(), " "))
	}
	t, err := template.New(templateName).Funcs(functions()).Parse(s)
	if err != nil {
		return nil, templateError(err)
	}
	return &Format{text: func(d *Data) (string, error) {
		var b strings.Builder
		if err := t.Execute(&b, d); err != nil {
			return "", templateError(err)
		}
		return b.String(), nil
	}}, nil
}

// templateError leaves of an error of the library the position and the reason.
func templateError(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "))
}

// Text words a listing: nothing, or whole lines.
func (f *Format) Text(d *Data) (string, error) {
	s, err := f.text(d)
	if err == nil && s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s, err
}

// Failed is what a bar is to show if there is no listing: nothing for one of
// which only a template is known.
func (f *Format) Failed(err error) string {
	if f.failed == nil {
		return ""
	}
	return f.failed(err) + "\n"
}
