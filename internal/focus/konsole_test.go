package focus

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
)

// newBus starts a D-Bus of a test.
func newBus(t *testing.T) (address string) {
	t.Helper()
	need(t, "dbus-daemon")
	dir := shortDir(t)
	address = "unix:path=" + dir + "/bus"
	config := write(t, filepath.Join(dir, "config"), `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>`+address+`</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
`, 0o600)
	start(t, nil, "dbus-daemon", "--nofork", "--nopidfile", "--config-file", config)
	wait(t, "a bus", func() bool { return ownSocket(dir+"/bus") == nil })
	return address
}

// konsoleEnv has the file in which the agent of the fake writes its pid. The
// test binary is then a konsole, under that name.
const konsoleEnv = "FOCUS_TEST_KONSOLE"

// konsoleFake has two windows. The second one has the session of the agent
// behind another.
type konsoleFake struct{ session atomic.Int32 }

func (w *konsoleFake) SessionList() ([]string, *dbus.Error) { return []string{"4", "12"}, nil }
func (w *konsoleFake) CurrentSession() (int32, *dbus.Error) { return w.session.Load(), nil }
func (w *konsoleFake) SetCurrentSession(id int32) *dbus.Error {
	if os.Getenv("FOCUS_TEST_STUBBORN") == "" {
		w.session.Store(id)
	}
	return nil
}

type konsoleOther struct{}

func (konsoleOther) SessionList() ([]string, *dbus.Error)   { return []string{"1"}, nil }
func (konsoleOther) SetCurrentSession(id int32) *dbus.Error { panic("the wrong window") }

type konsoleTab int32

func (pid konsoleTab) ProcessId() (int32, *dbus.Error) { return int32(pid), nil }

func fakeKonsole() int {
	conn, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cmd := exec.Command("sh", os.Getenv("HOME")+"/agent.sh", os.Getenv(konsoleEnv))
	cmd.Env = append(os.Environ(), konsoleEnv+"=")
	bare := os.Getenv("FOCUS_TEST_BARE") != ""
	if bare {
		cmd = exec.Command("sleep", "1000")
		cmd.Env = []string{}
	}
	if os.Getenv("FOCUS_TEST_SERVICE") != "" {
		cmd.Env = append(cmd.Env, "KONSOLE_DBUS_SERVICE="+conn.Names()[0], "KONSOLE_DBUS_SESSION=/Sessions/99")
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if bare {
		os.WriteFile(os.Getenv(konsoleEnv), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
	}
	w := &konsoleFake{}
	w.session.Store(4)
	methods := map[string]string{
		"SessionList": "sessionList", "CurrentSession": "currentSession", "SetCurrentSession": "setCurrentSession", "ProcessId": "processId",
	}
	conn.ExportWithMap(konsoleOther{}, methods, "/Windows/1", "org.kde.konsole.Window")
	conn.ExportWithMap(w, methods, "/Windows/2", "org.kde.konsole.Window")
	for id, pid := range map[string]int{"1": 2, "4": 3, "12": cmd.Process.Pid} {
		conn.ExportWithMap(konsoleTab(pid), methods, dbus.ObjectPath("/Sessions/"+id), "org.kde.konsole.Session")
	}
	for path, children := range map[dbus.ObjectPath][]string{"/Windows": {"1", "2"}, "/Sessions": {"1", "4", "12"}} {
		node := &introspect.Node{Name: string(path)}
		for _, c := range children {
			node.Children = append(node.Children, introspect.Node{Name: c})
		}
		conn.Export(introspect.NewIntrospectable(node), path, "org.freedesktop.DBus.Introspectable")
	}
	conn.RequestName("org.kde.konsole-"+strconv.Itoa(os.Getpid()), 0)
	cmd.Wait()
	return 0
}

// newKonsole runs a fake and returns its agent.
func newKonsole(t *testing.T, vars ...string) (pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "konsole")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "agent")
	terminal := orphan(t, nil, append(vars, konsoleEnv+"="+file), link)
	pid = agentIn(t, file)
	conn, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	wait(t, "konsole on D-Bus", func() bool {
		var there bool
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.kde.konsole-"+strconv.Itoa(terminal)).Store(&there)
		return err == nil && there
	})
	return pid
}

func TestKonsole(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", newBus(t))
	const done = "selected konsole session 12; the window of konsole cannot be raised"
	pid := newKonsole(t, "FOCUS_TEST_SERVICE=1")
	check(t, session(t, pid), Partial, "konsole", done)
	other := newKonsole(t)
	check(t, session(t, other, env("KONSOLE_DBUS_SESSION=/Sessions/1")), Partial, "konsole", done)

	// A name on the bus that is another's, as a forged record may have it.
	var service string
	for _, v := range environ(pid) {
		if name, ok := strings.CutPrefix(v, "KONSOLE_DBUS_SERVICE="); ok {
			service = name
		}
	}
	bare := newKonsole(t, "FOCUS_TEST_BARE=1")
	check(t, session(t, bare), Partial, "konsole", done)
	for name, why := range map[string]string{service: "is not the konsole that shows process", "org.example.none": "konsole: ", "--": "konsole: "} {
		check(t, session(t, bare, env("KONSOLE_DBUS_SERVICE="+name)), Failed, "konsole", why)
		check(t, session(t, other, env("KONSOLE_DBUS_SERVICE="+name)), Partial, "konsole", done)
	}
	check(t, session(t, newKonsole(t, "FOCUS_TEST_STUBBORN=1")), Failed, "konsole", "konsole shows session 4, not 12")

	// The bus is that of the session, whatever ours is.
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "tcp:host=localhost,port=1")
	check(t, session(t, pid), Partial, "konsole", done)
}

func TestBusSocket(t *testing.T) {
	for address, want := range map[string]string{
		"":                                fmt.Sprintf("/run/user/%d/bus", os.Geteuid()),
		"unix:path=/run/user/1000/bus":    "/run/user/1000/bus",
		"unix:guid=1,path=/a%20b":         "/a b",
		"tcp:host=x;unix:path=/b":         "/b",
		"unix:abstract=/tmp/dbus-1,guid=": "@/tmp/dbus-1",
		"tcp:host=x,port=1":               "",
		"unixexec:path=/bin/sh":           "",
		"autolaunch:":                     "",
		"unix:tmpdir=/tmp":                "",
		"x":                               "",
	} {
		got, err := busSocket(address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", address, got, err, want)
		}
	}
}
