package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

var bom = []byte("\xef\xbb\xbf")

// parse reads settings: JSON, maybe with comments, trailing commas and a byte
// order mark. Offsets in the value are those in the text.
func parse(text []byte) (*hujson.Value, error) {
	if line := tooDeep(text); line > 0 {
		return nil, fmt.Errorf("line %d: nested too deeply", line)
	}
	readable := bytes.Clone(text)
	if bytes.Contains(text[bytes.LastIndexByte(text, '\n')+1:], []byte("//")) {
		readable = append(readable, '\n') // a comment may end with the file
	}
	if bytes.HasPrefix(text, bom) {
		copy(readable, "   ")
	}
	v, err := hujson.Parse(readable)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return &v, nil
}

// tooDeep returns the line where brackets are nested so deeply that a parser
// that recurses could use up the stack, which nothing survives.
func tooDeep(text []byte) (line int) {
	const deepest = 10_000
	depth, line := 0, 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			line++
		case '[', '{':
			if depth++; depth > deepest {
				return line
			}
		case ']', '}':
			depth--
		case '"': // to its end, or that of the text
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			n := 0
			switch rest := text[i:]; {
			case bytes.HasPrefix(rest, []byte("//")):
				n = bytes.IndexByte(rest, '\n')
			case bytes.HasPrefix(rest, []byte("/*")):
				if n = bytes.Index(rest[2:], []byte("*/")); n > 0 {
					n += 2
				}
				line += bytes.Count(rest[:max(n, 0)], []byte("\n"))
			}
			if n < 0 {
				return 0
			}
			i += max(n-1, 0)
		}
	}
	return 0
}

// trimBOM returns a text without its byte order mark.
func trimBOM(text []byte) []byte { return bytes.TrimPrefix(text, bom) }

// markOf returns the byte order mark of a text, if it has one.
func markOf(text []byte) []byte {
	return bytes.Clone(text[:len(text)-len(trimBOM(text))])
}

// blank reports whether there is nothing in a text but white space.
func blank(text []byte) bool {
	return len(bytes.TrimSpace(trimBOM(text))) == 0
}

// errTwice is the error for a name that is there twice: which one counts is up
// to the parser.
type errTwice string

func (name errTwice) Error() string { return fmt.Sprintf("%q is there twice", string(name)) }

// member returns the member of an object, or nil.
func member(object *hujson.Object, name string) (*hujson.ObjectMember, error) {
	var found *hujson.ObjectMember
	for i := range object.Members {
		if literal(object.Members[i].Name) != name {
			continue
		}
		if found != nil {
			return nil, errTwice(name)
		}
		found = &object.Members[i]
	}
	return found, nil
}

// literal returns the text of a string, and of any other literal its JSON.
func literal(v hujson.Value) string {
	l, _ := v.Value.(hujson.Literal)
	return l.String()
}

// isText reports whether a value is a string.
func isText(v hujson.Value) bool { return v.Value.Kind() == '"' }

// kindName says what a value is.
func kindName(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a text"
	case '0':
		return "a number"
	}
	return literal(v)
}
