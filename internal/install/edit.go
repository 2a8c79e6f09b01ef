package install

import "slices"

// edit is a change of a text: parts of it that others replace, in the order of
// their places.
type edit []splice

type splice struct {
	start, end int // what goes
	text       string
}

func (e *edit) insert(at int, text string)       { *e = append(*e, splice{at, at, text}) }
func (e *edit) delete(start, end int)            { *e = append(*e, splice{start, end, ""}) }
func (e *edit) replace(start, end int, s string) { *e = append(*e, splice{start, end, s}) }

// apply returns the changed text.
func (e edit) apply(text []byte) []byte {
	var out []byte
	at := 0
	for _, s := range e {
		out = append(append(out, text[at:s.start]...), s.text...)
		at = s.end
	}
	return append(slices.Grow(out, len(text)-at), text[at:]...)
}
