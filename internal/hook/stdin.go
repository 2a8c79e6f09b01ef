package hook

import (
	"errors"
	"time"

	"tongs-agents/internal/jsonstream"
	"tongs-agents/linux"
)

// Patience with whoever writes the payload.
const (
	silence  = time.Second     // without a byte
	overall  = 5 * time.Second // from the first read to the end
	readSize = 64 << 10        // what a pipe holds, see pipe(7)
)

var (
	errSilent = errors.New("standard input: no byte for 1 s")
	errSlow   = errors.New("standard input: no whole payload in 5 s")
)

// input is standard input and what is read of it. Of static memory only the
// pages that a payload fills are ever touched.
var input struct {
	stdin
	jsonstream.Scanner
	space [readSize]byte
}

// openInput returns a scanner of a descriptor. There is one at a time.
func openInput(fd linux.FD) *jsonstream.Scanner {
	input.stdin = stdin{fd: fd}
	input.Scanner = *jsonstream.NewReader(input.stdin.Read, input.space[:])
	return &input.Scanner
}

// stdin reads a descriptor with bounded patience. It may be anything: a pipe
// that nobody closes, a file, a socket, nothing.
type stdin struct {
	fd    linux.FD
	until time.Time
}

func (s *stdin) Read(p []byte) (int, error) {
	if s.until.IsZero() {
		s.until = time.Now().Add(overall)
	}
	left := time.Until(s.until)
	if left <= 0 {
		return 0, errSlow
	}
	ready, err := s.fd.PollIn(min(left, silence))
	switch {
	case err != nil:
		return 0, err
	case !ready && left < silence:
		return 0, errSlow
	case !ready:
		return 0, errSilent
	}
	return s.fd.Read(p)
}
