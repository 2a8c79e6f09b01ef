package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
			for _, name := range args {
				if err == nil {
					err = im.readFile(name)
				}
			}
			if err := im.print(cmd.OutOrStdout(), asJSON); err != nil {
				return fail(err)
			}
			if err != nil {
				return fail(err)
			}
			return im.verdict()
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
		return nil, fail(fmt.Errorf("%s: %w", dir, err))
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
		return err
	}
	defer f.Close()
	return im.read(name, f)
}

// read takes records one after the other. One that is spread over several
// lines ends where its JSON ends; a line that begins another object begins
// another record, so that a broken one does not take the rest with it.
func (im *importer) read(file string, r io.Reader) error {
	const longest = 4 << 20 // a line; records are at most 64 KiB
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	var pending []byte
	begin := 0
	flush := func() {
		if len(bytes.TrimSpace(pending)) > 0 {
			im.take(file, begin, pending)
		}
		pending = nil
	}
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if bytes.HasPrefix(line, []byte("{")) || len(pending) == 0 {
			flush()
			begin = n
		}
		pending = append(append(pending, line...), '\n')
		if json.Valid(pending) {
			flush()
		}
	}
	flush()
	if err := lines.Err(); err != nil {
		return fmt.Errorf("after line %d: %w", n, err)
	}
	return nil
}

func (im *importer) take(file string, line int, record []byte) {
	answer := importAnswer{File: file, Line: line}
	err := im.write(record, &answer)
	if err != nil {
		answer.Error = err.Error()
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
		return json.NewEncoder(stdout).Encode(struct {
			Records []importAnswer `json:"records"`
		}{append([]importAnswer{}, im.answers...)})
	}
	for _, a := range im.answers {
		where := fmt.Sprintf("line %d", a.Line)
		if a.File != "" {
			where = text.Clean(a.File) + ": " + where
		}
		if a.Written {
			fmt.Fprintf(stdout, "%s: written %s\n", where, a.CanonicalID)
		} else {
			fmt.Fprintf(stdout, "%s: not written: %s\n", where, text.Clean(a.Error))
		}
	}
	return nil
}

func (im *importer) verdict() error {
	refused := 0
	for _, a := range im.answers {
		if !a.Written {
			refused++
		}
	}
	switch {
	case len(im.answers) == 0:
		return fail(errors.New("no record to import"))
	case refused > 0:
		return fail(fmt.Errorf("%d of %d records were not written", refused, len(im.answers)))
	}
	return nil
}
