package focus

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// kwinFake runs scripts by node, with the objects that KWin gives them.
type kwinFake struct {
	*testing.T
	conn   *dbus.Conn
	plasma string // "5" or "6"
	pid    int

	mu      sync.Mutex
	scripts []string
	active  string
	left    int // scripts that are loaded
}

func (k *kwinFake) LoadScript(file, name string) (int32, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	script, err := os.ReadFile(file)
	if err != nil {
		k.Error(err)
	}
	k.scripts = append(k.scripts, string(script))
	k.left++
	path := "/Scripting/Script"
	if k.plasma == "5" {
		path = "/"
	}
	id := len(k.scripts)
	k.conn.ExportMethodTable(map[string]any{"run": func() *dbus.Error { return k.run(id - 1) }},
		dbus.ObjectPath(path+strconv.Itoa(id)), "org.kde.kwin.Script")
	return int32(id), nil
}

func (k *kwinFake) UnloadScript(name string) (bool, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left--
	return true, nil
}

func (k *kwinFake) run(i int) *dbus.Error {
	k.mu.Lock()
	defer k.mu.Unlock()
	world := `
const window = (id, pid, normalWindow) => ({internalId: {toString: () => id}, pid, normalWindow, caption: "x"});
const list = [window("{a}", 2, true), window("{b}", ` + strconv.Itoa(k.pid) + `, true), window("{panel}", ` + strconv.Itoa(k.pid) + `, false)];
const first = list.find(w => w.internalId.toString() === ` + quoteJS(k.active) + `);
const workspace = ` + map[string]string{
		"5": `{clientList: () => list, activeClient: first}`,
		"6": `{windowList: () => list, activeWindow: first}`,
	}[k.plasma] + `;
Object.preventExtensions(workspace);
let called = [];
const callDBus = (...args) => called.push(args);
(() => {"use strict";` + k.scripts[i] + `})();
const active = workspace.activeClient ?? workspace.activeWindow;
console.log(JSON.stringify({called, active: active.internalId.toString()}));
`
	out, err := exec.Command("node", "-e", world).CombinedOutput()
	var result struct {
		Called [][]string
		Active string
	}
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	if err != nil || len(result.Called) != 1 || len(result.Called[0]) != 5 {
		k.Errorf("the script: %v\n%s", err, out)
		return nil
	}
	k.active = result.Active
	call := result.Called[0]
	go k.conn.Object(call[0], dbus.ObjectPath(call[1])).Call(call[2]+"."+call[3], 0, call[4])
	return nil
}

func TestKWin(t *testing.T) {
	need(t, "node")
	address := newBus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	g := newProgram(t, "ghostty", "")
	pid, terminal := g.agent(nil)
	check(t, session(t, pid), Unavailable, "ghostty", "none of its windows is on this desktop") // a bus without KWin
	scripts := t.TempDir()
	t.Setenv("TMPDIR", scripts)
	for _, plasma := range []string{"5", "6"} {
		conn, err := dbus.Connect(address)
		if err != nil {
			t.Fatal(err)
		}
		k := &kwinFake{T: t, conn: conn, plasma: plasma, pid: terminal, active: "{a}"}
		methods := map[string]string{"LoadScript": "loadScript", "UnloadScript": "unloadScript"}
		if err := conn.ExportWithMap(k, methods, "/Scripting", "org.kde.kwin.Scripting"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.RequestName("org.kde.KWin", 0); err != nil {
			t.Fatal(err)
		}
		check(t, session(t, pid), Partial, "ghostty", "raised the window of ghostty; ghostty cannot be told which tab to show")
		if k.active != "{b}" {
			t.Errorf("Plasma %s: window %s is active", plasma, k.active)
		}
		wait(t, "the end of the scripts", func() bool {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.left == 0
		})
		conn.Close()
	}
	if left, _ := filepath.Glob(scripts + "/*.js"); len(left) > 0 {
		t.Errorf("files are left: %s", strings.Join(left, " "))
	}
}
