package main

import (
	"context"
	"fmt"

	"tongs-agents/fsstore"
	"tongs-agents/internal/desktop"
	"tongs-agents/internal/focus"
)

// newNotifier shows notifications; a click on one brings the session to the
// front.
func newNotifier(warn func(error)) *desktop.Notifier {
	return desktop.NewNotifier(desktop.Config{
		Focus: func(row *fsstore.Annotated) {
			if r := focus.Focus(context.Background(), row); !r.OK() {
				warn(fmt.Errorf("focus: %s", r.Reason))
			}
		},
		InFront: focus.InFront,
		Warn:    warn,
	})
}
