package desktop

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"tongs-agents/fsstore"
	"tongs-agents/internal/listing"
)

// bus starts a bus at which nobody is but the test's own, and returns what ends
// it.
func bus(t *testing.T, dir string) (kill func()) {
	t.Helper()
	config := filepath.Join(dir, "bus.conf")
	text := `<busconfig><type>session</type><listen>unix:path=` + dir + `/bus</listen>
<policy context="default"><allow send_destination="*"/><allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dbus-daemon", "--nofork", "--print-address", "--config-file", config)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install dbus-daemon", err)
	}
	kill = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.Remove(filepath.Join(dir, "bus"))
	})
	t.Cleanup(kill)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return kill
}

// desktop is a notification server. What is called is on calls, a line each.
type desktop struct {
	conn         *dbus.Conn
	calls        chan string
	capabilities []string
	ids          uint32
}

func (d *desktop) GetCapabilities() ([]string, *dbus.Error) { return d.capabilities, nil }

func (d *desktop) Notify(app string, replaces uint32, icon, summary, body string, actions []string, hints map[string]dbus.Variant, timeout int32) (uint32, *dbus.Error) {
	id := replaces
	if id == 0 {
		d.ids++
		id = d.ids
	}
	d.calls <- fmt.Sprintf("%s %d/%d %s: %s|%s %v %v", app, id, replaces, icon, summary, body, actions, hints["urgency"])
	return id, nil
}

func (d *desktop) CloseNotification(id uint32) *dbus.Error {
	d.calls <- fmt.Sprint("close ", id)
	return nil
}

func serve(t *testing.T, dir string, capabilities ...string) *desktop {
	t.Helper()
	conn, err := dbus.Connect("unix:path=" + dir + "/bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	d := &desktop{conn: conn, calls: make(chan string, 10), capabilities: capabilities}
	if err := conn.Export(d, path, service); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName(service, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desktop) want(t *testing.T, call string) {
	t.Helper()
	select {
	case got := <-d.calls:
		if got != call {
			t.Errorf("the call is %q, want %q", got, call)
		}
	case <-time.After(time.Minute):
		t.Fatalf("no call, want %q", call)
	}
}

func (d *desktop) emit(t *testing.T, signal string, values ...any) {
	t.Helper()
	if err := d.conn.Emit(path, service+"."+signal, values...); err != nil {
		t.Fatal(err)
	}
}

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func row(session string, status fsstore.Status, change ...func(*fsstore.Annotated)) *fsstore.Annotated {
	r := &fsstore.Annotated{NeedsAttention: status == fsstore.Waiting || status == fsstore.Idle}
	r.Key = fsstore.Key{Harness: "claude", Session: session, Instance: "1:1"}
	r.Status, r.Repo = status, "app"
	for _, f := range change {
		f(r)
	}
	return r
}

func setBus(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus-") // whose path fits a socket's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+dir+"/bus")
	return dir
}

func TestNotifier(t *testing.T) {
	dir := setBus(t)
	bus(t, dir)
	d := serve(t, dir, "actions", "body", "body-markup")
	focused := make(chan *fsstore.Annotated, 10)
	n := NewNotifier(Config{Focus: func(r *fsstore.Annotated) { focused <- r }, Warn: func(err error) { t.Error(err) }})

	// What it says; nothing in it is markup, or acts on anything.
	a := row("a", fsstore.Waiting, func(r *fsstore.Annotated) {
		r.Repo, r.Detail, r.Title = "a<b\x1b[1m", "permission\nneeded: <b>rm</b> & \x1b]0;x\x07more", "Fix\u202e it"
	})
	n.Show(a)
	d.want(t, `tongs-agents 1/0 utilities-terminal: claude in a<b waits for you|permission needed: &lt;b&gt;rm&lt;/b&gt; &amp; more`+"\nFix it"+` [default Focus] @y 0x1`)

	// Another session has another one; the next of a session takes its place,
	// in whatever process.
	n.Show(row("b", fsstore.Idle))
	d.want(t, "tongs-agents 2/0 utilities-terminal: claude in app is idle| [default Focus] @y 0x0")
	again := row("a", fsstore.Idle, func(r *fsstore.Annotated) { r.Instance = "2:2" })
	n.Show(again)
	d.want(t, "tongs-agents 1/1 utilities-terminal: claude in app is idle| [default Focus] @y 0x0")

	// A click focuses the session, as it was shown last.
	d.emit(t, "ActionInvoked", uint32(2), "other")
	d.emit(t, "ActionInvoked", uint32(7), "default")
	d.emit(t, "ActionInvoked", uint32(1), "default")
	if got := receive(t, focused, "focus"); got != again {
		t.Errorf("the focused session is %+v", got)
	}

	// Withdrawn once; one that the user has closed is not, and is not replaced.
	n.Withdraw(row("a", fsstore.Running))
	d.want(t, "close 1")
	n.Withdraw(row("a", fsstore.Running))
	n.Withdraw(row("never", fsstore.Running))
	n.Show(row("a", fsstore.Waiting))
	d.want(t, "tongs-agents 3/0 utilities-terminal: claude in app waits for you| [default Focus] @y 0x1")

	// What is shown goes with the notifier.
	n.Withdraw(row("b", fsstore.Running))
	d.want(t, "close 2")
	n.Close()
	d.want(t, "close 3")
	select {
	case r := <-focused:
		t.Errorf("%+v was focused, too", r)
	case call := <-d.calls:
		t.Errorf("there was another call: %s", call)
	default:
	}
}

// A session that the user looks at has no notification, and loses the one it had.
func TestInFront(t *testing.T) {
	dir := setBus(t)
	bus(t, dir)
	d := serve(t, dir)
	n := NewNotifier(Config{InFront: func(_ context.Context, r *fsstore.Annotated) bool { return r.Detail == "seen" }})
	defer n.Close()
	seen := func(r *fsstore.Annotated) { r.Detail = "seen" }
	const shown = "tongs-agents %d/0 utilities-terminal: claude in app waits for you| [] @y 0x1"
	n.Show(row("a", fsstore.Waiting, seen))
	n.Show(row("b", fsstore.Waiting))
	d.want(t, fmt.Sprintf(shown, 1))
	n.Show(row("b", fsstore.Waiting, seen))
	d.want(t, "close 1")
	n.Show(row("a", fsstore.Waiting))
	d.want(t, fmt.Sprintf(shown, 2))
}

// A notification that the user has closed is over.
func TestClosed(t *testing.T) {
	dir := setBus(t)
	bus(t, dir)
	d := serve(t, dir)
	n := NewNotifier(Config{Focus: func(*fsstore.Annotated) {}})
	defer n.Close()
	n.Show(row("a", fsstore.Waiting))
	d.want(t, "tongs-agents 1/0 utilities-terminal: claude in app waits for you| [] @y 0x1") // cannot do actions
	d.emit(t, "NotificationClosed", uint32(1), uint32(2))
	// The signal has arrived once a later one of ours has: show until it shows.
	for deadline := time.Now().Add(time.Minute); ; {
		n.Show(row("a", fsstore.Waiting))
		call := receive(t, d.calls, "notification")
		if strings.HasPrefix(call, "tongs-agents 2/0 ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the notification is replaced that was closed: %s", call)
		}
	}
}

// Without a bus there is one warning. It is found when it comes, and found
// again when it has died.
func TestNoBus(t *testing.T) {
	dir := setBus(t)
	warnings := make(chan error, 10)
	n := NewNotifier(Config{Warn: func(err error) { warnings <- err }})
	defer n.Close()
	named := func(session string) *fsstore.Annotated {
		return row(session, fsstore.Waiting, func(r *fsstore.Annotated) { r.Detail = session })
	}
	show := func(d *desktop, session string) {
		t.Helper()
		n.Show(named(session))
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			select {
			case call := <-d.calls:
				if strings.Contains(call, "|"+session+" ") {
					return
				}
			case <-time.After(time.Second):
				n.Show(named(session))
			}
		}
		t.Fatal("no notification")
	}
	n.Withdraw(row("a", fsstore.Running)) // asks nobody
	n.Show(named("a"))
	if err := receive(t, warnings, "warning"); !strings.HasPrefix(err.Error(), "no desktop notifications: ") {
		t.Errorf("the warning is %q", err)
	}
	n.Show(named("b"))

	kill := bus(t, dir)
	n.Show(named("b")) // a bus without a server
	d := serve(t, dir)
	show(d, "c")
	show(d, "c again") // so that the first one has certainly arrived
	if len(warnings) > 0 {
		t.Errorf("another warning: %v", <-warnings)
	}
	kill()
	n.Show(named("d"))
	if err := receive(t, warnings, "second warning"); err == nil {
		t.Error("the second warning is nil")
	}
	bus(t, dir)
	show(serve(t, dir), "e")
}

func TestFollow(t *testing.T) {
	dir := setBus(t)
	bus(t, dir)
	d := serve(t, dir)
	n := NewNotifier(Config{})
	defer n.Close()
	const shown = "tongs-agents %d/0 utilities-terminal: claude in app waits for you| [] @y 0x1"
	waiting := row("a", fsstore.Waiting)
	n.Follow(listing.Transition{Row: waiting, From: "running", To: "waiting", Needs: true})
	d.want(t, fmt.Sprintf(shown, 1))
	n.Follow(listing.Transition{Row: row("a", fsstore.Idle), From: "waiting", To: "idle"}) // still needs the user
	n.Follow(listing.Transition{Row: row("a", fsstore.Running), From: "idle", To: "running"})
	d.want(t, "close 1")
	n.Follow(listing.Transition{Row: waiting, From: "running", To: "waiting", Needs: true})
	d.want(t, fmt.Sprintf(shown, 2))
	n.Follow(listing.Transition{Row: waiting, From: "waiting", To: listing.Gone})
	d.want(t, "close 2")
}
