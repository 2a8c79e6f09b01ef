package main

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestModel: what a record with a fault would show is found, and what one
// without does is not.
func TestModel(t *testing.T) {
	wrote := func(found state, arrival int64) output { return output{Found: found, Arrival: arrival} }
	update := func(token string) input { return input{Op: opUpdate, Token: token} }
	none, a, b := state{}, state{"a", 1, 1}, state{"b", 2, 1}
	type op struct {
		call, ret int64
		in        input
		out       output
	}
	written := op{1, 2, update("a"), wrote(none, 1)}
	over := op{3, 4, update("b"), wrote(a, 2)}
	tests := []struct {
		name    string
		history []op
		want    porcupine.CheckResult
	}{
		{"one after the other", []op{written, over, {5, 6, input{Op: opGet}, output{Found: b}}}, porcupine.Ok},
		{"either of two at once", []op{written, {3, 9, update("b"), wrote(a, 2)}, {4, 5, input{Op: opGet}, output{Found: a}}}, porcupine.Ok},
		{"a lost event", []op{written, {3, 4, update("b"), wrote(none, 1)}}, porcupine.Illegal},
		{"an older version", []op{written, over, {5, 6, input{Op: opLook}, output{Found: a}}}, porcupine.Illegal},
		{"older after newer", []op{
			written, {3, 9, update("b"), wrote(a, 2)}, {4, 5, input{Op: opList}, output{Found: b}}, {6, 7, input{Op: opList}, output{Found: a}},
		}, porcupine.Illegal},
		{"missing in a listing", []op{written, {3, 4, input{Op: opList}, output{}}}, porcupine.Illegal},
		{"removed as it was found", []op{written, {3, 4, input{Op: opRemove, Held: "a"}, output{}}, {5, 6, input{Op: opGet}, output{}}}, porcupine.Ok},
		{"a newer version removed", []op{written, over, {5, 6, input{Op: opRemove, Held: "a"}, output{}}}, porcupine.Illegal},
		{"a newer version amended", []op{written, over, {5, 6, input{Op: opAmend, Held: "a", Token: "c"}, output{}}}, porcupine.Illegal},
		{"kept, since it is newer", []op{written, over, {5, 6, input{Op: opRemove, Held: "a"}, output{Refused: refusedStale}}}, porcupine.Ok},
		{"an older import", []op{written, {3, 4, input{Op: opImport, Token: "c"}, output{Arrival: 2}}}, porcupine.Illegal},
		{"made by a change", []op{{1, 2, input{Op: opChange, Token: "a"}, wrote(none, 1)}}, porcupine.Illegal},
		{"killed before it wrote", []op{written, {3, never, update("b"), output{Unknown: true}}, {5, 6, input{Op: opGet}, output{Found: a}}}, porcupine.Ok},
		{"killed after it wrote", []op{written, {3, never, update("b"), output{Unknown: true}}, {5, 6, input{Op: opGet}, output{Found: b}}}, porcupine.Ok},
		{"killed, and undone", []op{
			written, {3, never, update("b"), output{Unknown: true}}, {5, 6, input{Op: opGet}, output{Found: b}}, {7, 8, input{Op: opGet}, output{Found: a}},
		}, porcupine.Illegal},
		{"an error", []op{{1, 2, input{Op: opGet}, output{Wrong: "torn"}}}, porcupine.Illegal},
	}
	for _, test := range tests {
		var history []porcupine.Operation
		for i, o := range test.history {
			history = append(history, porcupine.Operation{ClientId: i, Input: o.in, Call: o.call, Output: o.out, Return: o.ret})
		}
		if got, _ := porcupine.CheckOperationsVerbose(recordModel, history, 0); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
