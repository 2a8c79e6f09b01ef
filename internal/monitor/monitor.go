// Package monitor is the live view: who needs the user at a glance, and one key
// to get there.
//
// A goroutine follows the store and sends each listing to the program as a
// message. Update and View only look at the model: whatever asks the outside,
// such as focusing, is a command, and its answer a message.
//
// Nothing from a record acts on the terminal, and no line is wider than the
// screen: both by package text.
package monitor

import (
	"context"
	"errors"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/maintain"
	"tongs-agents/internal/focus"
	"tongs-agents/internal/listing"
)

// Config is what a view shows and what its keys do. A nil function is a key
// that says it can do nothing.
type Config struct {
	Dir    string         // the state directory
	Filter listing.Filter // which sessions are shown

	Sidebar     bool // little room: a sign, where, how long ago
	ExitOnFocus bool // end once a session is in front
	ASCII       bool // no signs beyond ASCII
	NoMaintain  bool // only look

	// Focus brings a session to the front.
	Focus func(context.Context, *fsstore.Annotated) focus.Result
	// Cleanup maintains the store at once.
	Cleanup func() maintain.Result
	// Resume makes the command that continues a session, or says why none does.
	Resume func(*fsstore.Record) (*exec.Cmd, error)
	// Copy is the command to paste that continues a session; empty: none does.
	Copy func(*fsstore.Record) string
	// Notify, if there is one, begins to tell the user of rows that come to need
	// him: each listing's rows go to the function that it returns, from one
	// goroutine. What it cannot do goes to warn, from any. end is called at the
	// end.
	Notify func(warn func(error)) (rows func([]*fsstore.Annotated), end func())
}

// pace is the least time between two listings, framesPerSecond how often the
// terminal is written to at most.
const (
	pace            = 250 * time.Millisecond
	framesPerSecond = 20
)

// Run shows the view on the terminal until the user quits it, or ctx is done, or
// until a session was focused, where that ends it: focused says how, else it is
// the zero Result.
func Run(ctx context.Context, c Config) (focused focus.Result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	program := tea.NewProgram(newModel(c, time.Now()), tea.WithContext(ctx), tea.WithFPS(framesPerSecond))
	notify := func([]*fsstore.Annotated) {}
	if c.Notify != nil {
		rows, end := c.Notify(func(err error) { program.Send(warnedMsg{err}) })
		notify = rows
		defer end()
	}
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		follow(ctx, c, program.Send, notify)
	}()
	last, err := program.Run()
	stopped := ctx.Err() != nil
	cancel()
	<-followed // nobody is told of anything after the end
	if m, ok := last.(*model); ok {
		focused = m.left
	}
	if errors.Is(err, tea.ErrInterrupted) || stopped {
		err = nil
	}
	return focused, err
}

// follow sends what the store comes to, until ctx is done.
func follow(ctx context.Context, c Config, send func(tea.Msg), notify func([]*fsstore.Annotated)) {
	options := listing.FeedOptions{Pace: pace}
	if !c.NoMaintain {
		options.Maintain = func() {
			send(maintainedMsg{maintain.Run(c.Dir, maintain.Options{}).Err})
		}
	}
	feed := listing.Follow(c.Dir, options)
	defer feed.Close()
	for {
		l, err := feed.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		rows := c.Filter.Apply(l.Rows)
		if err == nil {
			notify(rows)
		}
		send(listedMsg{l, rows, err, time.Now()})
	}
}

// listedMsg is what the store came to.
type listedMsg struct {
	listing.Listing
	kept []*fsstore.Annotated
	err  error
	at   time.Time
}

// warnedMsg is why the user could not be told of something.
type warnedMsg struct{ err error }

// maintainedMsg is how a maintenance ended.
type maintainedMsg struct{ err error }
