package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table is printed so that it is one in Markdown too.
type table struct {
	title string
	head  []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() {
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = strings.Repeat("-", width[i])
		if i > 0 {
			rule[i] = rule[i][1:] + ":"
		}
	}
	fmt.Printf("\n%s\n\n", t.title)
	for _, row := range append([][]string{t.head, rule}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			blank := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				cell += blank
			} else {
				cell = blank + cell
			}
			line.WriteString("| " + cell + " ")
		}
		fmt.Println(line.String() + "|")
	}
}

// none is the figure that could not be had.
const none = "-"

func milliseconds(seconds float64) string {
	if ms := seconds * 1e3; ms < 100 {
		return fmt.Sprintf("%.3g", ms)
	}
	return fmt.Sprintf("%.0f", seconds*1e3)
}
