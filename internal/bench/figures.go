package main

import (
	"fmt"
	"os"
	"strconv"
)

// The columns of a program's figures, and the cells under them.
var figuresHead = []string{"CPU ms", "wall ms", "faults", "calls", "KiB"}

func figures(p *program, samples []sample) []string {
	return []string{
		milliseconds(median(samples, cpu)), milliseconds(median(samples, wall)),
		fmt.Sprintf("%.0f", median(samples, faults)),
		cell(medianOf(3, calls, p)), cell(medianOf(3, resident, p)),
	}
}

func medianOf(n int, measure func(*program) (int, error), p *program) (int, error) {
	values := make([]int, n)
	for i := range values {
		var err error
		if values[i], err = measure(p); err != nil {
			return 0, err
		}
	}
	return int(quantile(0.5, n, func(i int) float64 { return float64(values[i]) })), nil
}

// cell is a figure that another program, or a permission, may be missing for.
func cell(n int, err error) string {
	if err != nil {
		note(err.Error())
		return none
	}
	return strconv.Itoa(n)
}

var noted = map[string]bool{}

// note says once why something is not there.
func note(text string) {
	if !noted[text] {
		fmt.Fprintln(os.Stderr, "bench:", text)
	}
	noted[text] = true
}
