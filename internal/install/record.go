package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tongs-agents/fsstore"
)

// recordDir is where, below the state directory, it is remembered what we
// wrote: a file for each file that we changed.
const recordDir = "installed"

// record is what is remembered of a file.
type record struct {
	Agent string   `json:"agent"`
	Name  string   `json:"name"`           // of the file in the table
	Path  string   `json:"path"`           // the target
	Dirs  []string `json:"dirs,omitempty"` // made for it, the uppermost first
	Made  bool     `json:"made,omitempty"` // the file was not there
	Texts []change `json:"texts"`          // what we wrote
}

// change is what a text of ours replaced: the one before has Text in place of
// what is between its first Head and last Tail bytes.
type change struct {
	SHA256 string `json:"sha256"` // of our text
	Head   int    `json:"head"`
	Tail   int    `json:"tail"`
	Text   []byte `json:"text"`
	Absent bool   `json:"absent,omitempty"` // there was no file
}

// original is what a file was before we changed it.
type original struct {
	text   []byte
	absent bool
}

func changeOf(before original, written []byte) change {
	old := before.text
	head := 0
	for head < len(old) && head < len(written) && old[head] == written[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(written)-head && old[len(old)-1-tail] == written[len(written)-1-tail] {
		tail++
	}
	return change{digest(written), head, tail, old[head : len(old)-tail], before.absent}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// original returns what a file was before, if its text still is ours.
func (r *record) original(text []byte) (original, bool) {
	if r == nil {
		return original{}, false
	}
	sum := digest(text)
	for _, c := range r.Texts {
		if c.SHA256 == sum && c.Head >= 0 && c.Tail >= 0 && c.Head+c.Tail <= len(text) {
			return original{slices.Concat(text[:c.Head], c.Text, text[len(text)-c.Tail:]), c.Absent}, true
		}
	}
	return original{}, false
}

// add remembers a text before it is written. What is remembered of the text
// that it replaces stays, since the write may fail.
func (r *record) add(current []byte, before original, written []byte) {
	sum := digest(current)
	r.Texts = slices.DeleteFunc(r.Texts, func(c change) bool { return c.SHA256 != sum })
	r.Texts = append(r.Texts, changeOf(before, written))
	r.Made = r.Made || before.absent
}

// records are the remembered files.
type records struct{ state string }

func (rs records) dir() string { return filepath.Join(rs.state, recordDir) }

func (rs records) file(agent, path string) string {
	return filepath.Join(rs.dir(), agent+"-"+digest([]byte(path))[:16]+".json")
}

// get returns what is remembered of a file, nil if nothing is.
func (rs records) get(agent, path string) *record {
	r, err := readRecord(rs.file(agent, path))
	if err != nil || r.Agent != agent || r.Path != path {
		return nil // what cannot be read is not used
	}
	return r
}

// of returns the records of an agent.
func (rs records) of(agent string) []*record {
	files, err := os.ReadDir(rs.dir())
	if err != nil {
		return nil
	}
	var list []*record
	for _, f := range files {
		name := filepath.Join(rs.dir(), f.Name())
		if !strings.HasPrefix(f.Name(), agent+"-") || filepath.Ext(name) != ".json" {
			continue
		}
		if r, err := readRecord(name); err == nil && r.Agent == agent && rs.file(agent, r.Path) == name {
			list = append(list, r)
		}
	}
	return list
}

func readRecord(name string) (*record, error) {
	c, err := target{path: name}.read()
	if err != nil {
		return nil, err
	}
	if !c.exists {
		return nil, fs.ErrNotExist
	}
	var r record
	if err := json.Unmarshal(c.text, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

func (rs records) put(r *record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := fsstore.MakeDir(rs.state, recordDir); err != nil {
		return err
	}
	name := rs.file(r.Agent, r.Path)
	t := target{path: name}
	old, err := t.read()
	if err == nil {
		err = t.replace(old, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// drop forgets a file, and removes the directories that were made for it and
// that nothing else is in.
func (rs records) drop(r *record, gone bool) error {
	if r == nil {
		return nil
	}
	if gone {
		removeEmpty(r.Dirs)
	}
	if err := os.Remove(rs.file(r.Agent, r.Path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeEmpty removes directories, the last one first, up to one that
// something is in.
func removeEmpty(dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		if os.Remove(dir) != nil {
			return
		}
	}
}
