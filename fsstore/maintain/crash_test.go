package maintain

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/lockfile"
	"tongs-agents/proc"
)

// playCrash maintains a store and kills itself at the nth of the moments
// between steps. It says at which one, or that it came to the end.
func playCrash(args []string) error {
	var n int
	if _, err := fmt.Sscan(args[2], &n); err != nil {
		return err
	}
	moment := func(name string) {
		if n--; n < 0 {
			fmt.Println(name)
			syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	step = moment
	removing = func(r *fsstore.Record) { moment("remove " + r.Session) }
	newRun(proc.FS(args[1]), time.Now(), Options{Forced: true}).do(args[0])
	fmt.Println("end")
	return nil
}

// TestKilled kills a maintainer at every moment in turn. Whenever that is,
// what lives stays, what can be resumed is in the store or in the archive, and
// the next run does the rest, busy with nobody.
func TestKilled(t *testing.T) {
	var seen []string
	for n := 0; ; n++ {
		w := newWorld(t)
		w.runs(treeProcess{})
		w.runs(treeProcess{pid: "4300", start: "90000"}) // no hook has reported it
		alive := w.add("alive", nil)
		w.add("left", func(r *fsstore.Record) { r.Status, r.TS = fsstore.Running, w.ago(time.Minute) })
		dead := []*fsstore.Record{
			w.add("dead", func(r *fsstore.Record) { r.PID = "9" }),
			w.add("dead too", func(r *fsstore.Record) { r.PID = "7" }),
		}
		w.add("dead headless", func(r *fsstore.Record) { r.PID, r.Mode = "8", fsstore.Headless })
		w.write("sessions/.fleet-tmp-999999999-x-1.tmp", "half")
		w.setTime("sessions/.fleet-tmp-999999999-x-1.tmp", time.Hour)

		cmd := self("crash", w.dir, string(w.root), fmt.Sprint(n))
		out, err := cmd.Output()
		moment := strings.TrimSpace(string(out))
		if moment == "end" {
			if err != nil {
				t.Error(err)
			}
			break
		}
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
			t.Fatalf("moment %d: %v, %q", n, err, out)
		}
		seen = append(seen, moment)
		if r := w.stored()[alive.Key]; r == nil || r.Status != fsstore.Idle {
			t.Errorf("killed at %s: of what lives is left: %+v", moment, r)
		}
		for _, r := range dead {
			if _, archived := w.archived()[r.Session]; w.stored()[r.Key] == nil && !archived {
				t.Errorf("killed at %s: %s, which can be resumed, is lost", moment, r.Session)
			}
		}
		result := newRun(w.root, time.Now(), Options{Forced: true}).do(w.dir)
		if result.Skipped != "" {
			t.Errorf("killed at %s: the next run is %s, %v", moment, result.Skipped, result.Err)
		}
		if got := w.sessions(); got != "alive left proc-4300" {
			t.Errorf("killed at %s: the next run leaves %s", moment, got)
		}
		check(t, "killed at "+moment+": resumable", w.resumable(), "dead dead too")
		if r := w.stored()[w.record("left", nil).Key]; r.Status != fsstore.Ended {
			t.Errorf("killed at %s: the superseded session is %s", moment, r.Status)
		}
		if w.exists("sessions/.fleet-tmp-999999999-x-1.tmp") {
			t.Errorf("killed at %s: a temporary file is left", moment)
		}
	}
	all := strings.Join(seen, "\n") + "\n"
	for _, want := range []string{"stamp", "read", "discover", "mend", "remove", "unlink", "remove dead", "remove dead headless", "sweep", "done", "durable"} {
		if !strings.Contains(all, want+"\n") {
			t.Errorf("never killed at %q", want)
		}
	}
	t.Logf("killed at %q", seen)
}

// TestTwoAtOnce: of two maintainers one is busy, at every step of the other,
// and changes nothing. The syncing at the end holds up nobody.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	w.add("dead", nil)
	var skipped []string
	inner := false
	atStep(t, func(name string) {
		if inner {
			return
		}
		inner = true
		defer func() { inner = false }()
		before := w.sessions()
		result := w.runAs(Options{Forced: true})
		skipped = append(skipped, name+": "+string(result.Skipped))
		if result.Err != nil || len(result.Removed) > 0 || w.sessions() != before {
			t.Errorf("at %s: %+v", name, result)
		}
	})
	result := w.run()
	check(t, "removed", list(result.Removed), "dead")
	check(t, "second run", strings.Join(skipped, ", "),
		"stamp: busy, read: busy, discover: busy, mend: busy, remove: busy, unlink: busy, sweep: busy, done: busy, durable: ")
}

// TestBusy: only a lock that somebody holds makes a run busy; it does not wait
// for it, and unforced is as busy as forced.
func TestBusy(t *testing.T) {
	w := newWorld(t)
	w.add("dead", nil)
	s := w.open()
	defer s.Close()
	release, err := s.LockMaintenance()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.LockMaintenance(); !errors.Is(err, lockfile.ErrLocked) {
		t.Errorf("the lock twice: got %v, want ErrLocked", err)
	}
	for _, o := range []Options{{}, {Forced: true}} {
		began := time.Now()
		result := w.runAs(o)
		if result.Skipped != Busy || result.Err != nil || time.Since(began) > time.Second {
			t.Errorf("%+v: %+v after %v", o, result, time.Since(began))
		}
	}
	if w.exists("sessions/.fleet-maintenance.stamp") {
		t.Error("a run that was busy has set the stamp")
	}
	// Who only looks does not need the lock.
	check(t, "dry run", list(w.runAs(Options{DryRun: true}).Removed), "dead")
	release()
	check(t, "removed", list(w.run().Removed), "dead")
}
