package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// program is what is measured.
type program struct {
	name  string
	argv  []string
	env   []string
	input func() []byte // standard input; nil: none
	ready func() error  // puts in place what the run uses up; not measured
	runs  int
}

// sample is one run.
type sample struct {
	cpu, wall time.Duration
	faults    int64 // minor page faults
}

// once runs a program and has the kernel count what it, and nobody else, used.
func once(p *program) (sample, error) {
	if p.ready != nil {
		if err := p.ready(); err != nil {
			return sample{}, err
		}
	}
	start := time.Now()
	pid, err := p.start(nil)
	if err != nil {
		return sample{}, err
	}
	var status syscall.WaitStatus
	var usage syscall.Rusage
	if _, err := wait4(pid, &status, &usage); err != nil {
		return sample{}, fmt.Errorf("%s: %w", p.name, err)
	}
	s := sample{wall: time.Since(start), faults: int64(usage.Minflt)}
	s.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if status.ExitStatus() != 0 {
		text, _ := os.ReadFile(stderrFile())
		return s, fmt.Errorf("%s: status %#x\n%s", p.name, status, text)
	}
	return s, nil
}

// stderrFile takes what a program prints on standard error.
func stderrFile() string { return filepath.Join(os.Getenv(envDir), "stderr") }

// start starts a program and feeds it its input.
func (p *program) start(attr *syscall.SysProcAttr) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	stderr, err := os.Create(stderrFile())
	if err != nil {
		return 0, err
	}
	defer stderr.Close()
	stdin := null.Fd()
	if p.input != nil {
		// Not os.Pipe: the poller would have its share of the measured time.
		var pipe [2]int
		if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
			return 0, err
		}
		defer syscall.Close(pipe[0])
		stdin = uintptr(pipe[0])
		input := p.input()
		if len(input) <= pipeSize {
			feed(pipe[1], input)
		} else {
			go feed(pipe[1], input)
		}
	}
	pid, err = syscall.ForkExec(p.file(), p.argv, &syscall.ProcAttr{
		Env: p.env, Files: []uintptr{stdin, null.Fd(), stderr.Fd()}, Sys: attr,
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	return pid, nil
}

// pipeSize is what a pipe takes without a reader, see pipe(7).
const pipeSize = 64 << 10

func feed(fd int, input []byte) {
	for len(input) > 0 {
		n, err := syscall.Write(fd, input[:min(len(input), pipeSize)])
		if err != nil && err != syscall.EINTR {
			break // the reader has seen enough
		}
		input = input[max(n, 0):]
	}
	syscall.Close(fd)
}

func wait4(pid int, status *syscall.WaitStatus, usage *syscall.Rusage) (int, error) {
	for {
		got, err := syscall.Wait4(pid, status, 0, usage)
		if err != syscall.EINTR {
			return got, err
		}
	}
}

// rounds runs the programs in turn, n times, and returns the samples of each.
func rounds(n int, programs ...*program) ([][]sample, error) {
	samples := make([][]sample, len(programs))
	warmUp := min(3, n/2)
	for i := range warmUp + n {
		for j, p := range programs {
			s, err := once(p)
			if err != nil {
				return nil, err
			}
			if i >= warmUp {
				samples[j] = append(samples[j], s)
			}
		}
	}
	return samples, nil
}

// quantity picks one figure of a sample.
type quantity func(sample) float64

func cpu(s sample) float64    { return s.cpu.Seconds() }
func wall(s sample) float64   { return s.wall.Seconds() }
func faults(s sample) float64 { return float64(s.faults) }

func median(samples []sample, q quantity) float64 {
	return quantile(0.5, len(samples), func(i int) float64 { return q(samples[i]) })
}

func quantile(p float64, n int, at func(int) float64) float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = at(i)
	}
	slices.Sort(values)
	i := p * float64(n-1)
	low := values[int(i)]
	high := values[min(int(i)+1, n-1)]
	return low + (i-float64(int(i)))*(high-low)
}

// ratio compares two programs: their medians, and the tenth and ninetieth
// percentile of the pairs.
type ratio struct{ mid, low, high float64 }

func compare(a, b []sample, q quantity) ratio {
	pair := func(i int) float64 { return q(a[i]) / q(b[i]) }
	n := min(len(a), len(b))
	return ratio{median(a, q) / median(b, q), quantile(0.1, n, pair), quantile(0.9, n, pair)}
}

func (r ratio) String() string { return fmt.Sprintf("%.3g (%.3g..%.3g)", r.mid, r.low, r.high) }

// atMost says how a figure stands to its budget.
func atMost[T cmp.Ordered](got, budget T) string {
	verdict := "met"
	if got > budget {
		verdict = "MISSED"
	}
	return fmt.Sprintf("≤ %v %s", budget, verdict)
}

func atLeast[T cmp.Ordered](got, budget T) string {
	verdict := "met"
	if got < budget {
		verdict = "MISSED"
	}
	return fmt.Sprintf("≥ %v %s", budget, verdict)
}
