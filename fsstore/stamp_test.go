package fsstore

import (
	"fmt"
	"testing"
	"time"
)

// TestBoots: what is written is read, the latest ones of many.
func TestBoots(t *testing.T) {
	s, path := openStore(t)
	if boots, at := s.Boots(); len(boots) > 0 || !at.IsZero() {
		t.Errorf("before: got %v of %v", boots, at)
	}
	var want []Boot
	for i := range 40 {
		want = append(want, Boot{fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), time.Unix(1700000000+int64(i), 0).UTC()})
	}
	if err := s.SetBoots(want, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.SyncBoots(); err != nil {
		t.Error(err)
	}
	want = want[8:]
	got, at := s.Boots()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if age := time.Since(at); age < -time.Second || age > patience {
		t.Errorf("written %v ago", age)
	}
	checkNoTemp(t, path)
}

// TestStamp: the time of the stamp is that of its file, and its text the boot,
// if it is one.
func TestStamp(t *testing.T) {
	s, path := openStore(t)
	file := path + "/sessions/.fleet-maintenance.stamp"
	if got := s.Stamp(); !got.Time.IsZero() || got.BootID != "" {
		t.Errorf("before: got %+v", got)
	}
	for _, boot := range []string{"", "4d1ca1ef-0d7b-4c3a-9a0c-5b0a7d1d6f10", "4d1ca1ef-0d7b-4c3a-9a0c-5b0a7d1d6f10", "other"} {
		before := time.Now().Add(-time.Second)
		if err := s.SetStamp(boot); err != nil {
			t.Fatal(err)
		}
		if got := s.Stamp(); got.BootID != boot || got.Time.Before(before) || got.Time.After(time.Now().Add(time.Second)) {
			t.Errorf("boot %q: got %+v", boot, got)
		}
	}
	for _, text := range []string{"two\nlines\n", "ünï", "a b", "../x", string(make([]byte, 100))} {
		writeText(t, file, text)
		if got := s.Stamp(); got.BootID != "" || got.Time.IsZero() {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

// A stamp of another user says nothing.
func TestForeignStamp(t *testing.T) {
	if !isolated(t) {
		return
	}
	s, path := openStore(t)
	file := path + "/sessions/.fleet-maintenance.stamp"
	writeText(t, file, "")
	makeForeign(t, file)
	if got := s.Stamp(); !got.Time.IsZero() {
		t.Errorf("got %+v, want none", got)
	}
}
