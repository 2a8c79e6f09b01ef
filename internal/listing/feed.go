package listing

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"tongs-agents/fsstore"
)

// How often a feed looks for what nobody told it: whether the state directory
// is there, and still the same one; and, where no file is watched, whether a
// file has changed.
const (
	lookEvery = 5 * time.Second
	pollEvery = time.Second
)

// newWatcher is a variable so that a test can see a feed poll.
var newWatcher = fsnotify.NewBufferedWatcher

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
// where the user's watches are used up, it is polled every second.
//
// A feed is for one goroutine.
type Feed struct {
	dir     string
	options FeedOptions

	store   *fsstore.Store // nil: there is none, or it is unusable
	view    *fsstore.View
	watcher *fsnotify.Watcher // nil: it is polled

	last      outcome
	returned  time.Time // when last was
	attention time.Time // when a row of the last listing comes to need it; may be zero

	names      map[string]bool // files that may have changed
	everything bool            // all of them may have, and the directory
	woken      bool            // a listing is wanted as it is

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
		dir: dir, options: options, names: make(map[string]bool),
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
		changed, err := f.refresh()
		now := outcome{known: true, exists: f.store != nil}
		if err != nil {
			now.err = err.Error()
		}
		due := !f.attention.IsZero() && !time.Now().Before(f.attention)
		if changed || due || f.woken || now != f.last {
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

func (f *Feed) listing() Listing {
	records, unreadable := f.view.Records()
	l := list(f.store, records, unreadable, f.returned)
	for _, r := range l.Rows {
		if at := r.AttentionAt(); !at.IsZero() && (f.attention.IsZero() || at.Before(f.attention)) {
			f.attention = at
		}
	}
	return l
}

// pace waits until the next listing may be returned. What happens meanwhile is
// kept by the watcher and by the kernel, so that many changes are one look.
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

// refresh looks at what may have changed, and reports whether a record has.
func (f *Feed) refresh() (changed bool, err error) {
	f.drain()
	names, everything := f.names, f.everything
	f.names, f.everything = make(map[string]bool), false
	if f.store != nil && everything && !f.store.IsAt(f.dir) {
		f.closeStore()
	}
	if f.store == nil {
		if err := f.open(); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		changed, everything = true, true
	}
	if !everything {
		for name := range names {
			changed = f.view.Reread(name) || changed
		}
		return changed, nil
	}
	refreshed, err := f.view.Refresh()
	if err != nil {
		f.closeStore()
	}
	return changed || refreshed, err
}

// open opens the store, and watches it before anything of it is read.
func (f *Feed) open() error {
	store, err := fsstore.Open(f.dir, fsstore.Read)
	if err != nil {
		return err
	}
	f.store, f.view = store, store.View()
	if network, _, err := store.Network(); err != nil || network {
		return nil
	}
	watcher, err := newWatcher(256)
	if err != nil {
		return nil
	}
	if err := watcher.Add(fsstore.SessionsDir(f.dir)); err != nil {
		watcher.Close()
		return nil
	}
	f.watcher = watcher
	return nil
}

func (f *Feed) closeStore() {
	if f.watcher != nil {
		f.watcher.Close()
		f.watcher = nil
	}
	if f.store != nil {
		f.store.Close()
	}
	f.store, f.view = nil, nil
}

// wait waits until something may have changed.
func (f *Feed) wait(ctx context.Context) error {
	poll := f.poll.C
	if f.watcher != nil {
		poll = nil // which is silent
	}
	var attention <-chan time.Time
	if !f.attention.IsZero() {
		timer := time.NewTimer(time.Until(f.attention))
		defer timer.Stop()
		attention = timer.C
	}
	for len(f.names) == 0 && !f.everything && !f.woken {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event := <-f.events():
			f.note(event)
		case <-f.failures():
			f.everything = true
		case <-f.look.C:
			f.everything = true
			f.maintain()
		case <-poll:
			f.everything = true
		case <-f.maintained:
			f.maintained = nil
			f.everything = f.watcher == nil
		case <-f.options.Wake:
			f.woken = true
		case <-attention:
			return nil
		}
	}
	return nil
}

// events are what happens to the files of the sessions directory.
func (f *Feed) events() <-chan fsnotify.Event {
	if f.watcher == nil {
		return nil
	}
	return f.watcher.Events
}

// failures tell that events were lost.
func (f *Feed) failures() <-chan error {
	if f.watcher == nil {
		return nil
	}
	return f.watcher.Errors
}

// note takes down what an event tells of.
func (f *Feed) note(event fsnotify.Event) {
	name := filepath.Base(event.Name)
	switch {
	case event.Name == fsstore.SessionsDir(f.dir): // it was removed or renamed
		f.everything = true
	case event.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 && fsstore.IsRecordFile(name):
		f.names[name] = true
	}
}

// drain takes down what is known already.
func (f *Feed) drain() {
	for {
		select {
		case event := <-f.events():
			f.note(event)
		case <-f.failures():
			f.everything = true
		default:
			return
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
