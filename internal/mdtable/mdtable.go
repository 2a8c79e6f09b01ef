// Package mdtable prints tables that are tables in Markdown too.
package mdtable

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a table. Its first columns are texts, the others numbers.
type Table struct {
	Head  []string
	Texts int
	Rows  [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...any) {
	var row []string
	for _, c := range cells {
		row = append(row, fmt.Sprint(c))
	}
	t.Rows = append(t.Rows, row)
}

// Print prints the columns as wide as they have to be.
func (t *Table) Print(out io.Writer) error {
	width := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(t.Head))
	for i := range rule {
		rule[i] = strings.Repeat("-", width[i])
		if i >= t.Texts {
			rule[i] = rule[i][1:] + ":"
		}
	}
	var b strings.Builder
	for _, row := range append([][]string{t.Head, rule}, t.Rows...) {
		for i, cell := range row {
			blank := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i < t.Texts {
				cell += blank
			} else {
				cell = blank + cell
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
