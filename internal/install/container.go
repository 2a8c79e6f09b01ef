package install

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// container is where the items of an object or an array are in a text.
type container struct {
	open, close int // the brackets
	items       []span
}

// span is where an item is. A member's begins with its name.
type span struct {
	start, end int
	comma      int // that follows it; -1: none
}

func containerOf(v *hujson.Value) container {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	add := func(first, last *hujson.Value, isLast bool) {
		s := span{first.StartOffset, last.EndOffset, -1}
		if !isLast || last.AfterExtra != nil { // which the parser gives a last one only with a comma
			s.comma = last.EndOffset + len(last.AfterExtra)
		}
		c.items = append(c.items, s)
	}
	switch composite := v.Value.(type) {
	case *hujson.Object:
		for i := range composite.Members {
			m := &composite.Members[i]
			add(&m.Name, &m.Value, i == len(composite.Members)-1)
		}
	case *hujson.Array:
		for i := range composite.Elements {
			e := &composite.Elements[i]
			add(e, e, i == len(composite.Elements)-1)
		}
	}
	return c
}

// bare reports whether there is nothing between the brackets but the items:
// no comment that dropping the container would drop too.
func (c container) bare(text []byte) bool {
	at := c.open + 1
	for _, s := range c.items {
		if !blankOrComma(text[at:s.start]) {
			return false
		}
		at = s.end
	}
	return blankOrComma(text[at:c.close])
}

func blankOrComma(text []byte) bool { return len(bytes.Trim(text, " \t\r\n,")) == 0 }

// add puts items behind the others. It inserts only, so that remove has the
// text back.
func (c container) add(text []byte, st style, items ...node) []byte {
	last, tail := c.open+1, c.open+1 // the end of the last item, and of its comma
	trailing := false
	if n := len(c.items); n > 0 {
		last, tail = c.items[n-1].end, c.items[n-1].end
		if comma := c.items[n-1].comma; comma >= 0 {
			trailing, tail = true, comma+1
		}
	}
	rest := text[tail:c.close] // white space and comments
	closing := indentAt(text, c.close)
	indent := closing + st.unit
	if len(c.items) > 0 {
		if own, ok := ownLine(text, c.items[len(c.items)-1].start); ok {
			indent = own
		}
	}
	var e edit
	switch newline := bytes.LastIndexByte(rest, '\n'); {
	case newline >= 0: // on lines of their own, behind comments on that of the last one
		if len(c.items) > 0 && !trailing {
			e.insert(last, ",")
		}
		end := st.eol
		if trailing {
			end = "," + st.eol
		}
		e.insert(tail+newline+1, indent+renderAll(items, st, indent, ","+st.eol+indent)+end)
	case len(c.items) > 0:
		if bytes.IndexByte(text[c.open:c.close], '\n') < 0 {
			st = st.inOneLine()
		}
		line := renderAll(items, st, closing, ","+st.gap)
		if trailing {
			e.insert(tail, st.gap+line+",")
		} else { // the comma goes behind comments, too
			e.insert(last+len(bytes.TrimRight(rest, " \t\r")), ","+st.gap+line)
		}
	case st.oneLine:
		e.insert(c.close, renderAll(items, st, closing, ","+st.gap))
	default:
		e.insert(c.close, st.eol+indent+renderAll(items, st, indent, ","+st.eol+indent)+st.eol+closing)
	}
	return e.apply(text)
}

func renderAll(items []node, st style, indent, between string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = item.render(st, indent)
	}
	return strings.Join(parts, between)
}

// remove takes an item out, with its line if it has one of its own, and with
// the comma that it needed.
func (c container) remove(text []byte, i int) []byte {
	s := c.items[i]
	before := c.open + 1 // where what belongs to the item begins
	if i > 0 {
		before = c.items[i-1].comma + 1
	}
	end := s.end
	if s.comma >= 0 && blankOrComma(text[s.end:s.comma]) {
		end = s.comma + 1
	}
	isLast := i == len(c.items)-1
	needed := isLast && s.comma < 0 && i > 0 // the comma before it

	var e edit
	start := before + bytes.LastIndexByte(text[before:s.start], '\n') + 1
	eol := eolAt(text, end)
	switch {
	case start > before && blankOrComma(text[start:s.start]) && eol > 0:
		if needed {
			e.delete(before-1, before)
		}
		e.delete(start, end+eol)
	case needed && blankOrComma(text[before:s.start]):
		e.delete(before-1, end)
	case needed:
		e.delete(before-1, before)
		e.delete(s.start, end)
	case i == 0 && !isLast: // up to the next one, unless comments are in between
		next := c.items[i+1].start
		if end == s.end || !blankOrComma(text[end:next]) {
			next = end
		}
		e.delete(s.start, next)
	case i > 0 && blankOrComma(text[before:s.start]):
		e.delete(before, end)
	default:
		e.delete(s.start, end)
	}
	if s.comma >= 0 && end == s.end { // a comment stands between the item and its comma
		e.delete(s.comma, s.comma+1)
	}
	if len(c.items) == 1 && c.bare(text) {
		e = edit{}
		e.delete(c.open+1, c.close)
	}
	return e.apply(text)
}

// eolAt returns the length of the line end at an offset, 0 if there is none.
func eolAt(text []byte, at int) int {
	switch rest := text[at:]; {
	case bytes.HasPrefix(rest, []byte("\r\n")):
		return 2
	case bytes.HasPrefix(rest, []byte("\n")):
		return 1
	}
	return 0
}

// indentAt returns the white space with which the line at an offset begins.
func indentAt(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	line = trimBOM(line)
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine returns the indentation at an offset, if nothing but that is before
// it on its line.
func ownLine(text []byte, at int) (indent string, ok bool) {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	if start == 0 || len(bytes.Trim(text[start:at], " \t")) > 0 {
		return "", false
	}
	return string(text[start:at]), true
}
