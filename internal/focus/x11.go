package focus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"regexp"
	"slices"
	"strconv"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"tongs-agents/linux"
)

// x11 is a display with a window manager that keeps to the Extended Window
// Manager Hints.
type x11 struct{ display string }

func init() { xgb.Logger = log.New(io.Discard, "", 0) } // which is standard error

// localDisplay is a display of this machine: one that ssh forwards is on
// another host, though its name may be that of this one.
var localDisplay = regexp.MustCompile(`^:[0-9]{1,5}(\.[0-9]{1,3})?$`)

func newX11(env environs) desktop {
	if display := env.get("DISPLAY"); localDisplay.MatchString(display) {
		return x11{display}
	}
	return nil
}

func (x11) name() string { return "X11" }

func (x x11) windows(ctx context.Context) (list []window, err error) {
	err = x.with(ctx, func(c *xConn) error {
		active, err := c.cardinals(c.root, "_NET_ACTIVE_WINDOW")
		if err != nil {
			return err
		}
		ids, err := c.cardinals(c.root, "_NET_CLIENT_LIST")
		if err != nil {
			return err
		}
		for _, id := range ids {
			w := window{id: strconv.FormatUint(uint64(id), 10), active: len(active) > 0 && active[0] == id}
			var err error
			if w.pid, err = c.pid(xproto.Window(id)); err == nil && !c.isPanel(xproto.Window(id)) { // else it is gone
				list = append(list, w)
			}
		}
		return nil
	})
	return list, err
}

func (x x11) activate(ctx context.Context, id string) error {
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return err
	}
	return x.with(ctx, func(c *xConn) error {
		atom, err := c.atom("_NET_ACTIVE_WINDOW")
		if err != nil {
			return err
		}
		const pager = 2 // the user wants it, so that it is not taken for intrusive
		message := xproto.ClientMessageEvent{
			Format: 32, Window: xproto.Window(n), Type: atom,
			Data: xproto.ClientMessageDataUnionData32New([]uint32{pager, 0, 0, 0, 0}),
		}
		return xproto.SendEventChecked(c.Conn, false, c.root,
			xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes())).Check()
	})
}

// xConn is a connection to a display.
type xConn struct {
	*xgb.Conn
	root  xproto.Window
	atoms map[string]xproto.Atom
}

// with connects to the display for the time of a call, patience at most.
func (x x11) with(ctx context.Context, fn func(*xConn) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- x.connected(ctx, fn) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("display %s does not answer", x.display)
	}
}

func (x x11) connected(ctx context.Context, fn func(*xConn) error) error {
	conn, err := xgb.NewConnDisplay(x.display)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)()
	c := &xConn{conn, xproto.Setup(conn).DefaultScreen(conn).Root, map[string]xproto.Atom{}}
	if wm, err := c.cardinals(c.root, "_NET_SUPPORTING_WM_CHECK"); err != nil || len(wm) == 0 {
		return errors.New("there is no window manager with the Extended Window Manager Hints")
	}
	return fn(c)
}

func (c *xConn) atom(name string) (xproto.Atom, error) {
	if a, ok := c.atoms[name]; ok {
		return a, nil
	}
	reply, err := xproto.InternAtom(c.Conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, err
	}
	c.atoms[name] = reply.Atom
	return reply.Atom, nil
}

// property returns what a window has under a name, nothing if it has not.
func (c *xConn) property(w xproto.Window, name string) (*xproto.GetPropertyReply, error) {
	atom, err := c.atom(name)
	if err != nil {
		return nil, err
	}
	const most = 1 << 16 // units of 4 bytes
	return xproto.GetProperty(c.Conn, false, w, atom, xproto.GetPropertyTypeAny, 0, most).Reply()
}

// cardinals returns a property that is a list of numbers.
func (c *xConn) cardinals(w xproto.Window, name string) ([]uint32, error) {
	reply, err := c.property(w, name)
	if err != nil || reply.Format != 32 {
		return nil, err
	}
	var list []uint32
	for b := reply.Value; len(b) >= 4; b = b[4:] {
		list = append(list, xgb.Get32(b))
	}
	return list, nil
}

// isPanel reports whether a window is a part of the desktop, and nothing that
// shows a session.
func (c *xConn) isPanel(w xproto.Window) bool {
	kinds, _ := c.cardinals(w, "_NET_WM_WINDOW_TYPE")
	for _, name := range [...]string{"_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP"} {
		if kind, err := c.atom(name); err == nil && slices.Contains(kinds, uint32(kind)) {
			return true
		}
	}
	return false
}

// pid returns the process of a window, 0 if it does not say, or runs on another
// machine.
func (c *xConn) pid(w xproto.Window) (int, error) {
	pids, err := c.cardinals(w, "_NET_WM_PID")
	if err != nil || len(pids) == 0 {
		return 0, err
	}
	machine, err := c.property(w, "WM_CLIENT_MACHINE")
	if err != nil {
		return 0, err
	}
	if name := string(machine.Value); name != "" && name != linux.Hostname() {
		return 0, nil
	}
	return int(pids[0]), nil
}
