package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/internal/listing"
)

// printJSON prints a value as JSON that does nothing to a terminal, as the
// store writes it.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // && of a command
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(append(jsonstream.AppendValue(nil, bytes.TrimSpace(b.Bytes())), '\n'))
	return err
}

// printRows prints rows as JSON, a session a line. extra adds keys to a row.
func printRows(w io.Writer, rows []*fsstore.Annotated, extra func(b []byte, row *fsstore.Annotated) []byte) error {
	b := []byte(`{"sessions":[`)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = rows[i].AppendJSON(append(b, '\n'))
		if extra != nil {
			b = append(extra(b[:len(b)-1], rows[i]), '}')
		}
		if len(b) > 1<<16 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	summary, err := json.Marshal(listing.Summarize(rows))
	if err != nil {
		return err
	}
	b = append(b, "],\n\"summary\":"...)
	b = append(append(b, summary...), "}\n"...)
	_, err = w.Write(b)
	return err
}

// uptimeKey adds uptime_ms to a row.
func uptimeKey(now int64) func([]byte, *fsstore.Annotated) []byte {
	return func(b []byte, row *fsstore.Annotated) []byte {
		return strconv.AppendInt(append(b, `,"uptime_ms":`...), listing.Uptime(row, now).Milliseconds(), 10)
	}
}
