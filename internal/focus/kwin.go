package focus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/godbus/dbus/v5"
)

// kwin is asked by scripts that it runs and that call us back over D-Bus:
// nothing else of it lists the windows of Wayland.
type kwin struct{ socket string }

const (
	kwinService   = "org.kde.KWin"
	kwinScripting = "org.kde.kwin.Scripting."
	kwinReply     = "tongs_agents.Focus"
)

func newKWin(env environs) desktop {
	address := env.get("DBUS_SESSION_BUS_ADDRESS")
	if address == "" {
		return nil
	}
	return kwin{address}
}

func (kwin) name() string { return "KWin" }

// kwinScript does the work in Plasma 5 and 6, whose names differ: it activates
// the window %[2]s, if that is not empty, and sends all windows to %[1]s.
const kwinScript = `const wanted = %[2]s;
const windows = workspace.windowList ? workspace.windowList() : workspace.clientList();
for (const w of windows) {
    if (w.internalId.toString() === wanted) {
        if (workspace.windowList) workspace.activeWindow = w; else workspace.activeClient = w;
    }
}
const active = workspace.windowList ? workspace.activeWindow : workspace.activeClient;
callDBus(%[1]s, "/", "` + kwinReply + `", "Windows", JSON.stringify(windows.filter(w => w.normalWindow).map(w => ({
    id: w.internalId.toString(), pid: w.pid, active: w === active,
}))));
`

func (k kwin) windows(ctx context.Context) ([]window, error) { return k.run(ctx, "") }

func (k kwin) activate(ctx context.Context, id string) error {
	_, err := k.run(ctx, id)
	return err
}

// kwinReceiver gets what the script sends.
type kwinReceiver chan string

// Windows is called by the script.
func (r kwinReceiver) Windows(list string) *dbus.Error {
	select {
	case r <- list:
	default:
	}
	return nil
}

func (k kwin) run(ctx context.Context, wanted string) ([]window, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := sessionBus(ctx, environs{{"DBUS_SESSION_BUS_ADDRESS=" + k.socket}})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var there bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, kwinService).Store(&there); err != nil {
		return nil, err
	}
	if !there {
		return nil, errAbsent
	}
	reply := make(kwinReceiver, 1)
	if err := conn.Export(reply, "/", kwinReply); err != nil {
		return nil, err
	}
	stop, err := k.start(ctx, conn, fmt.Sprintf(kwinScript, quoteJS(conn.Names()[0]), quoteJS(wanted)))
	defer stop()
	if err != nil {
		return nil, err
	}
	select {
	case text := <-reply:
		return kwinWindows(text)
	case <-ctx.Done():
		return nil, errors.New("the script in KWin does not answer")
	}
}

// start makes KWin run a script. KWin reads it from a file.
func (k kwin) start(ctx context.Context, conn *dbus.Conn, script string) (stop func(), err error) {
	file, err := os.CreateTemp("", "tongs-agents-*.js")
	if err != nil {
		return func() {}, err
	}
	name := file.Name()
	scripting := conn.Object(kwinService, "/Scripting")
	stop = func() {
		scripting.Call(kwinScripting+"unloadScript", dbus.FlagNoReplyExpected, name)
		os.Remove(name)
	}
	_, err = file.WriteString(script)
	if err = errors.Join(err, file.Close()); err != nil {
		return stop, err
	}
	var id int32
	if err := scripting.CallWithContext(ctx, kwinScripting+"loadScript", 0, name, name).Store(&id); err != nil {
		return stop, err
	}
	n := strconv.Itoa(int(id))
	err = conn.Object(kwinService, dbus.ObjectPath("/Scripting/Script"+n)).CallWithContext(ctx, "org.kde.kwin.Script.run", 0).Err
	if err != nil { // Plasma 5
		err = conn.Object(kwinService, dbus.ObjectPath("/"+n)).CallWithContext(ctx, "org.kde.kwin.Script.run", 0).Err
	}
	return stop, err
}

func kwinWindows(text string) ([]window, error) {
	var windows []struct {
		ID     string `json:"id"`
		PID    int    `json:"pid"`
		Active bool   `json:"active"`
	}
	if err := json.Unmarshal([]byte(text), &windows); err != nil {
		return nil, err
	}
	var list []window
	for _, w := range windows {
		list = append(list, window{w.ID, w.PID, w.Active})
	}
	return list, nil
}

// quoteJS writes a text as a literal of JavaScript.
func quoteJS(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
