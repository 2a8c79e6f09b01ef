package install

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Report is what Install or Uninstall did, or would do.
type Report struct {
	Hook     string        `json:"hook,omitempty"`    // the program that was entered
	Program  string        `json:"program,omitempty"` // that of the MCP server that was entered
	DryRun   bool          `json:"dry_run,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Agents   []AgentReport `json:"agents"`
}

// AgentReport is what was done for one agent.
type AgentReport struct {
	Agent    string       `json:"agent"`
	Observed bool         `json:"observed"` // tried on the real program
	Found    bool         `json:"found"`
	Why      string       `json:"why,omitempty"` // where it was found, or where it was looked for
	Files    []FileReport `json:"files"`
	Todo     []string     `json:"todo,omitempty"` // for the user
}

// FileReport is what was done with one file.
type FileReport struct {
	Path    string `json:"path"`
	Target  string `json:"target,omitempty"` // where Path leads, if it is a symbolic link
	Server  bool   `json:"mcp,omitempty"`    // this is about our MCP server, not about hooks
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"`  // why it was left alone
	Failed  bool   `json:"failed,omitempty"`  // which is not how it should be
	Snippet string `json:"snippet,omitempty"` // to be entered by hand
	Diff    string `json:"diff,omitempty"`    // of a dry run
}

// State is what became of a file.
type State string

const (
	Added     State = "added"
	Updated   State = "updated"
	Removed   State = "removed"
	Unchanged State = "unchanged"
	LeftAlone State = "left alone"
)

// Failures counts the files that are not as they should be.
func (r *Report) Failures() int {
	n := 0
	for _, a := range r.Agents {
		for _, f := range a.Files {
			if f.Failed {
				n++
			}
		}
	}
	return n
}

// changed reports whether a file of the agent was changed.
func (a *AgentReport) changed() bool {
	for _, f := range a.Files {
		if f.State == Added || f.State == Updated {
			return true
		}
	}
	return false
}

// note says where a link leads.
func (r *FileReport) note(t target) {
	if t.path != r.Path {
		r.Target = t.path
	}
}

func (r *FileReport) leave(err error, failed bool) {
	r.State, r.Reason, r.Failed = LeftAlone, err.Error(), failed
}

// differ returns the unified difference between two contents of a file.
func differ(path string, old, new content) string {
	name := func(c content) string {
		if !c.exists {
			return "/dev/null"
		}
		return path
	}
	text := diff.Diff(name(old), old.text, name(new), new.text)
	_, text, _ = bytes.Cut(text, []byte("\n")) // the line "diff OLD NEW"
	return string(text)
}
