package wait

import (
	"os"
	"strconv"
	"sync/atomic"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
)

// pidfdOpen is a variable so that a test can be without.
var pidfdOpen = linux.PidfdOpen

// process is one whose end the kernel tells. A nil one is none.
type process struct {
	pid, start string
	file       *os.File
	gone       atomic.Bool
}

// watch calls ended when the process of a record has ended. It is nil if the
// kernel does not tell: the process may be gone.
func watch(r *fsstore.Record, ended func()) *process {
	pid, err := strconv.ParseInt(r.PID, 10, 32)
	if err != nil {
		return nil
	}
	fd, err := pidfdOpen(int(pid))
	if err != nil {
		return nil
	}
	p := &process{pid: r.PID, start: r.ProcessStart, file: os.NewFile(uintptr(fd), "pidfd")}
	conn, err := p.file.SyscallConn()
	if err != nil {
		p.file.Close()
		return nil
	}
	go func() {
		// The runtime's poller waits: a thousand waits need no thousand threads.
		err := conn.Read(func(fd uintptr) bool {
			gone, err := linux.FD(fd).PollIn(0)
			return gone || err != nil
		})
		if err == nil { // else it was closed
			p.gone.Store(true)
			ended()
		}
	}()
	return p
}

// of reports whether p is the process of a record.
func (p *process) of(r *fsstore.Record) bool {
	return p != nil && p.pid == r.PID && p.start == r.ProcessStart
}

func (p *process) close() {
	if p != nil {
		p.file.Close()
	}
}
