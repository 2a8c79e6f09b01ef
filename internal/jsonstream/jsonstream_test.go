package jsonstream

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// scanners returns a scanner of text in memory and one of a stream that comes
// a few bytes at a time.
func scanners(text string) map[string]*Scanner {
	return map[string]*Scanner{
		"bytes":  NewBytes([]byte(text)),
		"stream": NewReader(iotest.OneByteReader(strings.NewReader(text)).Read, make([]byte, 16)),
	}
}

func TestText(t *testing.T) {
	tests := []struct {
		name, json string
		limit      int
		want       string
		flaws      Flaws
	}{
		{"plain", `"abc"`, 10, "abc", 0},
		{"empty", `""`, 0, "", 0},
		{"exactly the limit", `"abc"`, 3, "abc", 0},
		{"cut", `"abcdef"`, 3, "abc", Cut},
		{"cut between characters", `"aéé"`, 4, "aé", Cut},
		{"cut before an escaped quote", `"ab\"c\"d"`, 2, "ab", Cut},
		{"escapes", `"\"\\\/\b\f\n\r\té"`, 99, "\"\\/\b\f\n\r\té", 0},
		{"pair", `"\ud83d\ude00"`, 99, "😀", 0},
		{"lone first half", `"\ud83dx"`, 99, "\ufffdx", Surrogate},
		{"lone first half at the end", `"\ud83d"`, 99, "\ufffd", Surrogate},
		{"lone second half", `"\ude00"`, 99, "\ufffd", Surrogate},
		{"first half twice", `"\ud83d\ud83d\ude00"`, 99, "\ufffd😀", Surrogate},
		{"first half and another escape", `"\ud83d\n"`, 99, "\ufffd\n", Surrogate},
		{"escaped NUL", `"a\u0000b"`, 99, "ab", HasNUL},
		{"no UTF-8", "\"a\xff\xfeb\"", 99, "a\ufffd\ufffdb", Malformed},
		{"U+FFFD itself", `"�"`, 99, "\ufffd", 0},
		{"long", `"` + strings.Repeat("long é \\n", 5000) + `"`, 1 << 20, strings.Repeat("long é \n", 5000), 0},
	}
	for _, tt := range tests {
		for kind, s := range scanners(tt.json) {
			got, flaws, err := s.Text(nil, tt.limit)
			if err != nil || string(got) != tt.want || flaws != tt.flaws {
				t.Errorf("%s, %s: Text = %q, %b, %v; want %q, %b", tt.name, kind, got, flaws, err, tt.want, tt.flaws)
			}
			if err := s.End(); err != nil {
				t.Errorf("%s, %s: End = %v: the string was not read to its end", tt.name, kind, err)
			}
		}
	}
}

func TestControlCharacters(t *testing.T) {
	const text = "\"a\nb\x00\""
	if _, _, err := NewBytes([]byte(text)).Text(nil, 9); err != ErrSyntax {
		t.Errorf("in memory: %v, want ErrSyntax", err)
	}
	if err := NewBytes([]byte(text)).Skip(); err != ErrSyntax {
		t.Errorf("in memory, skipped: %v, want ErrSyntax", err)
	}
	got, flaws, err := NewReader(strings.NewReader(text).Read, make([]byte, 99)).Text(nil, 9)
	if err != nil || string(got) != "a\nb" || flaws != HasNUL {
		t.Errorf("stream: %q, %b, %v", got, flaws, err)
	}
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "7 ": 7, "-12,": -12,
		"9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63,
	} {
		for kind, s := range scanners(text) {
			if got, err := s.Int(); got != want || err != nil {
				t.Errorf("%s: Int(%q) = %d, %v", kind, text, got, err)
			}
		}
	}
	for text, want := range map[string]error{
		"9223372036854775808": ErrType, "-9223372036854775809": ErrType, "99999999999999999999": ErrType,
		"1.5": ErrType, "1e3": ErrType, `"1"`: ErrType, "null": ErrType, "true": ErrType,
		"01": ErrSyntax, "-": io.ErrUnexpectedEOF, "-x": ErrSyntax, "": io.ErrUnexpectedEOF, "+1": ErrSyntax,
	} {
		for kind, s := range scanners(text) {
			if got, err := s.Int(); err != want {
				t.Errorf("%s: Int(%q) = %d, %v; want %v", kind, text, got, err, want)
			}
		}
	}
}

// Skip accepts what encoding/json calls valid and nothing else.
func TestSkipGrammar(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{"a":1}`, `[1,2,[3,{"b":[]}]]`, ` { "a" : [ ] , "b" : { } } `, `"x"`, `-0.5e+7`, `0`, `true`, `null`,
		`{"a":"\"}"}`, `["\\","\\\"","é€"]`, "\"\\n" + strings.Repeat("\\\\x", 400) + "\"",
		`{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a" 1}`, `{1:2}`, `{"a":1 "b":2}`,
		`}`, `]`, `[}`, `{]`, `[1}`, `{"a":1]`, `tru`, `nul`, `truex`, `01`, `1.`, `.5`, `1e`, `1e+`, `-`, `--1`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, ``, ` `,
	} {
		want := json.Valid([]byte(text))
		for kind, s := range scanners(text) {
			err := s.Skip()
			if err == nil {
				err = s.End()
			}
			if (err == nil) != want {
				t.Errorf("%s: Skip(%q) = %v; valid is %t", kind, text, err, want)
			}
		}
	}
}

func TestSkipDepth(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2) }
	if err := NewBytes([]byte(deep(maxDepth))).Skip(); err != nil {
		t.Errorf("depth %d: %v", maxDepth, err)
	}
	if err := NewBytes([]byte(deep(maxDepth + 2))).Skip(); err != ErrSyntax {
		t.Errorf("depth %d: %v, want ErrSyntax", maxDepth+2, err)
	}
}

func TestObject(t *testing.T) {
	const text = ` {"a": 1, "b\n": "x", "c": null, "d": [true, false], "` + "e" + `": {"deep": []}} `
	for kind, s := range scanners(text) {
		var got []string
		err := s.Object(func(key []byte) error {
			got = append(got, string(key))
			switch string(key) {
			case "a":
				n, err := s.Int()
				if n != 1 {
					t.Errorf("%s: a = %d", kind, n)
				}
				return err
			case "c":
				null, err := s.Null()
				if !null {
					t.Errorf("%s: c is not null", kind)
				}
				return err
			case "d":
				return s.Array(func() error { _, err := s.Bool(); return err })
			}
			return s.Skip()
		})
		if want := "a b\n c d e"; err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: keys %q, %v; want %q", kind, got, err, want)
		}
	}
}

// A key of a stream that is flawed or too long is the empty key.
func TestLimitKeys(t *testing.T) {
	long := strings.Repeat("k", 64)
	tests := []struct {
		max  int // 0: not said
		text string
		want string
	}{
		{0, `{"` + long + `":1}`, long},
		{0, `{"` + long + `k":1}`, ""},
		{0, `{"a\u0000":1}`, ""},
		{65, `{"` + long + `k":1}`, long + "k"},
		{65, `{"` + long + `kk":1}`, ""},
		{65, `{"a\u0000":1}`, ""},
		{3, `{"\u20ac":1}`, "€"},
		{2, `{"\u20ac":1}`, ""},
	}
	for _, tt := range tests {
		s := NewReader(strings.NewReader(tt.text).Read, make([]byte, 16))
		if tt.max > 0 {
			s.LimitKeys(tt.max)
		}
		err := s.Object(func(key []byte) error {
			if string(key) != tt.want {
				t.Errorf("%s, at most %d: got %q, want %q", tt.text, tt.max, key, tt.want)
			}
			return s.Skip()
		})
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}

func TestObjectOfAnotherType(t *testing.T) {
	for _, text := range []string{`[]`, `"x"`, `1`, `null`} {
		if err := NewBytes([]byte(text)).Object(nil); err != ErrType {
			t.Errorf("Object of %s: %v", text, err)
		}
	}
}

// Reading stops at the end of the value: what follows is never asked for.
func TestStopsAtTheEnd(t *testing.T) {
	for _, text := range []string{`{"a":"\ud83d"}`, `{"a":{}}`, `[1]`, `{"a":"x"}`} {
		r := strings.NewReader(text)
		s := NewReader(func(p []byte) (int, error) {
			if r.Len() == 0 {
				t.Errorf("read after the end of %s", text)
			}
			return iotest.OneByteReader(r).Read(p)
		}, make([]byte, 16))
		var err error
		if text[0] == '{' {
			err = s.Object(func([]byte) error {
				if k, _ := s.Peek(); k == String {
					_, _, err := s.Text(nil, 99)
					return err
				}
				return s.Skip()
			})
		} else {
			err = s.Skip()
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRaw(t *testing.T) {
	s := NewBytes([]byte(`{"a": {"b": [1, 2]} ,"c":1}`))
	err := s.Object(func(key []byte) error {
		raw, err := s.Raw()
		if string(key) == "a" && string(raw) != `{"b": [1, 2]}` {
			t.Errorf("Raw = %s", raw)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 😀":      `"plain é 😀"`,
		"\"\\\n\r\t\b\f": `"\"\\\n\r\t\b\f"`,
		"\x00\x1b[31m":   `"\u0000\u001b[31m"`,
		"\u0085\u009b":   `"\u0085\u009b"`,
		"\x7f":           `"\u007f"`,
		"a\u2028b\u202e": `"a\u2028b\u202e"`,
		"a\xffb":         `"a\ufffdb"`,
		"":               `""`,
	} {
		got := AppendString(nil, in)
		if string(got) != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != strings.ToValidUTF8(in, "\ufffd") {
			t.Errorf("AppendString(%q) reads back as %q, %v", in, back, err)
		}
	}
}

// A 16 MiB string is skipped in the memory of the buffer.
func TestSkipAllocatesNothing(t *testing.T) {
	payload := []byte(`{"x":"` + strings.Repeat(`0123456789 \n`, 1<<16) + `"}`)
	buf := make([]byte, 64<<10)
	n := testing.AllocsPerRun(5, func() {
		s := NewReader(bytes.NewReader(payload).Read, buf)
		if err := s.Skip(); err != nil {
			t.Fatal(err)
		}
	})
	if n > 3 {
		t.Errorf("%.0f allocations", n)
	}
}

func BenchmarkSkip(b *testing.B) {
	for name, text := range map[string]string{
		"base64":  `{"x":"` + strings.Repeat(`0123456789abcdef`, 1<<16) + `"}`,
		"escapes": `{"x":"` + strings.Repeat(`a line of a file\n\t\"quoted\"\n`, 1<<15) + `"}`,
		"objects": `[` + strings.Repeat(`{"type":"text","n":12.5,"ok":true},`, 1<<15) + `0]`,
	} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 64<<10)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := NewReader(strings.NewReader(text).Read, buf).Skip(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
