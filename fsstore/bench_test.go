package fsstore

import (
	"fmt"
	"testing"
	"time"
)

func BenchmarkDecode(b *testing.B) {
	text := complete().AppendJSON(nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	r := complete()
	space := make([]byte, 0, MaxRecord)
	b.SetBytes(int64(len(r.AppendJSON(nil))))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.encode(space); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	s, _ := openStore(b)
	key := simple("s").Key
	update(b, s, key, to(simple("s")))
	b.ReportAllocs()
	for b.Loop() {
		update(b, s, key, func(old *Record) (*Record, error) {
			r := *old
			r.Status = Idle
			return &r, nil
		})
	}
}

func BenchmarkAll(b *testing.B) {
	const count = 1000
	s, path := openStore(b)
	for i := range count {
		r := complete()
		r.Session = fmt.Sprint(i)
		r.TS = time.Now().Unix()
		put(b, path, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		records, bad, err := s.All()
		if len(records) != count || len(bad) != 0 || err != nil {
			b.Fatal(len(records), bad, err)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	key := Key{"claude", "5b0c1a1e-7d2e-4e0a-9a83-0f3b1ad5a111", "4242:81868"}
	b.ReportAllocs()
	for b.Loop() {
		key.CanonicalID()
	}
}
