// Package assets has the files that install writes whole: a plugin of OpenCode
// and an extension of Pi, which have no hooks of their own, and what tells Goose
// of its plugin.
//
// The first two are one file of JavaScript each that runs inside the agent and
// in turn runs tongs-agents-hook. Neither needs a build step or another package.
package assets

import (
	"bytes"
	"embed"
	"encoding/json"
	"regexp"
)

// The files, by their names.
const (
	OpenCode = "opencode.js"
	Pi       = "pi.js"
	Goose    = "goose.json"
)

//go:embed opencode.js pi.js goose.json
var files embed.FS

// placeholder is where a file has the path of the hook.
const placeholder = "@HOOK@"

// marker is in every file, and tells one of any release of ours from one that
// the user wrote.
var marker = regexp.MustCompile(`tongs-agents install, version [0-9]+`)

// Ours reports whether content is a file of ours of any release.
func Ours(content []byte) bool { return marker.Match(content) }

// Render returns the file of a name, which will run the hook at an absolute
// path of UTF-8.
func Render(name, hook string) []byte {
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false) // people read it, too
	if err := e.Encode(hook); err != nil {
		panic("assets: " + err.Error()) // a text has no error
	}
	return bytes.Replace(read(name), []byte(placeholder), bytes.TrimSpace(quoted.Bytes()), 1)
}

// Hook returns the path of the hook in the content of a file of this release
// or, where the text before it is the same, of another one.
func Hook(name string, content []byte) (string, bool) {
	before, _, found := bytes.Cut(read(name), []byte(placeholder))
	if !found {
		return "", false
	}
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	_, rest, found := bytes.Cut(content, line)
	if !found {
		return "", false
	}
	var path string
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&path) != nil {
		return "", false
	}
	return path, true
}

func read(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic("assets: no file " + name)
	}
	return content
}
