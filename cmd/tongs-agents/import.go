package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
)

// importWait is how long one record waits for its locks.
const importWait = 2 * time.Second

func newImport() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import [FILE...]",
		Short: "Write complete records, from standard input or files",
		Long: `import reads complete records of schema 1, one JSON object or one a line: what
export prints. Each is written exactly as a hook event is, or refused with the
reason; the others are written all the same. The exit status is 1 if one was
refused.`,
		Example: `  tongs-agents import < sessions.jsonl
  producer | tongs-agents import --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openForImport()
			if err != nil {
				return err
			}
			defer store.Close()
			im := importer{store: store}
			if len(args) == 0 {
				err = im.read("", cmd.InOrStdin())
			}
			for _, name := range args { // one that cannot be read does not keep the others
				err = errors.Join(err, im.readFile(name))
			}
			if err == nil || asJSON || len(im.answers) > 0 {
				err = errors.Join(err, im.print(cmd.OutOrStdout(), asJSON))
			}
			return fail(errors.Join(err, im.verdict()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func openForImport() (*fsstore.Store, error) {
	dir, err := fsstore.StateDir()
	if err != nil {
		return nil, fail(err)
	}
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		return nil, fail(storeError(err))
	}
	return store, nil
}

// importer writes records and remembers what became of each.
type importer struct {
	store   *fsstore.Store
	answers []importAnswer
}

type importAnswer struct {
	File        string `json:"file,omitempty"`
	Line        int    `json:"line"` // where the record begins
	CanonicalID string `json:"canonical_id,omitempty"`
	Written     bool   `json:"written"`
	Error       string `json:"error,omitempty"`
}

func (im *importer) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	defer f.Close()
	return im.read(name, f)
}

// read takes records one after the other. One that is spread over several
// lines ends where its braces do; a line that begins another object begins
// another record, so that a broken one does not take the rest with it.
func (im *importer) read(file string, r io.Reader) error {
	in := bufio.NewReader(r)
	var pending extent
	flush := func() {
		if pending.begin > 0 {
			im.take(file, pending)
		}
		pending = extent{}
	}
	for n := 1; ; n++ {
		line, err := readLine(in)
		if bytes.HasPrefix(line, []byte("{")) {
			flush()
		}
		if pending.begin == 0 && len(bytes.TrimSpace(line)) > 0 {
			pending.begin = n
		}
		pending.add(line)
		if pending.depth <= 0 || err != nil {
			flush()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", or(file, "standard input"), bare(err))
		}
	}
}

// longest is a record with all white space that a producer may put into it.
const longest = 1 << 20

// readLine reads a line, and no more than a record's length of it into memory.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= longest {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// extent is what was read of one record.
type extent struct {
	text  []byte
	begin int // line; 0: not begun
	depth int // of brackets
}

// add appends a line. A text within it does not go beyond its end.
func (e *extent) add(line []byte) {
	if e.begin == 0 {
		return
	}
	if len(e.text) <= longest {
		e.text = append(e.text, line...)
	}
	quoted, escaped := false, false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			e.depth++
		case c == '}', c == ']':
			e.depth--
		}
	}
}

func (im *importer) take(file string, e extent) {
	answer := importAnswer{File: file, Line: e.begin}
	err := errors.New("too long for a record")
	if len(e.text) <= longest {
		err = im.write(e.text, &answer)
	}
	if err != nil {
		answer.Error = storeError(err).Error()
	}
	answer.Written = err == nil
	im.answers = append(im.answers, answer)
}

func (im *importer) write(record []byte, answer *importAnswer) error {
	r, err := fsstore.Decode(record)
	if err != nil {
		return err
	}
	answer.CanonicalID = r.CanonicalID()
	_, err = im.store.Import(r, importWait)
	return err
}

func (im *importer) print(stdout io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(stdout, struct {
			Records []importAnswer `json:"records"`
		}{append([]importAnswer{}, im.answers...)})
	}
	var b strings.Builder
	if len(im.answers) == 0 { // as after an export of an empty store
		b.WriteString("no records\n")
	}
	for _, a := range im.answers {
		if a.File != "" {
			fmt.Fprintf(&b, "%s: ", text.Clean(a.File))
		}
		if a.Written {
			fmt.Fprintf(&b, "line %d: written %s\n", a.Line, a.CanonicalID)
		} else {
			fmt.Fprintf(&b, "line %d: not written: %s\n", a.Line, text.Clean(a.Error))
		}
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}

func (im *importer) verdict() error {
	refused := 0
	for _, a := range im.answers {
		if !a.Written {
			refused++
		}
	}
	if refused > 0 {
		all := len(im.answers)
		return fmt.Errorf("%d of %d %s %s not written", refused, all, plural(all, "record", "records"), plural(refused, "was", "were"))
	}
	return nil
}
