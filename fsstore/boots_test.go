package fsstore

import (
	"testing"
	"time"

	"tongs-agents/linux"
)

func TestLastUp(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	up := time.Duration(linux.Boottime()).Truncate(time.Second) // a stamp before that is of an earlier boot
	at := func(ago time.Duration) time.Time { return now.Add(-up - ago) }
	const hour = time.Hour
	for _, test := range []struct {
		name  string
		boots []Boot
		stamp Stamp
		id    string
		want  time.Time
	}{
		{"nothing known", nil, Stamp{}, "a", now},
		{"no boot recorded", []Boot{{"a", at(9 * hour)}}, Stamp{}, "", now},
		{"this boot", []Boot{{"here", at(9 * hour)}}, Stamp{"here", at(hour)}, "here", now},
		{"an earlier boot", []Boot{{"a", at(9 * hour)}, {"here", at(5 * hour)}}, Stamp{"here", at(hour)}, "a", at(9 * hour)},
		{"its stamp is later", []Boot{{"a", at(9 * hour)}}, Stamp{"a", at(8 * hour)}, "a", at(8 * hour)},
		{"its stamp is earlier", []Boot{{"a", at(8 * hour)}}, Stamp{"a", at(9 * hour)}, "a", at(8 * hour)},
		{"the stamp alone", nil, Stamp{"a", at(8 * hour)}, "a", at(8 * hour)},
		{"another program's stamp", []Boot{{"b", at(20 * hour)}, {"a", at(9 * hour)}}, Stamp{"", at(8 * hour)}, "a", at(8 * hour)},
		{"no stamp", []Boot{{"a", at(9 * hour)}}, Stamp{}, "a", at(9 * hour)},
		{"a stamp ahead", nil, Stamp{"a", now.Add(hour)}, "a", now},
	} {
		s, _ := openStore(t)
		if test.boots != nil {
			if err := s.SetBoots(test.boots, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		got := LastUp(s.BootsBefore("here", test.stamp, now), test.id, "here", now)
		if !got.Equal(test.want) {
			t.Errorf("%s: last up %v, want %v", test.name, got, test.want)
		}
	}
}
