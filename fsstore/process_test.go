package fsstore

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tongs-agents/lockfile"
)

// count makes updates of one session and prints the arrival sequence that each
// one got.
func count(args []string) error {
	path, events := args[0], args[1]
	n, err := strconv.Atoi(events)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != io.EOF {
		return fmt.Errorf("waiting for the start: %v", err)
	}
	var out bytes.Buffer
	for range n {
		s, err := Open(path, Create) // as each hook does
		if err != nil {
			return err
		}
		r, err := s.Update(simple("s").Key, Rules{Create: true, Wait: patience}, func(old *Record) (*Record, error) {
			r := simple("s")
			if old != nil {
				r.Subagents = old.Subagents
			}
			r.Subagents++
			return r, nil
		})
		if err != nil {
			return err
		}
		if r.Subagents != r.Arrival {
			return fmt.Errorf("arrival %d, counter %d", r.Arrival, r.Subagents)
		}
		s.Close()
		fmt.Fprintln(&out, r.Arrival)
	}
	_, err = os.Stdout.Write(out.Bytes())
	return err
}

// TestProcesses: processes that write the same record lose no event.
func TestProcesses(t *testing.T) {
	const writers, events = 8, 50
	_, path := openStore(t)
	type writer struct {
		out  *bufio.Reader
		hold io.Closer // its standard input
		wait func() error
	}
	var all []writer
	for range writers {
		cmd := self("count", path, strconv.Itoa(events))
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		all = append(all, writer{bufio.NewReader(out), in, cmd.Wait})
	}
	for _, w := range all {
		if line, err := w.out.ReadString('\n'); line != "ready\n" {
			t.Fatal(line, err)
		}
	}
	start := time.Now()
	for _, w := range all {
		w.hold.Close()
	}
	total := writers * events
	arrived := make([]bool, total+1)
	var wrong []string
	for i, w := range all {
		lines, err := io.ReadAll(w.out)
		if err != nil {
			t.Error(err)
		}
		if err := w.wait(); err != nil {
			t.Errorf("writer %d: %v", i, err)
		}
		for line := range strings.Lines(string(lines)) {
			n, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil || n < 1 || n > total || arrived[n] {
				wrong = append(wrong, strings.TrimSpace(line))
				continue
			}
			arrived[n] = true
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%d arrivals came twice or are not in 1..%d: %.100q", len(wrong), total, wrong)
	}
	t.Logf("%d events in %v", total, time.Since(start).Round(time.Millisecond))
	s := reopen(t, path, Read)
	if got := get(t, s, simple("s").Key); got.Arrival != int64(total) || got.Subagents != int64(total) {
		t.Errorf("got arrival %d, counter %d, want %d of both", got.Arrival, got.Subagents, total)
	}
	if got := names(t, path, "sessions"); len(got) != 3 {
		t.Errorf("sessions/ holds %q, want a record and two locks", got)
	}
}

// crash writes records of changing length until it is killed.
func crash(args []string) error {
	s, err := Open(args[0], Create)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if _, err := s.Update(simple("s").Key, Rules{Create: true, Wait: patience}, crashStep); err != nil {
			return err
		}
		if i == 0 {
			fmt.Println("writing")
		}
	}
}

// crashStep makes a record whose parts all say how often it was written.
func crashStep(old *Record) (*Record, error) {
	r := simple("s")
	if old != nil {
		r.Subagents = old.Subagents
	}
	r.Subagents++
	r.Cwd = strings.Repeat(fmt.Sprintf("/%d", r.Subagents), rand.IntN(100)+1)
	r.Title = fmt.Sprint(len(r.Cwd))
	return r, nil
}

func checkCrash(r *Record) error {
	part := fmt.Sprintf("/%d", r.Subagents)
	if r.Arrival != r.Subagents || r.Title != fmt.Sprint(len(r.Cwd)) ||
		r.Cwd != strings.Repeat(part, len(r.Cwd)/len(part)) {
		return fmt.Errorf("no whole record: %+v", r)
	}
	return nil
}

// TestCrash kills writers again and again while a reader reads.
func TestCrash(t *testing.T) {
	const kills, atOnce = 200, 4
	_, path := openStore(t)
	key := simple("s").Key
	stop := make(chan struct{})
	done := make(chan error)
	go func() { done <- readUntil(stop, path) }()
	s := reopen(t, path, Write)
	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			for range kills / atOnce {
				if err := startAndKill(path); err != nil {
					t.Error(err)
				}
				for _, name := range []string{key.sessionLock(), recordLock(key.digest())} {
					lock, err := lockfile.Acquire(s.locks, name, time.Now().Add(patience))
					if err != nil {
						t.Errorf("after a kill: %s: %v", name, err)
						continue
					}
					lock.Release()
				}
			}
		})
	}
	group.Wait()
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	before := get(t, s, key)
	if got := update(t, s, key, crashStep); got.Arrival != before.Arrival+1 {
		t.Errorf("got arrival %d, want %d", got.Arrival, before.Arrival+1)
	}
	temps := 0
	for _, name := range names(t, path, "sessions") {
		if strings.HasPrefix(name, ".fleet-tmp-") {
			temps++
		}
	}
	t.Logf("%d events, %d temporary files left", before.Arrival, temps)
}

// startAndKill starts a writer and kills it at a random moment after its first
// event.
func startAndKill(path string) error {
	cmd := self("crash", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	time.Sleep(rand.N(5 * time.Millisecond))
	cmd.Process.Kill()
	cmd.Wait()
	if line != "writing\n" {
		return fmt.Errorf("writer said %q, %v", line, err)
	}
	return nil
}

// readUntil reads the record of the writers and checks that it is whole, and
// never older than the last one.
func readUntil(stop <-chan struct{}, path string) error {
	s, err := Open(path, Read)
	if err != nil {
		return err
	}
	defer s.Close()
	for last := int64(0); ; {
		select {
		case <-stop:
			return nil
		default:
		}
		records, bad, err := s.All()
		if err != nil || len(bad) != 0 || len(records) > 1 || len(records) == 0 && last > 0 {
			return fmt.Errorf("read %d records, unreadable %v, %v", len(records), bad, err)
		}
		if len(records) == 1 {
			if err := checkCrash(records[0]); err != nil {
				return err
			}
			if records[0].Arrival < last {
				return fmt.Errorf("arrival %d after %d", records[0].Arrival, last)
			}
			last = records[0].Arrival
		}
		time.Sleep(100 * time.Microsecond) // leaves the processors to the writers
	}
}

// TestLeftovers: what a killed writer leaves is no record.
func TestLeftovers(t *testing.T) {
	s, path := openStore(t)
	want := update(t, s, simple("s").Key, to(simple("s")))
	text := string(simple("other").AppendJSON(nil))
	for _, name := range []string{
		".fleet-tmp-1-x-1.tmp", ".fleet-tmp-1.tmp", ".fleet-tmp-x.json", ".hidden.json",
		".fleet-maintenance.lock", ".fleet-maintenance.stamp", ".fleet-boots",
		".fleet-v1-instance-" + strings.Repeat("0", 64) + ".idx", "no-record", "fleet-v1-x.json.tmp", "x.JSON",
	} {
		writeText(t, path+"/sessions/"+name, text)
	}
	records, bad, err := s.All()
	if err != nil || len(bad) != 0 || len(records) != 1 {
		t.Fatalf("All: got %d records, unreadable %v, %v, want one", len(records), bad, err)
	}
	equalRecords(t, "All", records[0], want)
}
