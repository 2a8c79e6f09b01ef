package fuzz

import (
	"bytes"
	stdlib "crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"tongs-agents/fsstore"
	"tongs-agents/internal/jsonstream"
	"tongs-agents/internal/sha256"
)

// FuzzKey compares the tuple that names a record, and its digest, with what
// the standard library makes.
func FuzzKey(f *testing.F) {
	f.Add("claude", "5b0c1a1e-7d2e-4e0a-9a83-0f3b1ad5a111", "4242:81868")
	f.Add("pi", "../../outside/\u2603", "unresolved")
	f.Add("", "<b>&amp;\"quoted\" \\ back/slash", "tab\tnewline\ncr\rbs\bff\f")
	f.Add("ctl\x00\x01\x1f\x7f", "line\u2028para\u2029", `\u2028 \\u2029`)
	f.Add("😀 emoji é", "e\u0301 decomposed", strings.Repeat("x", 200))
	f.Add("\xff", "\xed\xa0\x80", "\xc3")
	f.Fuzz(func(t *testing.T, harness, session, instance string) {
		parts := []string{harness, session, instance}
		tuple := []byte{'['}
		for i, part := range parts {
			if i > 0 {
				tuple = append(tuple, ',')
			}
			tuple = jsonstream.AppendMinimal(tuple, part)
		}
		tuple = append(tuple, ']')
		if utf8.ValidString(harness) && utf8.ValidString(session) && utf8.ValidString(instance) {
			if want := minimal(t, parts); !bytes.Equal(tuple, want) {
				t.Errorf("AppendMinimal\n got %q\nwant %q", tuple, want)
			}
		}
		var back []string
		if err := json.Unmarshal(tuple, &back); err != nil || len(back) != 3 {
			t.Errorf("%q: %q, %v", tuple, back, err)
		}

		sum := stdlib.Sum256(tuple)
		want := hex.EncodeToString(sum[:])
		if got := sha256.Hex(tuple); got != want {
			t.Errorf("digest of %q: got %s, want %s", tuple, got, want)
		}
		id := fsstore.Key{Harness: harness, Session: session, Instance: instance}.CanonicalID()
		if id != "fleet:v1:"+harness+":"+want {
			t.Errorf("canonical id of %q: got %q, want the digest %s", parts, id, want)
		}
	})
}

// minimal is compact JSON of encoding/json, with the escapes undone that it
// makes for the sake of JavaScript.
func minimal(t *testing.T, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	var out []byte
	for i := 0; i < len(text); i++ {
		switch {
		case bytes.HasPrefix(text[i:], []byte(`\u2028`)):
			out = append(out, "\u2028"...)
			i += len(`\u2028`) - 1
		case bytes.HasPrefix(text[i:], []byte(`\u2029`)):
			out = append(out, "\u2029"...)
			i += len(`\u2029`) - 1
		case text[i] == '\\':
			out = append(out, text[i], text[i+1])
			i++
		default:
			out = append(out, text[i])
		}
	}
	return out
}
