package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// sampled is a process that is to take no more and more.
type sampled struct {
	name        string
	pid         int
	memory      []int // KiB that are resident
	descriptors []int
}

// shortestFlat is the least time in which memory says anything: the first
// seconds are all warm-up.
const shortestFlat = 30 * time.Second

// sampleEvery is how often.
const sampleEvery = 100 * time.Millisecond

func (m *many) sampleOn(all []*sampled) error {
	for every := time.NewTicker(sampleEvery); ; {
		select {
		case <-m.time.Done():
			return nil
		case <-every.C:
		}
		for _, s := range all {
			if err := s.take(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
}

func (s *sampled) take() error {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib := 0
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return fmt.Errorf("no VmRSS: %w", err)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
	if err != nil {
		return err
	}
	s.memory, s.descriptors = append(s.memory, kib), append(s.descriptors, len(files))
	return nil
}

// settle takes more samples until there are as few descriptors as there were in
// the middle of the time, or for 10 seconds: on a busy machine one maintenance
// may have followed another until now.
func (s *sampled) settle() error {
	third := len(s.descriptors) / 3
	if third == 0 {
		return nil
	}
	before := slices.Min(s.descriptors[third : 2*third])
	deadline := time.Now().Add(10 * time.Second)
	for slices.Min(s.descriptors[2*third:]) > before && time.Now().Before(deadline) {
		time.Sleep(sampleEvery)
		if err := s.take(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// checkFlat compares the last third of the time with the second one; the first
// is for warming up.
//
// Of descriptors it is the fewest, since a run of the maintenance has some for a
// moment: not one more is allowed. Memory is that of a garbage collector, which
// lets the heap double before it collects, and which gives pages back late: its
// median may be an eighth and 4 MiB more. A leak of some hundred bytes for each
// event takes longer to show.
func (m *many) checkFlat(s *sampled) {
	third := len(s.memory) / 3
	if third == 0 {
		m.memory.fail("%s: %d samples", s.name, len(s.memory))
		return
	}
	m.memory.seen(len(s.memory))
	m.descriptors.seen(len(s.descriptors))
	before, after := median(s.memory[third:2*third]), median(s.memory[2*third:])
	fmt.Printf("%s: %.1f MiB, at the end %.1f", s.name, mib(before), mib(after))
	if after > before+before/8+4<<10 {
		m.memory.fail("%s has come from %.1f MiB to %.1f", s.name, mib(before), mib(after))
	}
	before, after = slices.Min(s.descriptors[third:2*third]), slices.Min(s.descriptors[2*third:])
	fmt.Printf("; %d descriptors, at the end %d\n", before, after)
	if after > before {
		m.descriptors.fail("%s has come from %d to %d", s.name, before, after)
	}
}

func mib(kib int) float64 { return float64(kib) / (1 << 10) }

func median(of []int) int { return slices.Sorted(slices.Values(of))[len(of)/2] }
