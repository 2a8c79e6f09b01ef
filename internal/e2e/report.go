package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// report is a table of agents and steps, in Markdown, with notes below.
type report struct {
	head   []string
	rows   [][]string
	notes  []string
	failed int
}

func newReport(steps []step) *report {
	r := &report{head: []string{"agent"}}
	for _, s := range steps {
		r.head = append(r.head, s.name)
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
	r.cell(a, word)
}

// missing notes that an agent does not have a step.
func (r *report) missing(a *agent, s step, why string) {
	r.note(a, s, why)
	r.cell(a, "n/a")
}

func (r *report) note(a *agent, s step, text string) {
	r.notes = append(r.notes, fmt.Sprintf("%s, %s: %s", a.id, s.name, text))
}

func (r *report) cell(a *agent, text string) {
	name := a.id + " " + a.version
	if len(r.rows) == 0 || r.rows[len(r.rows)-1][0] != name {
		r.rows = append(r.rows, []string{name})
	}
	last := &r.rows[len(r.rows)-1]
	*last = append(*last, text)
}

func (r *report) String() string {
	width := make([]int, len(r.head))
	for _, row := range append([][]string{r.head}, r.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(r.head))
	for i, w := range width {
		rule[i] = strings.Repeat("-", w)
	}
	var b strings.Builder
	for _, row := range append([][]string{r.head, rule}, r.rows...) {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %-*s ", width[i], cell)
		}
		b.WriteString("|\n")
	}
	if len(r.notes) > 0 {
		b.WriteString("\n- " + strings.Join(r.notes, "\n- ") + "\n")
	}
	return "\n" + b.String()
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t")
}
