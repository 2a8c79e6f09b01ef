package fuzz

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"tongs-agents/internal/jsonstream"
)

// stream gives one byte at a time, into a buffer that is as small as it may be.
func stream(text []byte) *jsonstream.Scanner {
	return jsonstream.NewReader(func(p []byte) (int, error) {
		if len(text) == 0 {
			return 0, io.EOF
		}
		p[0] = text[0]
		text = text[1:]
		return 1, nil
	}, make([]byte, 16))
}

// FuzzScanner compares Skip and Text with encoding/json.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		"", " ", "null", "true", "fals", "nul", "0", "-0", "-", "01", "1.", "1.5e+10", "1E-", ".5", "1e400",
		`""`, `"a"`, `"\"\\\/\b\f\n\r\t\u00e9"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83d\n"`, `"\ud83d\ud83d\ude00"`, `"\u00"`, `"\x"`,
		"\"\x00\"", "\"\n\"", "\"\xff\"", "\"\xc3\"", "\"\xe2\x98\x83\"", `"\u0000"`, `"`, `"\`, `"\u`, "\"\u2028\x7f\"",
		"[]", "[1,2]", "[1,]", "[,1]", "[1 2]", "[[[[]]]]", "[", "]", "{}", `{"a":1}`, `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":{"b":[null,true]}}`,
		`{"a":1,"a":2}`, `{1:2}`, `{"a":1 "b":2}`, " { \"a\" : [ 1 , 2 ] } \n", "1 2", "{}{}", "\ufeff1",
		strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		strings.Repeat("[", 10001) + strings.Repeat("]", 10001), `"` + strings.Repeat(`\"`, 50) + `"`,
	} {
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		valid := json.Valid(text)
		if got := skips(jsonstream.NewBytes(text)); got != valid {
			t.Errorf("Skip accepts %q: %v, want %v", text, got, valid)
		}
		// A stream takes control characters in strings as they come.
		controls := bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' })
		if got := skips(stream(text)); got != valid && (valid || !controls) {
			t.Errorf("Skip accepts the stream %q: %v, want %v", text, got, valid)
		}
		pieces(t, text, valid)
		if valid && bytes.HasPrefix(bytes.TrimLeft(text, " \n\t\r"), []byte{'"'}) {
			texts(t, text, limit)
		}
	})
}

func skips(s *jsonstream.Scanner) bool { return s.Skip() == nil && s.End() == nil }

// pieces reads a value member by member, which must come to the same result as
// Skip, and to the same values as encoding/json.
func pieces(t *testing.T, text []byte, valid bool) {
	for name, s := range map[string]*jsonstream.Scanner{"memory": jsonstream.NewBytes(text), "stream": stream(text)} {
		var value func() (any, error)
		value = func() (any, error) {
			kind, err := s.Peek()
			if err != nil {
				return nil, err
			}
			switch kind {
			case jsonstream.Object:
				m := make(map[string]any)
				return m, s.Object(func(key []byte) (err error) {
					k := string(key)
					m[k], err = value()
					return err
				})
			case jsonstream.Array:
				a := []any{}
				return a, s.Array(func() error {
					v, err := value()
					a = append(a, v)
					return err
				})
			case jsonstream.String:
				b, _, err := s.Text(nil, len(text))
				return string(b), err
			case jsonstream.Number:
				return nil, s.Skip()
			case jsonstream.Null:
				_, err := s.Null()
				return nil, err
			}
			return s.Bool()
		}
		v, err := value()
		if err == nil {
			err = s.End()
		}
		// In memory a flawed key is refused; a stream gives it as the empty key.
		if err == nil && name == "memory" && !valid {
			t.Errorf("%s: read %q, which is invalid, as %v", name, text, v)
		}
		if err != nil && valid && name == "stream" {
			t.Errorf("%s: %v of %q, which is valid", name, err, text)
		}
	}
}

// texts compares the string in text.
func texts(t *testing.T, text []byte, limit int) {
	var want string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	nul := strings.Contains(want, "\x00")
	want = strings.ReplaceAll(want, "\x00", "")
	for name, scan := range map[string]func() *jsonstream.Scanner{
		"memory": func() *jsonstream.Scanner { return jsonstream.NewBytes(text) },
		"stream": func() *jsonstream.Scanner { return stream(text) },
	} {
		s := scan()
		got, flaws, err := s.Text([]byte("before "), len(want))
		if err != nil || s.End() != nil {
			t.Errorf("%s: %v of %q", name, err, text)
		}
		// For bytes that are no UTF-8 encoding/json gives U+FFFD too, one for each.
		if string(got) != "before "+want {
			t.Errorf("%s: got %q of %q, want %q", name, got, text, want)
		}
		if (flaws&jsonstream.HasNUL != 0) != nul || flaws&jsonstream.Cut != 0 {
			t.Errorf("%s: flaws %b of %q", name, flaws, text)
		}
		if (flaws&jsonstream.Malformed != 0) != !utf8.Valid(text) {
			t.Errorf("%s: flaws %b of %q, which is UTF-8: %v", name, flaws, text, utf8.Valid(text))
		}
		if flaws&jsonstream.Surrogate != 0 && !strings.Contains(want, "\ufffd") {
			t.Errorf("%s: flaws %b of %q without U+FFFD", name, flaws, text)
		}
		if !utf8.Valid(got) {
			t.Errorf("%s: %q is no UTF-8", name, got)
		}

		if limit < 0 {
			continue
		}
		s = scan()
		cut, flaws, err := s.Text(nil, limit)
		if err != nil || s.End() != nil {
			t.Errorf("%s: %v of %q, cut at %d", name, err, text, limit)
		}
		if len(cut) > limit || !strings.HasPrefix(want, string(cut)) || !utf8.Valid(cut) {
			t.Errorf("%s: got %q of %q, cut at %d", name, cut, text, limit)
		}
		if isCut := flaws&jsonstream.Cut != 0; isCut != (len(cut) < len(want)) || isCut && limit-len(cut) >= utf8.UTFMax {
			t.Errorf("%s: got %q, flaws %b of %q, cut at %d", name, cut, flaws, text, limit)
		}
	}
}
