//go:build !(386 || arm)

package main

import (
	"io"

	"tongs-agents/internal/mdtable"
)

// row is what came of the power cuts of one file system.
type row struct {
	fs                             string
	writes, flushes, cuts          int
	newest, older, missing, unread int
	durable, gone, failures        int
}

func (r *row) add(f found) {
	r.cuts++
	r.newest += f.newest
	r.older += f.older
	r.missing += f.missing
	r.unread += f.unreadable
	r.durable += f.durable
	r.gone += f.gone
	r.failures += len(f.wrong)
}

func printTable(out io.Writer, rows []row) {
	t := mdtable.Table{Texts: 1, Head: []string{"file system", "writes", "flushes", "cuts", "records: newest", "older", "missing", "unreadable",
		"archive: durable", "lost before", "failures"}}
	for _, r := range rows {
		t.Add(r.fs, r.writes, r.flushes, r.cuts, r.newest, r.older, r.missing, r.unread, r.durable, r.gone, r.failures)
	}
	t.Print(out)
}
