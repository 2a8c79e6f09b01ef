package scan

import (
	"strconv"
	"time"

	"github.com/prometheus/procfs"
	"github.com/tklauser/go-sysconf"

	"tongs-agents/proc"
)

// StartedAt returns the time at which a process started, of the clock ticks
// in its stat.
func StartedAt(start string) (time.Time, error) {
	boot, err := bootTime(proc.Root)
	if err != nil {
		return time.Time{}, err
	}
	return boot.add(start)
}

// setStartedAt leaves the times zero where the boot time cannot be read.
func setStartedAt(root proc.FS, found []Found) {
	if len(found) == 0 {
		return
	}
	boot, err := bootTime(root)
	if err != nil {
		return
	}
	for i := range found {
		found[i].StartedAt, _ = boot.add(found[i].Start)
	}
}

// boot is when the machine started, in whole seconds, and the length of a
// clock tick.
type boot struct {
	at   time.Time
	tick time.Duration
}

func bootTime(root proc.FS) (boot, error) {
	mount, err := procfs.NewFS(string(root))
	if err != nil {
		return boot{}, err
	}
	stat, err := mount.Stat()
	if err != nil {
		return boot{}, err
	}
	perSecond, err := sysconf.Sysconf(sysconf.SC_CLK_TCK)
	if err != nil {
		return boot{}, err
	}
	return boot{time.Unix(int64(stat.BootTime), 0), time.Second / time.Duration(perSecond)}, nil
}

func (b boot) add(start string) (time.Time, error) {
	ticks, err := strconv.ParseUint(start, 10, 39) // 174 years: more would not fit in a Duration
	if err != nil {
		return time.Time{}, err
	}
	return b.at.Add(time.Duration(ticks) * b.tick), nil
}
