package main

import (
	"fmt"
	"strings"
	"time"

	"tongs-agents/internal/mdtable"
)

// report is a table of agents and steps, with notes below.
type report struct {
	table  mdtable.Table
	notes  []string
	failed int
}

func newReport(steps []step) *report {
	r := &report{table: mdtable.Table{Head: []string{"agent"}, Texts: 1 + len(steps)}}
	for _, s := range steps {
		r.table.Head = append(r.table.Head, s.name)
	}
	return r
}

// add notes how a step went, and says so at once.
func (r *report) add(a *agent, s step, took time.Duration, err error) {
	word := "ok"
	if err != nil {
		word = "FAIL"
		r.failed++
	}
	fmt.Printf("%-9s%-10s%-5s%5.1fs\n", a.id, s.name, word, took.Seconds())
	if err != nil {
		fmt.Println(indent(err.Error()))
	}
	name := a.id + " " + a.version
	rows := r.table.Rows
	if len(rows) == 0 || rows[len(rows)-1][0] != name {
		rows = append(rows, []string{name})
	}
	last := &rows[len(rows)-1]
	*last = append(*last, word)
	r.table.Rows = rows
	if remark := a.remark(s.name); remark != "" {
		r.notes = append(r.notes, fmt.Sprintf("%s, %s: %s", a.id, s.name, remark))
	}
}

func (r *report) String() string {
	var b strings.Builder
	b.WriteString("\n")
	r.table.Print(&b) // a Builder takes everything
	if len(r.notes) > 0 {
		b.WriteString("\n- " + strings.Join(r.notes, "\n- ") + "\n")
	}
	return b.String()
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t")
}
