package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

// readListing lists the user's store, and warns of what in it is no record.
func readListing(stderr io.Writer) (listing.Listing, error) {
	dir, err := fsstore.StateDir()
	if err != nil {
		return listing.Listing{}, fail(err)
	}
	l, err := listing.Read(dir, time.Now())
	if err != nil {
		return l, fail(storeError(err))
	}
	warnUnreadable(stderr, l.Unreadable)
	return l, nil
}

// readResumables lists the sessions that can be resumed. What cannot be read
// is none of them.
func readResumables(stderr io.Writer) (listing.Resumables, error) {
	dir, err := fsstore.StateDir()
	if err != nil {
		return listing.Resumables{}, fail(err)
	}
	l, err := listing.Resumable(dir, time.Now())
	if err != nil {
		return l, fail(storeError(err))
	}
	warnUnreadable(stderr, l.Unreadable)
	return l, nil
}

func warnUnreadable(stderr io.Writer, files []fsstore.Unreadable) {
	const shown = 3
	for i, f := range files {
		if i == shown {
			more := len(files) - shown
			warn(stderr, fmt.Errorf("and %d more unreadable %s", more, plural(more, "record", "records")))
			return
		}
		warn(stderr, fmt.Errorf("%s: %w", text.Clean(f.Name), bare(f.Err)))
	}
}

// storeError names the user's store in an error that says it is unavailable.
func storeError(err error) error {
	var unavailable *fsstore.UnavailableError
	if dir, e := fsstore.StateDir(); e == nil && errors.As(err, &unavailable) {
		return &fsstore.UnavailableError{Dir: dir, Cause: unavailable.Cause}
	}
	return err
}

// bare is an error without the call and the file that it names, for one who
// has named the file.
func bare(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
