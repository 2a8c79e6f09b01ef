package main

import (
	"fmt"
	"os"

	"tongs-agents/internal/mdtable"
)

// table is printed so that it is one in Markdown too.
type table struct {
	title string
	head  []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() {
	fmt.Printf("\n%s\n\n", t.title)
	(&mdtable.Table{Head: t.head, Texts: 1, Rows: t.rows}).Print(os.Stdout)
}

// none is the figure that could not be had.
const none = "-"

func milliseconds(seconds float64) string {
	if ms := seconds * 1e3; ms < 100 {
		return fmt.Sprintf("%.3g", ms)
	}
	return fmt.Sprintf("%.0f", seconds*1e3)
}
