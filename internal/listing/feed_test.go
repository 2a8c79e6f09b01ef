package listing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
	"tongs-agents/linux"
)

// writer writes records into a store, as hooks do.
type writer struct {
	t     *testing.T
	dir   string
	store *fsstore.Store
}

func newWriter(t *testing.T, dir string) *writer {
	t.Helper()
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return &writer{t, dir, store}
}

func (w *writer) write(session string, status fsstore.Status) {
	w.t.Helper()
	r := record("claude", session, status, 0)
	r.TS = time.Now().Unix()
	w.put(r)
}

func (w *writer) put(r *fsstore.Record) {
	w.t.Helper()
	if _, err := w.store.Import(r, 10*time.Second); err != nil {
		w.t.Fatal(err)
	}
}

// file is where the record of a session stands.
func (w *writer) file(session string) string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "sessions", "*.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"session_id":"`+session+`"`) {
			return file
		}
	}
	w.t.Fatalf("no file of session %s among %v", session, files)
	return ""
}

// reader is a feed that must tell of something before a test's patience ends.
type reader struct {
	t    *testing.T
	feed *Feed
	last Listing
}

func follow(t *testing.T, dir string, options FeedOptions) *reader {
	feed := Follow(dir, options)
	t.Cleanup(feed.Close)
	return &reader{t: t, feed: feed}
}

func (r *reader) next() (Listing, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	l, err := r.feed.Next(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		r.t.Fatal("the feed says nothing")
	}
	r.last = l
	return l, err
}

// want takes listings until one has these sessions with their states, in the
// order of their names: a feed may return what lasted shortly.
func (r *reader) want(sessions string) {
	r.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		l, err := r.next()
		if err != nil {
			r.t.Fatal(err)
		}
		if got := states(l); got == sessions {
			return
		} else if time.Now().After(deadline) {
			r.t.Fatalf("the feed has %q, want %q", got, sessions)
		}
	}
}

// poll lets the feed poll.
func (r *reader) poll() {
	r.feed.newWatcher = func() (*watcher, error) { return nil, unix.EMFILE }
}

// narrow lets the feed follow these sessions of the last listing alone.
func (r *reader) narrow(sessions ...string) {
	var rows []*fsstore.Annotated
	for _, row := range r.last.Rows {
		if slices.Contains(sessions, row.Session) {
			rows = append(rows, row)
		}
	}
	r.feed.Narrow(rows)
}

// silent fails if the feed tells of anything in that time.
func (r *reader) silent(d time.Duration) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	if l, err := r.feed.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		r.t.Errorf("the feed returned %q, %v; nothing has changed", states(l), err)
	}
}

func states(l Listing) string {
	var words []string
	for _, r := range l.Rows {
		words = append(words, r.Session+":"+string(r.Status))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestFeed(t *testing.T) {
	for _, mode := range []string{"watched", "polled"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			r := follow(t, dir, FeedOptions{})
			if mode == "polled" {
				r.poll()
			}
			if l, err := r.next(); err != nil || l.Exists {
				t.Fatalf("of no store the feed returned %+v, %v", l, err)
			}
			w := newWriter(t, dir)
			w.write("a", fsstore.Running)
			r.want("a:running")
			w.write("b", fsstore.Idle)
			r.want("a:running b:idle")
			w.write("a", fsstore.Waiting)
			r.want("a:waiting b:idle")
			if err := os.Remove(w.file("b")); err != nil {
				t.Fatal(err)
			}
			r.want("a:waiting")

			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			r.want("")
			w = newWriter(t, dir)
			w.write("c", fsstore.Error)
			r.want("c:error")
			if r.feed.told != (mode == "watched") {
				t.Errorf("the feed is told of changes: %v", r.feed.told)
			}
		})
	}
}

// Locks, the stamp, and temporary files are no changes.
func TestFeedSilence(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	w.write("a", fsstore.Running)
	r := follow(t, dir, FeedOptions{})
	r.want("a:running")
	for _, name := range []string{".fleet-maintenance.stamp", ".fleet-v1-x.lock", ".fleet-tmp-1-2.tmp", "note.txt"} {
		file := filepath.Join(dir, "sessions", name)
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file, file+".old"); err != nil {
			t.Fatal(err)
		}
	}
	r.silent(lookEvery + time.Second)
	w.write("b", fsstore.Running)
	r.want("a:running b:running")
}

// A feed that is narrowed to some rows is not woken by what others write, and
// never misses what is written of these: here nothing else than what it is told
// makes it look.
func TestFeedNarrow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	for _, session := range []string{"a", "b", "c"} {
		w.write(session, fsstore.Running)
	}
	r := follow(t, dir, FeedOptions{})
	r.feed.look.Stop()
	r.want("a:running b:running c:running")
	r.narrow("a")
	r.silent(time.Second / 2)
	for _, status := range []fsstore.Status{fsstore.Idle, fsstore.Running, fsstore.Idle} {
		w.write("b", status)
	}
	if told, err := linux.FD(r.feed.watcher.file.Fd()).PollIn(0); told || err != nil {
		t.Errorf("the feed is told of another record: %v, %v", told, err)
	}
	w.write("a", fsstore.Waiting)
	r.want("a:waiting b:idle c:running") // the listing is of all

	// What was written before the rows were followed is not lost either.
	w.write("c", fsstore.Error)
	r.narrow("a", "c")
	r.want("a:waiting b:idle c:error")

	// Nor is the second of two writes, whenever it comes after the first.
	for i := range 500 {
		var writing sync.WaitGroup
		writing.Go(func() {
			w.write("a", fsstore.Running)
			for first := time.Now(); time.Since(first) < time.Duration(i)*time.Microsecond; {
			}
			w.write("a", fsstore.Idle)
		})
		r.want("a:idle b:idle c:error")
		writing.Wait()
		w.write("a", fsstore.Waiting)
		r.want("a:waiting b:idle c:error")
	}

	if err := os.Remove(w.file("a")); err != nil {
		t.Fatal(err)
	}
	r.want("b:idle c:error")
	if err := os.Rename(w.file("c"), filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	r.feed.Narrow(nil)
	r.want("b:idle")
	w.write("b", fsstore.Running)
	r.want("b:running")
}

// Where nobody tells of the files of some rows they are polled; the rest is
// looked at now and then.
func TestFeedNarrowPolled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	w.write("a", fsstore.Running)
	w.write("b", fsstore.Running)
	r := follow(t, dir, FeedOptions{})
	r.poll()
	r.want("a:running b:running")
	r.narrow("a")
	r.feed.look.Stop()
	w.write("b", fsstore.Idle)
	r.silent(2*pollEvery + time.Second/2)
	w.write("a", fsstore.Idle)
	r.want("a:idle b:idle")
	r.feed.look.Reset(lookEvery)
	w.write("b", fsstore.Running)
	r.want("a:idle b:running")
}

// What is not a record, or was written in place by an older program, is looked
// at again until it is whole.
func TestFeedInPlace(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	newWriter(t, dir)
	r := follow(t, dir, FeedOptions{})
	r.want("")
	file := filepath.Join(dir, "sessions", "legacy.json")
	if err := os.WriteFile(file, []byte(`{"agent":"claude",`), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := r.next()
	if err != nil || len(l.Unreadable) != 1 {
		t.Fatalf("half a record is %+v, %v", l, err)
	}
	if err := os.WriteFile(file, []byte(`{"agent":"claude","session_id":"old","status":"running","ts":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.want("old:running")
	time.Sleep(3 * time.Second) // until the directory's time is believed
	if err := os.WriteFile(file, []byte(`{"agent":"claude","session_id":"old","status":"idle","ts":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.want("old:idle")
}

// A directory that others take the place of tells nothing.
func TestFeedMoved(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "home", "state")
	newWriter(t, dir).write("a", fsstore.Running)
	r := follow(t, dir, FeedOptions{})
	r.want("a:running")
	if err := os.Rename(filepath.Join(parent, "home"), filepath.Join(parent, "old")); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir)
	w.write("b", fsstore.Running)
	r.want("b:running")
	w.write("b", fsstore.Idle)
	r.want("b:idle")
}

// An unusable store is one error, until it is usable, or unusable otherwise.
func TestFeedUnusable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := follow(t, dir, FeedOptions{})
	if _, err := r.next(); !errors.Is(err, fsstore.ErrUnavailable) {
		t.Fatalf("a file is %v", err)
	}
	r.silent(2*pollEvery + time.Second/2)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	newWriter(t, dir).write("a", fsstore.Running)
	r.want("a:running")
}

// A queue that overflows loses events, and no change.
func TestFeedOverflow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	r := follow(t, dir, FeedOptions{})
	r.want("")
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	var events int
	if _, err := fmt.Sscan(string(limit), &events); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "sessions", "other")
	for range events/2 + 1000 { // what the feed has buffered is not in the queue
		if err := os.Mkdir(file, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	w.write("a", fsstore.Running)
	r.want("a:running")
	w.write("a", fsstore.Idle)
	r.want("a:idle")
}

// Who is idle for long comes to need the user without any change of a file.
func TestFeedAttention(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	a := record("claude", "a", fsstore.Idle, 0)
	a.TS = time.Now().Unix() - 118
	b := record("claude", "b", fsstore.Idle, 0)
	b.TS, b.BackgroundTasks = a.TS, 1
	w.put(a)
	w.put(b)
	r := follow(t, dir, FeedOptions{})
	l, err := r.next()
	for err == nil && Summarize(l.Rows).NeedsAttention == 0 {
		l, err = r.next()
	}
	if err != nil || l.Rows[0].Session != "a" || !l.Rows[0].NeedsAttention || l.Rows[1].NeedsAttention {
		t.Errorf("the feed returned %q, %v", states(l), err)
	}
}

// A listing that was asked for comes as it is.
func TestFeedWake(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	newWriter(t, dir).write("a", fsstore.Running)
	wake := make(chan struct{}, 1)
	r := follow(t, dir, FeedOptions{Wake: wake})
	r.want("a:running")
	wake <- struct{}{}
	r.want("a:running")
	r.silent(100 * time.Millisecond)
}

// Many changes are one listing, and the last one is never lost.
func TestFeedPace(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	const pace = 200 * time.Millisecond
	r := follow(t, dir, FeedOptions{Pace: pace})
	r.want("")
	begin := time.Now()
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range 300 {
			w.write("a", []fsstore.Status{fsstore.Running, fsstore.Idle}[i%2])
		}
		w.write("a", fsstore.Error)
	})
	defer writing.Wait()
	listings := 0
	for l := (Listing{}); states(l) != "a:error"; listings++ {
		var err error
		if l, err = r.next(); err != nil {
			t.Fatal(err)
		}
	}
	if most := int(time.Since(begin)/pace) + 1; listings > most {
		t.Errorf("%d listings in %v, want at most %d", listings, time.Since(begin), most)
	}
}

// The maintenance runs at the start and every few seconds, and what it changes
// is seen.
func TestFeedMaintain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	runs := make(chan time.Time, 100)
	var run sync.Mutex
	defer run.Lock() // no run goes on when the store is closed
	r := follow(t, dir, FeedOptions{Maintain: func() {
		run.Lock()
		defer run.Unlock()
		runs <- time.Now()
		w.write(fmt.Sprint("run", len(runs)), fsstore.Running)
	}})
	var l Listing
	for !strings.Contains(states(l), "run2") {
		var err error
		if l, err = r.next(); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(states(l), "run1") {
		t.Errorf("the feed returned %q", states(l))
	}
	first, second := <-runs, <-runs
	if between := second.Sub(first); between < lookEvery/2 {
		t.Errorf("the second maintenance came after %v", between)
	}
}

// A feed never returns half of what one writer does, whatever the order in
// which a reader happens to look.
func TestFeedTorn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := newWriter(t, dir)
	w.write("a", fsstore.Running)
	r := follow(t, dir, FeedOptions{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range 500 {
			w.write("a", fsstore.Statuses[i%2])
		}
	})
	defer writing.Wait()
	for {
		l, err := r.next()
		if err != nil || len(l.Rows) != 1 || len(l.Unreadable) != 0 {
			t.Fatalf("the feed returned %q, %v, %v", states(l), l.Unreadable, err)
		}
		if l.Rows[0].Arrival == 501 {
			break
		}
	}
}
