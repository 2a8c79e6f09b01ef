package focus

import (
	"context"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
)

// konsole is asked over D-Bus. Its sessions can be moved to other windows, so
// that both are looked for, by the process that each session has started.
type konsole struct{}

func (konsole) name() string        { return "konsole" }
func (konsole) is(comm string) bool { return comm == "konsole" }
func (konsole) multiplexer() bool   { return false }

const (
	konsoleSession = "org.kde.konsole.Session."
	konsoleWindow  = "org.kde.konsole.Window."
)

func (konsole) choose(ctx context.Context, p *place) (shown, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := sessionBus(ctx, append(slices.Clone(p.env), p.desk...))
	if err != nil {
		return shown{}, declined("konsole cannot be told which tab to show: %v", err)
	}
	defer conn.Close()
	k := konsoleProcess{ctx, conn, p.env.get("KONSOLE_DBUS_SERVICE")}
	if k.service == "" {
		k.service = "org.kde.konsole-" + strconv.Itoa(p.host)
	}
	var pid uint32
	err = conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, k.service).Store(&pid)
	if err != nil {
		return shown{}, fmt.Errorf("konsole: %w", err)
	}
	if int(pid) != p.host {
		return shown{}, fmt.Errorf("%q on D-Bus is not the konsole that shows process %d", k.service, p.lineage[0].PID)
	}
	session, err := k.session(p)
	if err != nil {
		return shown{}, err
	}
	return k.show(session)
}

type konsoleProcess struct {
	ctx     context.Context
	conn    *dbus.Conn
	service string
}

func (k konsoleProcess) call(path, method string, result any, args ...any) error {
	call := k.conn.Object(k.service, dbus.ObjectPath(path)).CallWithContext(k.ctx, method, 0, args...)
	if call.Err != nil {
		return fmt.Errorf("konsole: %s: %w", path, call.Err)
	}
	if result == nil {
		return nil
	}
	return call.Store(result)
}

// below returns the numbers of the objects below a path.
func (k konsoleProcess) below(path string) ([]int, error) {
	var description string
	if err := k.call(path, "org.freedesktop.DBus.Introspectable.Introspect", &description); err != nil {
		return nil, err
	}
	var node introspect.Node
	if err := xml.Unmarshal([]byte(description), &node); err != nil {
		return nil, fmt.Errorf("konsole: %s: %w", path, err)
	}
	var ids []int
	for _, child := range node.Children {
		if id, err := strconv.Atoi(child.Name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// session finds the one whose process is an ancestor.
func (k konsoleProcess) session(p *place) (int, error) {
	ids, err := k.below("/Sessions")
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		var pid int32
		if err := k.call("/Sessions/"+strconv.Itoa(id), konsoleSession+"processId", &pid); err == nil && p.has(int(pid)) {
			return id, nil
		}
	}
	return 0, fmt.Errorf("no tab of konsole holds process %d", p.lineage[0].PID)
}

// show makes the window that has the session show it.
func (k konsoleProcess) show(session int) (shown, error) {
	ids, err := k.below("/Windows")
	if err != nil {
		return shown{}, err
	}
	for _, id := range ids {
		window := "/Windows/" + strconv.Itoa(id)
		var sessions []string
		if err := k.call(window, konsoleWindow+"sessionList", &sessions); err != nil || !slices.Contains(sessions, strconv.Itoa(session)) {
			continue
		}
		if err := k.call(window, konsoleWindow+"setCurrentSession", nil, int32(session)); err != nil {
			return shown{}, err
		}
		var now int32
		if err := k.call(window, konsoleWindow+"currentSession", &now); err != nil {
			return shown{}, err
		}
		if int(now) != session {
			return shown{}, fmt.Errorf("konsole shows session %d, not %d", now, session)
		}
		return shown{what: fmt.Sprintf("konsole session %d", session)}, nil
	}
	return shown{}, fmt.Errorf("no window of konsole has session %d", session)
}
