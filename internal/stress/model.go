package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// recordModel is a record that is used by one process alone: what each
// operation does to it, and what it may come to.
var recordModel = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(s, in, out any) (bool, any) {
		next, want := step(s.(state), in.(input))
		got := out.(output)
		return got.Unknown || got == want, next
	},
	DescribeOperation: describeOperation,
	DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
}

// step is the record after an operation, and what comes of that.
func step(s state, in input) (state, output) {
	switch in.Op {
	case opGet, opList, opLook, opSurvey, opPeek:
		return s, output{Found: s}
	case opChange:
		if s == (state{}) {
			return s, output{Refused: refusedMissing}
		}
		fallthrough
	case opUpdate:
		next := state{in.Token, s.Arrival + 1, 1}
		return next, output{Found: s, Arrival: next.Arrival}
	case opImport:
		if s.Boottime > in.Boottime {
			return s, output{Refused: refusedStale}
		}
		next := state{in.Token, s.Arrival + 1, in.Boottime}
		return next, output{Arrival: next.Arrival}
	case opRemove, opAmend:
		switch {
		case s == (state{}):
			return s, output{Refused: refusedMissing}
		case s.Token != in.Held:
			return s, output{Refused: refusedStale}
		case in.Op == opRemove:
			return state{}, output{}
		}
		s.Token = in.Token
		return s, output{}
	}
	panic("no operation: " + in.Op)
}

func describeOperation(in, out any) string { return fmt.Sprintf("%+v → %+v", in, out) }
