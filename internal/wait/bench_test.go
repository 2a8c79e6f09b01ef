package wait

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// BenchmarkWaiters writes to a store of 30 sessions for which many wait, and
// reports the CPU time that a write costs each of them. Beyond the user's
// inotify(7) instances they poll.
func BenchmarkWaiters(b *testing.B) {
	for _, waiters := range []int{100, 1000} {
		b.Run(fmt.Sprint(waiters), func(b *testing.B) {
			w := newWorld(b)
			me, err := proc.Root.Process(os.Getpid())
			if err != nil {
				b.Fatal(err)
			}
			session := func(i int) string { return fmt.Sprint("session-", i%30) }
			write := func(i int) { w.put(session(i), fsstore.Running, in(me.PID, me.Start)) }
			for i := range 30 {
				write(i)
			}
			ctx, cancel := context.WithCancel(b.Context())
			var all sync.WaitGroup
			for i := range waiters {
				all.Go(func() { Run(ctx, w.dir, Request{Queries: []string{session(i)}}) })
			}
			time.Sleep(5 * time.Second) // until all have begun
			begin := cpuTime()
			for i := 0; b.Loop(); i++ {
				write(i)
				time.Sleep(100 * time.Millisecond)
			}
			b.ReportMetric(float64(cpuTime()-begin)/float64(b.N*waiters), "cpu-ns/waiter/op")
			cancel()
			all.Wait()
		})
	}
}

func cpuTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
