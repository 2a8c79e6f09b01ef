// Package desktop tells the user of sessions by the notifications of the
// desktop: the Desktop Notifications Specification over D-Bus, version 1.2,
// specifications.freedesktop.org/notification-spec.
package desktop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/text"
)

const (
	service = "org.freedesktop.Notifications"
	path    = "/org/freedesktop/Notifications"

	// callTimeout bounds how long a notification server is waited for.
	callTimeout = 5 * time.Second
)

// Config is what a notifier needs of others.
type Config struct {
	// Focus brings a session to the front, when the user has clicked on its
	// notification. nil: notifications cannot be clicked on.
	Focus func(*fsstore.Annotated)
	// InFront reports whether the user looks at a session, which needs no
	// notification then. nil: at none.
	InFront func(context.Context, *fsstore.Annotated) bool
	// Warn is told why notifications do not arrive: once, until one has. nil:
	// nobody is.
	Warn func(error)
}

// Notifier shows at most one notification of a session. Without a bus or a
// server it shows none, and tries again with the next. Its methods return at
// once, may be called from several goroutines, and not after Close.
type Notifier struct {
	config Config

	mu     sync.Mutex
	wishes []wish // the last one of each session
	wake   chan struct{}
	cancel context.CancelFunc
	ended  chan struct{}
}

// wish is what is to be seen of a session; without a row nothing is.
type wish struct {
	key fsstore.Key
	row *fsstore.Annotated
}

// NewNotifier connects to nothing before there is something to show.
func NewNotifier(config Config) *Notifier {
	ctx, cancel := context.WithCancel(context.Background())
	n := &Notifier{config: config, wake: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(n.ended)
		n.run(ctx)
	}()
	return n
}

// Show shows that a session needs the user, in place of what was shown of it,
// unless the user has it in front.
func (n *Notifier) Show(row *fsstore.Annotated) { n.want(wish{sessionKey(row.Key), row}) }

// Withdraw takes back what was shown of a session.
func (n *Notifier) Withdraw(row *fsstore.Annotated) { n.want(wish{sessionKey(row.Key), nil}) }

// Follow shows and withdraws what a transition asks for.
func (n *Notifier) Follow(c listing.Transition) {
	switch {
	case c.Needs:
		n.Show(c.Row)
	case c.To == listing.Gone || !c.Row.NeedsAttention:
		n.Withdraw(c.Row)
	}
}

// sessionKey names a session in whatever process it goes on.
func sessionKey(k fsstore.Key) fsstore.Key {
	return fsstore.Key{Harness: k.Harness, Session: k.Session}
}

func (n *Notifier) want(w wish) {
	n.mu.Lock()
	n.wishes = slices.DeleteFunc(n.wishes, func(old wish) bool { return old.key == w.key })
	n.wishes = append(n.wishes, w)
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *Notifier) take() []wish {
	n.mu.Lock()
	defer n.mu.Unlock()
	wishes := n.wishes
	n.wishes = nil
	return wishes
}

// Close takes back what is shown, within 5 seconds, and ends the notifier. It
// does not wait for a Focus.
func (n *Notifier) Close() {
	n.cancel()
	<-n.ended
}

// run does what is wanted until ctx is done.
func (n *Notifier) run(ctx context.Context) {
	var s *server // nil: there is none
	warned := false
	defer func() { s.close() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case signal, open := <-s.events():
			if !open {
				s.close()
				s = nil
			} else if row := s.clicked(signal); row != nil {
				go n.config.Focus(row)
			}
			continue
		}
		for _, w := range n.take() {
			if w.row != nil && n.config.InFront != nil && n.config.InFront(ctx, w.row) {
				w.row = nil
			}
			var err error
			if s == nil && w.row != nil {
				s, err = connect(ctx, n.config.Focus != nil)
			}
			if err == nil && s != nil {
				err = s.fulfil(ctx, w)
			}
			if s != nil && !s.conn.Connected() {
				s.close()
				s = nil
			}
			if err != nil && !warned && ctx.Err() == nil && n.config.Warn != nil {
				n.config.Warn(fmt.Errorf("no desktop notifications: %w", err))
			}
			warned = err != nil || warned && w.row == nil
		}
	}
}

// server is a connection to the bus on which a server of notifications is.
type server struct {
	conn    *dbus.Conn
	cancel  context.CancelFunc // ends it
	object  dbus.BusObject
	signals chan *dbus.Signal
	clicks  bool // are asked for
	shown   map[fsstore.Key]notification
}

type notification struct {
	id  uint32
	row *fsstore.Annotated
}

// connect gives up when ctx is done, or a bus says nothing.
func connect(ctx context.Context, clicks bool) (*server, error) {
	// The connection outlives ctx, for what is to be closed at the end.
	life, end := context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, end)()

	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(life))
	if err != nil {
		end()
		return nil, err
	}
	s := &server{
		conn: conn, cancel: end, object: conn.Object(service, path), clicks: clicks,
		signals: make(chan *dbus.Signal, 16), shown: make(map[fsstore.Key]notification),
	}
	conn.Signal(s.signals) // which is closed with the connection
	if err = conn.Auth(nil); err == nil {
		err = conn.Hello()
	}
	if err == nil {
		err = conn.AddMatchSignalContext(ctx, dbus.WithMatchInterface(service), dbus.WithMatchObjectPath(path))
	}
	if err != nil {
		conn.Close()
		end()
		return nil, err
	}
	return s, nil
}

func (s *server) close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	for key := range s.shown {
		if s.fulfil(ctx, wish{key: key}) != nil {
			break
		}
	}
	s.conn.Close()
	s.cancel()
}

// events are the signals of the server.
func (s *server) events() <-chan *dbus.Signal {
	if s == nil {
		return nil
	}
	return s.signals
}

// clicked returns the session that the user wants to see, if a signal says so.
func (s *server) clicked(signal *dbus.Signal) *fsstore.Annotated {
	if len(signal.Body) != 2 {
		return nil
	}
	id, ok := signal.Body[0].(uint32)
	if !ok {
		return nil
	}
	for key, shown := range s.shown {
		if shown.id != id {
			continue
		}
		switch signal.Name {
		case service + ".ActionInvoked":
			if signal.Body[1] == actionFocus && s.clicks {
				return shown.row
			}
		case service + ".NotificationClosed":
			delete(s.shown, key)
		}
	}
	return nil
}

// actionFocus is what a click on the notification itself invokes.
const actionFocus = "default"

// fulfil shows or closes a notification.
func (s *server) fulfil(ctx context.Context, w wish) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	shown, isShown := s.shown[w.key]
	if w.row == nil {
		if !isShown {
			return nil
		}
		delete(s.shown, w.key)
		return s.object.CallWithContext(ctx, service+".CloseNotification", 0, shown.id).Err
	}
	var capabilities []string // of the server that is there now
	if err := s.object.CallWithContext(ctx, service+".GetCapabilities", 0).Store(&capabilities); err != nil {
		return err
	}
	summary, body := words(w.row)
	if slices.Contains(capabilities, "body-markup") {
		body = markup.Replace(body)
	}
	actions := []string{}
	if s.clicks && slices.Contains(capabilities, "actions") {
		actions = []string{actionFocus, "Focus"}
	}
	hints := map[string]dbus.Variant{"urgency": dbus.MakeVariant(urgency(w.row))}
	const byServer = int32(-1) // decides how long it stays
	err := s.object.CallWithContext(ctx, service+".Notify", 0,
		"tongs-agents", shown.id, "utilities-terminal", summary, body, actions, hints, byServer).Store(&shown.id)
	if err != nil {
		return err
	}
	s.shown[w.key] = notification{shown.id, w.row}
	return nil
}

// markup is what the body of a notification says with XML.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// words are what a notification says of a session: text on one line each.
func words(r *fsstore.Annotated) (summary, body string) {
	summary = r.Harness
	if repo := text.Clean(r.Repo); repo != "" {
		summary += " in " + repo
	}
	if r.Status == fsstore.Waiting {
		summary += " waits for you"
	} else {
		summary += " is " + string(r.Status)
	}
	body = text.Clean(r.Detail)
	if title := text.Clean(r.Title); title != "" {
		body = strings.TrimPrefix(body+"\n"+title, "\n")
	}
	return summary, body
}

// urgency is that of the specification: an agent that waits goes on with the
// answer, one that is idle has time.
func urgency(r *fsstore.Annotated) byte {
	const low, normal = 0, 1
	if r.Status == fsstore.Waiting {
		return normal
	}
	return low
}
