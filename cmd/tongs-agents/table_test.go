package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tongs-agents/internal/text"
)

func TestWidths(t *testing.T) {
	columns := func(widths ...int) *table {
		t := &table{head: make([]string, len(widths)), wide: 3}
		row := make([]cell, len(widths))
		for i, n := range widths {
			row[i].text = strings.Repeat("x", n)
		}
		t.add(row...)
		return t
	}
	for _, test := range []struct {
		table  *table
		screen int
		want   []int
	}{
		{columns(6, 8, 7, 300, 2), 0, []int{6, 8, 7, 300, 2}},   // no screen, no limit
		{columns(6, 8, 7, 10, 2), 41, []int{6, 8, 7, 10, 2}},    // fits exactly
		{columns(6, 8, 7, 10, 2), 40, []int{6, 8, 7, 9, 2}},     // the wide one gives way
		{columns(6, 8, 7, 300, 2), 80, []int{6, 8, 7, 49, 2}},   // down to a quarter
		{columns(6, 60, 7, 300, 2), 80, []int{6, 37, 7, 20, 2}}, // then the widest
		{columns(6, 60, 7, 5, 2), 60, []int{6, 32, 7, 5, 2}},    // a narrow one stays
		{columns(60, 60, 60, 60, 60), 60, []int{10, 10, 10, 11, 11}},
		{columns(6, 8, 7, 300, 2), 20, []int{2, 2, 3, 3, 2}},
		{columns(6, 8, 7, 300, 2), 13, []int{1, 1, 1, 1, 1}},
		{columns(6, 8, 7, 300, 2), 1, []int{1, 1, 1, 1, 1}}, // there is no less
	} {
		got := test.table.widths(test.screen)
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("widths of %v on %d = %v, want %v", test.table.widths(0), test.screen, got, test.want)
		}
	}
}

// moves is where the cursor goes in a line.
var moves = regexp.MustCompile("\x1b\\[(\\d+)G")

// No line is longer than the screen, whatever a terminal makes of an emoji, and
// every column begins in the same place.
func TestLines(t *testing.T) {
	texts := []string{
		"", "-", "Fix the login", strings.Repeat("long ", 60), strings.Repeat("漢字", 100),
		strings.Repeat("👨‍👩‍👧‍👦 ", 20), strings.Repeat("🇩🇪", 30), strings.Repeat("1️⃣", 40), "👩‍💻", "é́́́", "हिन्दी", strings.Repeat("\u200d", 9),
	}
	tab := &table{head: []string{"AGENT", "REPO", "STATUS", "DETAIL", "AGE"}, wide: 3, glyph: glyphs{cut: "…"}}
	for i, s := range texts {
		other := texts[(i*5+2)%len(texts)]
		tab.add(cell{text: "claude"}, cell{text: other, path: i%2 == 0}, cell{text: "waiting"}, cell{text: s}, cell{text: "7m"})
	}
	for columns := 13; columns < 140; columns++ {
		widths := tab.widths(columns)
		last := columnsBefore(widths)
		for _, row := range tab.rows {
			var b strings.Builder
			tab.line(&b, screen{width: columns, cursor: true}, widths, row)
			line := strings.TrimSuffix(b.String(), "\n")
			if _, widest := walk(line); widest > columns {
				t.Fatalf("on %d columns a line may take %d: %q", columns, widest, line)
			}
			if rest, ok := strings.CutSuffix(line, text.Fit("7m", widths[4], "…")); !ok {
				t.Fatalf("on %d columns the last one is lost: %q", columns, line)
			} else if end, _ := walk(rest); end != last {
				t.Fatalf("on %d columns the last one begins at %d, want %d: %q", columns, end, last, line)
			}
		}
	}
}

func columnsBefore(widths []int) int {
	n := 0
	for _, w := range widths[:len(widths)-1] {
		n += w + gap
	}
	return n
}

// walk returns where the cursor is after a line on a terminal that draws
// clusters as one, and how far it may have been to the right on any.
func walk(line string) (end, widest int) {
	for line != "" {
		segment, rest, column := line, "", -1
		if m := moves.FindStringSubmatchIndex(line); m != nil {
			segment, rest = line[:m[0]], line[m[1]:]
			column, _ = strconv.Atoi(line[m[2]:m[3]])
		}
		widest = max(widest, end+text.MaxWidth(segment))
		end += text.Width(segment)
		if column > 0 {
			end = column - 1
		}
		line = rest
	}
	return end, widest
}
