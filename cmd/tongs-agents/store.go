package main

import (
	"fmt"
	"io"
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
		return l, fail(fmt.Errorf("%s: %w", dir, err))
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
		return l, fail(fmt.Errorf("%s: %w", dir, err))
	}
	warnUnreadable(stderr, l.Unreadable)
	return l, nil
}

func warnUnreadable(stderr io.Writer, files []fsstore.Unreadable) {
	const shown = 3
	for i, f := range files {
		if i == shown {
			fmt.Fprintf(stderr, "tongs-agents: warning: and %d more unreadable records\n", len(files)-shown)
			return
		}
		fmt.Fprintf(stderr, "tongs-agents: warning: %s: %s\n", text.Clean(f.Name), text.Clean(f.Err.Error()))
	}
}
