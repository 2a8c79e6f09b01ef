package maintain

import (
	"errors"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tongs-agents/fsstore"
)

// judgements is how often TestWrittenWhileJudged lets a hook and the maintainer
// meet.
var judgements = flag.Int("judgements", 10000, "records that TestWrittenWhileJudged judges")

// TestWrittenWhileJudged: a hook writes while the maintainer judges the same
// record as that of a dead process. What was written is there afterwards,
// whether the maintainer was before, after or in the middle of its work.
func TestWrittenWhileJudged(t *testing.T) {
	const population = 100
	w := newWorld(t)
	s := w.open()
	defer s.Close()
	var records [population]*fsstore.Record
	var written [population]atomic.Int64 // the subagents of the last write, which only counts up
	for i := range records {
		records[i] = w.add(strconv.Itoa(i), nil)
	}

	write := func(i int) {
		n := written[i].Load() + 1
		r, err := s.Update(records[i].Key, fsstore.Rules{Create: true, Wait: patience}, func(old *fsstore.Record) (*fsstore.Record, error) {
			r := *records[i]
			r.Subagents, r.BackgroundTasks = n, 0
			if old != nil {
				r.BackgroundTasks = old.Subagents // the write before
			}
			return &r, nil
		})
		if err != nil || r.Subagents != n {
			t.Errorf("record %d: %v", i, err)
		}
		written[i].Store(n)
	}
	// Writers that live long, each of a share of the records, so that a record
	// has one at a time.
	const writers = 4
	var work [writers]chan func()
	var done sync.WaitGroup
	for i := range work {
		work[i] = make(chan func(), population)
		done.Go(func() {
			for fn := range work[i] {
				fn()
			}
		})
	}
	pause := func(d time.Duration) { // a sleep as short takes much longer
		for until := time.Now().Add(d); time.Now().Before(until); {
			runtime.Gosched()
		}
	}

	random := rand.New(rand.NewPCG(1, 2))
	var round sync.WaitGroup
	var meets, before int
	touched := map[int]bool{}
	beforeRemoving(t, func(r *fsstore.Record) {
		i, err := strconv.Atoi(r.Session)
		if err != nil {
			t.Error(err)
			return
		}
		meets++
		switch random.IntN(3) {
		case 0: // before: the file is another one
			before++
			touched[i] = true
			write(i)
		case 1: // at the same time
			touched[i] = true
			round.Add(1)
			delay := time.Duration(random.IntN(300)) * time.Microsecond
			work[i%writers] <- func() {
				defer round.Done()
				pause(delay)
				write(i)
			}
			pause(time.Duration(random.IntN(300)) * time.Microsecond)
		}
	})
	began := time.Now()
	removed := 0
	for meets < *judgements && !t.Failed() {
		clear(touched)
		result := w.run()
		removed += len(result.Removed)
		round.Wait()
		left := w.stored()
		for i, r := range records {
			switch got := left[r.Key]; {
			case touched[i] && got == nil:
				t.Errorf("record %d: write %d is lost", i, written[i].Load())
			case touched[i] && got.Subagents != written[i].Load():
				t.Errorf("record %d: got write %d, want %d", i, got.Subagents, written[i].Load())
			case !touched[i] && got != nil:
				t.Errorf("record %d: of a dead process, written by nobody, and still there", i)
			}
			if left[r.Key] == nil {
				w.put(r)
			}
		}
	}
	for i := range work {
		close(work[i])
	}
	done.Wait()
	t.Logf("%d judged, %d written before, %d removed, in %v", meets, before, removed, time.Since(began).Round(time.Millisecond))
	if before == 0 || removed == 0 || removed == meets {
		t.Error("the test has not tried what it is for")
	}
}

// TestManyAtOnce: maintainers and hooks on one store. At most one maintainer
// works at a time, nothing fails but by being busy or recent, and no live
// session's event is lost.
func TestManyAtOnce(t *testing.T) {
	const maintainers, hooks, events = 64, 16, 20
	w := newWorld(t)
	w.runs(treeProcess{args: []string{"make"}})
	var inside, most atomic.Int32
	atStep(t, func(name string) {
		switch name {
		case "stamp":
			if n := inside.Add(1); n > most.Load() {
				most.Store(n)
			}
		case "done":
			inside.Add(-1)
		}
	})
	stop := make(chan struct{})
	var group, writers sync.WaitGroup
	var runs, busy atomic.Int32
	for i := range maintainers {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				switch result := w.runAs(Options{Forced: i%8 != 0}); result.Skipped {
				case "":
					runs.Add(1)
				case Busy:
					busy.Add(1)
				case Recent:
				default:
					t.Errorf("%s: %v", result.Skipped, result.Err)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	for i := range hooks {
		writers.Go(func() {
			s, err := fsstore.Open(w.dir, fsstore.Create)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			alive := w.record("alive-"+strconv.Itoa(i), func(r *fsstore.Record) { r.Harness, r.Resume = "other", nil })
			dead := w.record("dead-"+strconv.Itoa(i), func(r *fsstore.Record) { r.PID = "9" })
			for n := range events {
				for _, r := range []*fsstore.Record{alive, dead} {
					wrote, err := s.Update(r.Key, fsstore.Rules{Create: true, Wait: patience}, func(old *fsstore.Record) (*fsstore.Record, error) {
						c := *r
						return &c, nil
					})
					if err != nil {
						t.Errorf("%s: %v", r.Session, err)
					} else if r == alive && wrote.Arrival != int64(n)+1 {
						t.Errorf("%s: got arrival %d, want %d", r.Session, wrote.Arrival, n+1)
					}
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	group.Wait()
	w.run()
	for i := range hooks {
		key := w.record("alive-"+strconv.Itoa(i), func(r *fsstore.Record) { r.Harness = "other" }).Key
		if r := w.stored()[key]; r == nil || r.Arrival != events {
			t.Errorf("%s: got %+v, want arrival %d", key.Session, r, events)
		}
	}
	check(t, "records", len(w.stored()), hooks)
	check(t, "maintainers at work at once", most.Load(), 1)
	if temps, _ := filepath.Glob(filepath.Join(w.dir, "*", ".fleet-tmp-*")); len(temps) > 0 {
		t.Errorf("left: %v", temps)
	}
	t.Logf("%d runs, %d times busy", runs.Load(), busy.Load())
}

// TestHeldLock: a record whose lock is held for as long as the maintainer
// waits stays, and makes the run unavailable; the other records are done.
func TestHeldLock(t *testing.T) {
	w := newWorld(t)
	held := w.add("held", nil)
	alsoHeld := w.add("held, too", nil)
	w.add("free", nil)
	w.add("also free", func(r *fsstore.Record) { r.PID = "9" })
	s := w.open()
	defer s.Close()
	locked, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	for _, r := range []*fsstore.Record{held, alsoHeld} {
		holder.Go(func() {
			s.Update(r.Key, fsstore.Rules{Wait: patience}, func(old *fsstore.Record) (*fsstore.Record, error) {
				locked <- struct{}{}
				<-release
				return nil, nil
			})
		})
		<-locked
	}
	began := time.Now()
	result := w.runAs(Options{Forced: true})
	if took := time.Since(began); took < lockWait || took > 2*lockWait-shortWait {
		t.Errorf("waited %v, want %v for all that are held", took, lockWait)
	}
	close(release)
	holder.Wait()
	check(t, "lockWait", lockWait, 2*time.Second)
	check(t, "skipped", result.Skipped, Unavailable)
	if !errors.Is(result.Err, fsstore.ErrLockTimeout) {
		t.Errorf("got %v, want ErrLockTimeout", result.Err)
	}
	check(t, "removed", list(result.Removed), "also free free")
	check(t, "stored", w.sessions(), "held held, too")
	// A run that failed counts as one, and the next one succeeds.
	w.now = time.Now()
	check(t, "unforced", w.runAs(Options{}).Skipped, Recent)
	check(t, "removed later", list(w.run().Removed), "held held, too")
}
