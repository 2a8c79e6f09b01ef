package listing

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"tongs-agents/fsstore"
)

// How often a feed looks for what nobody told it: whether the state directory
// is there, and still the same one; and, where no file is watched, whether a
// file has changed.
const (
	lookEvery = 5 * time.Second
	pollEvery = time.Second
)

// FeedOptions are how a feed follows a store. The zero value is for a reader.
type FeedOptions struct {
	// Maintain, if there is one, is called every 5 seconds, by one goroutine at
	// a time, beside the feed.
	Maintain func()
	// Pace is the least time between two listings.
	Pace time.Duration
	// Wake, if there is one, makes Next return the listing for each value,
	// whether or not it is another one.
	Wake <-chan struct{}
}

// Feed follows a store. A listing comes at the start, whenever a record was
// written or removed, and when a session comes to need attention because it was
// idle for long; ages alone change nothing. A change that does not last may go
// unseen, a lasting one does not. Locks and the stamp are no changes.
//
// The sessions directory is watched by inotify(7). On a network file system, and
// while the user's watches are used up, it is polled every second.
//
// A feed is for one goroutine.
type Feed struct {
	dir     string
	options FeedOptions

	store   *fsstore.Store // nil: there is none, or it is unusable
	view    *fsstore.View
	network bool
	watcher *watcher // nil: there is none to be had
	told    bool     // of every change, by the watcher; else it is polled
	only    []string // files, if they alone are followed

	last      outcome
	returned  time.Time // when last was
	attention time.Time // when a row of the last listing comes to need it; may be zero

	names      map[string]bool // files that may have changed
	everything bool            // all of them may have, and the directory
	woken      bool            // a listing is wanted as it is

	newWatcher func() (*watcher, error) // so that a test can see a feed poll

	look       *time.Ticker
	poll       *time.Ticker
	maintained chan struct{} // closed when a maintenance has ended; nil: none runs
}

// outcome is what a look at the store came to, apart from its records.
type outcome struct {
	known  bool // there was a look
	exists bool
	err    string
}

// Follow returns a feed of the store in a state directory, which need not be
// there.
func Follow(dir string, options FeedOptions) *Feed {
	f := &Feed{
		dir: dir, options: options, names: make(map[string]bool), newWatcher: newWatcher,
		look: time.NewTicker(lookEvery), poll: time.NewTicker(pollEvery),
	}
	f.maintain()
	return f
}

// Close ends a feed. A maintenance that runs is not waited for.
func (f *Feed) Close() {
	f.look.Stop()
	f.poll.Stop()
	f.closeStore()
}

// Next returns the listing when it is another one than the last that Next has
// returned, or wanted by Wake: at once if there was none. The error is that of
// Read, and comes once; the next call waits until the store is usable again, or
// so for another reason. The error is the context's when that is done.
func (f *Feed) Next(ctx context.Context) (Listing, error) {
	if err := f.pace(ctx); err != nil {
		return Listing{}, err
	}
	for {
		wanted := f.woken || !f.attention.IsZero() && !time.Now().Before(f.attention)
		changed, err := f.refresh(wanted)
		now := outcome{known: true, exists: f.store != nil}
		if err != nil {
			now.err = err.Error()
		}
		if changed || wanted || now != f.last {
			f.last, f.returned, f.attention, f.woken = now, time.Now(), time.Time{}, false
			if err != nil || f.store == nil {
				return Listing{}, err
			}
			return f.listing(), nil
		}
		if err := f.wait(ctx); err != nil {
			return Listing{}, err
		}
	}
}

// Narrow makes the feed tell at once of the records of these rows alone, of
// schema 1 and of the last listing. The rest of the store is looked at every 5
// seconds, and whenever there is a listing. No rows at all are all again.
//
// What others write then wakes nobody, and where the store is polled, that
// costs no more than a look at the files of these records.
func (f *Feed) Narrow(rows []*fsstore.Annotated) {
	before := f.only
	f.only = nil
	for _, r := range rows {
		f.only = append(f.only, r.File())
	}
	if before == nil && f.only == nil {
		return
	}
	if before == nil || f.only == nil {
		f.closeWatcher()
	}
	f.suspect() // nobody told of those that were not followed
	if f.only == nil {
		f.woken = true // nor when they come to need the user
		return
	}
	f.awaitAttention(rows)
}

func (f *Feed) listing() Listing {
	records, unreadable := f.view.Records()
	l := list(f.store, records, unreadable, f.returned)
	f.awaitAttention(l.Rows)
	return l
}

// awaitAttention finds out when the first of the rows will come to need the
// user.
func (f *Feed) awaitAttention(rows []*fsstore.Annotated) {
	f.attention = time.Time{}
	for _, r := range rows {
		if at := r.AttentionAt(); !at.IsZero() && (f.attention.IsZero() || at.Before(f.attention)) {
			f.attention = at
		}
	}
}

// pace waits until the next listing may be returned. What happens meanwhile is
// kept by the kernel, so that many changes are one look.
func (f *Feed) pace(ctx context.Context) error {
	rest := time.Until(f.returned.Add(f.options.Pace))
	if f.options.Pace == 0 || rest <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// refresh looks at what may have changed, and reports whether a record has. A
// listing that is wanted is of the whole store, whatever the feed is told of.
func (f *Feed) refresh(wanted bool) (changed bool, err error) {
	if !f.told {
		f.suspect()
	}
	f.drain()
	if f.store != nil && f.everything && !f.store.IsAt(f.dir) {
		f.closeStore()
	}
	if f.store == nil {
		if err := f.open(); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		changed, f.everything = true, true
	}
	f.told = f.watch() // before anything is read
	names, everything := f.names, f.everything
	f.names, f.everything = make(map[string]bool), false
	if !everything {
		for name := range names {
			changed = f.view.Reread(name) || changed
		}
		if f.only == nil || !changed && !wanted {
			return changed, nil
		}
	}
	refreshed, err := f.view.Refresh()
	if err == nil {
		return changed || refreshed, nil
	}
	replaced := !f.store.IsAt(f.dir)
	f.closeStore()
	if replaced {
		return f.refresh(wanted)
	}
	return changed, err
}

func (f *Feed) open() error {
	store, err := fsstore.Open(f.dir, fsstore.Read)
	if err != nil {
		return err
	}
	network, _, err := store.Network()
	f.store, f.view, f.network = store, store.View(), network || err != nil
	return nil
}

// watch sees to it that the feed is told of every change from now on, and
// reports whether it will be.
func (f *Feed) watch() bool {
	if f.network {
		return false
	}
	if f.watcher == nil {
		w, err := f.newWatcher()
		if err != nil {
			return false
		}
		f.watcher = w
	}
	dir := fsstore.SessionsDir(f.dir)
	if f.only == nil {
		return f.watcher.addDir(dir) == nil
	}
	for _, name := range f.only {
		if f.watcher.addFile(dir+"/"+name) != nil {
			return false
		}
	}
	return true
}

func (f *Feed) closeWatcher() {
	if f.watcher != nil {
		f.watcher.close()
		f.watcher, f.told = nil, false
	}
}

func (f *Feed) closeStore() {
	f.closeWatcher()
	if f.store != nil {
		f.store.Close()
	}
	f.store, f.view = nil, nil
}

// wait waits until something may have changed.
func (f *Feed) wait(ctx context.Context) error {
	poll := f.poll.C
	var told <-chan struct{}
	if f.told {
		poll, told = nil, f.watcher.told() // what is nil is silent
	}
	var attention <-chan time.Time
	if !f.attention.IsZero() {
		timer := time.NewTimer(time.Until(f.attention))
		defer timer.Stop()
		attention = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-told:
	case <-f.look.C:
		f.everything = true
		f.maintain()
	case <-poll:
	case <-f.maintained:
		f.maintained = nil
	case <-f.options.Wake:
		f.woken = true
	case <-attention:
	}
	return nil
}

// suspect notes that any file that the feed is to be told of may have changed.
func (f *Feed) suspect() {
	f.everything = f.everything || f.only == nil
	for _, name := range f.only {
		f.names[name] = true
	}
}

// drain notes what the watcher tells of.
func (f *Feed) drain() {
	if f.watcher == nil {
		return
	}
	for _, name := range f.watcher.read() {
		if name == "" {
			f.suspect()
		} else if fsstore.IsRecordFile(name) {
			f.names[name] = true
		}
	}
}

func (f *Feed) maintain() {
	if f.options.Maintain == nil || f.maintained != nil {
		return
	}
	done := make(chan struct{})
	f.maintained = done
	go func() {
		defer close(done)
		f.options.Maintain()
	}()
}
