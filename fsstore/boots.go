package fsstore

import (
	"time"

	"tongs-agents/linux"
)

// BootsBefore is Boots with what the stamp of the last maintenance adds: if it
// was made in another boot than the one here, that one was still up then.
func (s *Store) BootsBefore(here string, stamp Stamp, now time.Time) []Boot {
	known, _ := s.Boots()
	id := stamp.BootID
	if id == "" && len(known) > 0 { // another program's stamp has no boot id
		id = known[len(known)-1].ID
		if booted := now.Add(-time.Duration(linux.Boottime())); stamp.Time.After(booted) {
			id = here
		}
	}
	if id == "" || id == here {
		return known
	}
	return WithBoot(known, id, stamp.Time, now)
}

// WithBoot sets the last time of a boot, and makes it the latest if it is new.
func WithBoot(known []Boot, id string, last, now time.Time) []Boot {
	if last.After(now) {
		last = now // by a clock that was wrong
	}
	for i := range known {
		if known[i].ID == id {
			if last.After(known[i].Last) {
				known[i].Last = last
			}
			return known
		}
	}
	return append(known, Boot{ID: id, Last: last})
}

// LastUp is when a boot was last known to be up: now if it is the one here, or
// if nothing is known of it.
func LastUp(known []Boot, id, here string, now time.Time) time.Time {
	for _, b := range known {
		if b.ID == id && id != here {
			return b.Last
		}
	}
	return now
}
