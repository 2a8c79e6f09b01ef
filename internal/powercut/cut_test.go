//go:build !(386 || arm)

package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestImage(t *testing.T) {
	const size = 3 * blockSize
	m, want := image{}, make([]byte, size)
	for _, w := range []struct {
		offset int64
		text   string
	}{{0, "begin"}, {blockSize - 2, "across"}, {100, "within"}, {102, "over"}, {size - 3, "end"}} {
		m.writeAt([]byte(w.text), w.offset)
		copy(want[w.offset:], w.text)
	}
	got := bytes.Repeat([]byte{'x'}, size)
	m.readAt(got, 0)
	if !bytes.Equal(got, want) {
		t.Error("the image is not what was written")
	}
	part := make([]byte, 10)
	if m.readAt(part, blockSize-5); !bytes.Equal(part, want[blockSize-5:blockSize+5]) {
		t.Errorf("got %q", part)
	}
}

func TestAfter(t *testing.T) {
	log := []entry{
		{0, []byte("a")}, {}, {blockSize, []byte("b")}, {0, []byte("A")}, {}, {2 * blockSize, bytes.Repeat([]byte("c"), 2*blockSize)},
	}
	none := func() bool { return false }
	first := true
	one := func() bool { first = !first; return !first }
	for _, tt := range []struct {
		name string
		cut  cut
		want string // the first byte of each block
	}{
		{"nothing yet", cut{0, all}, "...."},
		{"written, not flushed, lost", cut{1, none}, "...."},
		{"flushed", cut{2, none}, "a..."},
		{"flushed before", cut{4, none}, "a..."},
		{"kept", cut{4, all}, "Ab.."},
		{"flushed twice", cut{5, none}, "Ab.."},
		{"half of a write", cut{6, one}, "Abc."},
	} {
		base := image{}
		left := after(base, log, tt.cut)
		got := make([]byte, 4*blockSize)
		left.readAt(got, 0)
		for i := range tt.want {
			if b := got[i*blockSize]; b != tt.want[i] && (b != 0 || tt.want[i] != '.') {
				t.Errorf("%s: block %d is %q, want %q", tt.name, i, b, tt.want[i])
			}
		}
		if len(base) != 0 {
			t.Errorf("%s: the base has changed", tt.name)
		}
	}
}

// TestHistory: a promise holds until the command before the one that changed
// the entry.
func TestHistory(t *testing.T) {
	state := t.TempDir()
	const entry, record = "resumable/e.json", "sessions/r.json"
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(state, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(state, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := &history{files: map[string][]version{}}
	note := func(now int) {
		t.Helper()
		if err := h.note(state, now); err != nil {
			t.Fatal(err)
		}
		if err := h.promise(state, now); err != nil {
			t.Fatal(err)
		}
	}
	write(entry, "one")
	write(record, "r1")
	write(bootsFile, "")
	later, err := os.Stat(filepath.Join(state, entry))
	if err != nil {
		t.Fatal(err)
	}
	durable := func(ahead int) { // in seconds
		t.Helper()
		at := later.ModTime().Add(1e9 * 1)
		if ahead < 0 {
			at = later.ModTime().Add(-1e9)
		}
		if err := os.Chtimes(filepath.Join(state, bootsFile), at, at); err != nil {
			t.Fatal(err)
		}
	}
	durable(-1)
	note(10)
	if len(h.promises) != 0 {
		t.Errorf("promised before it is durable: %v", h.promises)
	}
	durable(1)
	note(20)
	note(30)
	if want := (promise{entry, "one", 20, math.MaxInt}); len(h.promises) != 1 || h.promises[0] != want {
		t.Errorf("got %v, want %v", h.promises, want)
	}
	write(entry, "two")
	write(record, "r2")
	durable(-1)
	note(40)
	if want := (promise{entry, "one", 20, 30}); len(h.promises) != 1 || h.promises[0] != want {
		t.Errorf("changed: got %v, want %v", h.promises, want)
	}
	if got := h.at(record, 39) + h.at(record, 40) + h.at(record, 9); got != "r1r2" {
		t.Errorf("at: got %q", got)
	}
	if !h.had(record, "r1") || h.had(record, "r3") {
		t.Error("had is wrong")
	}
	if v := h.files[record]; !older(v, "r1", "r2") || older(v, "r2", "r1") {
		t.Error("older is wrong")
	}
}
