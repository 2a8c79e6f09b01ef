package sha256

import (
	"bytes"
	stdlib "crypto/sha256"
	"encoding/hex"
	"testing"
)

func TestSum(t *testing.T) {
	text := bytes.Repeat([]byte("tongs \x00\xff"), 40)
	for n := range len(text) + 1 {
		want := stdlib.Sum256(text[:n])
		if got := Sum(text[:n]); got != want {
			t.Errorf("Sum of %d bytes = %x, want %x", n, got, want)
		}
		if got := Hex(text[:n]); got != hex.EncodeToString(want[:]) {
			t.Errorf("Hex of %d bytes = %s, want %x", n, got, want)
		}
	}
}

func BenchmarkHex(b *testing.B) {
	text := []byte(`["claude","5b0c1a1e-7d2e-4e0a-9a83-0f3b1ad5a111","4242:81868"]`)
	for b.Loop() {
		Hex(text)
	}
}
