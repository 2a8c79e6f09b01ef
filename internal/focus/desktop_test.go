package focus

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// serve listens on a socket of a test, and handles each connection in turn.
func serve(t *testing.T, path string, handle func(net.Conn)) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if handle != nil {
				handle(c)
			}
			c.Close()
		}
	}()
}

// newFakeSway speaks the protocol of sway-ipc(7), and has two windows, of which
// the floating second one is that of the process.
func newFakeSway(t *testing.T, socket string, pid int) string {
	t.Helper()
	var focused atomic.Bool
	serve(t, socket, func(c net.Conn) {
		var head [14]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return // only looked whether we are there
		}
		payload := make([]byte, binary.NativeEndian.Uint32(head[6:]))
		if _, err := io.ReadFull(c, payload); err != nil || string(head[:6]) != "i3-ipc" {
			t.Errorf("sway got %q, %v", head, err)
			return
		}
		kind := binary.NativeEndian.Uint32(head[10:])
		answer := ""
		switch {
		case kind == 4 && len(payload) == 0:
			answer = fmt.Sprintf(`{"id":1,"type":"root","nodes":[{"id":2,"focused":%t,"pid":1,"nodes":[]},{"id":3,"nodes":[],"floating_nodes":[{"id":9,"focused":%t,"pid":%d}]}]}`,
				!focused.Load(), focused.Load(), pid)
		case kind == 0 && string(payload) == "[con_id=9] focus":
			focused.Store(true)
			answer = `[{"success":true}]`
		default:
			answer = `[{"success":false,"error":"No matching node."}]`
		}
		binary.NativeEndian.PutUint32(head[6:], uint32(len(answer)))
		c.Write(append(head[:], answer...))
	})
	return socket
}

// newFakeHyprland speaks the protocol of hyprctl(1), with a configuration in Lua
// or one of before.
func newFakeHyprland(t *testing.T, socket string, pid int, lua bool) {
	t.Helper()
	var focused atomic.Int32
	serve(t, socket, func(c net.Conn) {
		buf := make([]byte, 1024)
		n, _ := c.Read(buf)
		request, isLua := strings.CutPrefix(string(buf[:n]), "dispatch hl.dsp.")
		switch {
		case request == "j/clients":
			fmt.Fprintf(c, `[{"address":"0xa1","pid":1,"focusHistoryID":%d},{"address":"0xb2","pid":%d,"focusHistoryID":%d}]`, focused.Load(), pid, 1-focused.Load())
		case isLua != lua:
			io.WriteString(c, "Invalid dispatcher")
		case lua && request == `focus({window="address:0xb2"})`, !lua && request == "dispatch focuswindow address:0xb2":
			focused.Store(1)
			io.WriteString(c, "ok\n")
		default:
			t.Errorf("Hyprland got %q", buf[:n])
		}
	})
}

// newFakeNiri speaks the protocol of niri-ipc.
func newFakeNiri(t *testing.T, socket string, pid int) {
	t.Helper()
	var focused atomic.Bool
	serve(t, socket, func(c net.Conn) {
		line, _ := bufio.NewReader(c).ReadString('\n')
		switch line {
		case "\"Windows\"\n":
			fmt.Fprintf(c, `{"Ok":{"Windows":[{"id":4,"title":null,"pid":null,"is_focused":%t},{"id":5,"pid":%d,"is_focused":%t}]}}`+"\n", !focused.Load(), pid, focused.Load())
		case `{"Action":{"FocusWindow":{"id":5}}}` + "\n":
			focused.Store(true)
			io.WriteString(c, `{"Ok":"Handled"}`+"\n")
		default:
			t.Errorf("niri got %q", line)
			io.WriteString(c, `{"Err":"error parsing request"}`+"\n")
		}
	})
}

func hyprlandVars(t *testing.T, dir string, pid int, lua bool) []string {
	t.Helper()
	if err := os.MkdirAll(dir+"/hypr/a1_2", 0o700); err != nil {
		t.Fatal(err)
	}
	newFakeHyprland(t, dir+"/hypr/a1_2/.socket.sock", pid, lua)
	return []string{"HYPRLAND_INSTANCE_SIGNATURE=a1_2", "XDG_RUNTIME_DIR=" + dir}
}

func TestCompositors(t *testing.T) {
	g := newProgram(t, "ghostty", "")
	const done = "raised the window of ghostty; ghostty cannot be told which tab to show, if it has several"
	for _, test := range []struct {
		name string
		env  func(dir string, pid int) []string
	}{
		{"sway", func(dir string, pid int) []string { return []string{"SWAYSOCK=" + newFakeSway(t, dir+"/s", pid)} }},
		{"Hyprland", func(dir string, pid int) []string { return hyprlandVars(t, dir, pid, true) }},
		{"Hyprland 0.54", func(dir string, pid int) []string { return hyprlandVars(t, dir, pid, false) }},
		{"niri", func(dir string, pid int) []string {
			newFakeNiri(t, dir+"/n", pid)
			return []string{"NIRI_SOCKET=" + dir + "/n"}
		}},
	} {
		pid, terminal := g.agent(nil)
		for _, v := range test.env(shortDir(t), terminal) {
			name, value, _ := strings.Cut(v, "=")
			t.Setenv(name, value)
		}
		t.Log(test.name)
		if r := check(t, session(t, pid), Partial, "ghostty", done); !r.Activation.Attempted || !r.Activation.Succeeded || !r.TargetFound {
			t.Errorf("%s: got %+v", test.name, r)
		}
		check(t, session(t, orphan(t, nil, nil, "sleep", "1000")), Unavailable, "", "none of its windows is on this desktop")
		for _, name := range []string{"SWAYSOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET"} {
			t.Setenv(name, "")
		}
	}
}

// A compositor that refuses, does nothing, or does not answer.
func TestCompositorFails(t *testing.T) {
	g := newProgram(t, "ghostty", "")
	pid, terminal := g.agent(nil)
	dir := shortDir(t)
	tree := fmt.Sprintf(`{"id":9,"pid":%d,"focused":false}`, terminal)
	for _, test := range []struct{ name, command, want string }{
		{"refuses", `[{"success":false,"error":"No matching node."}]`, "the window of ghostty was not raised: No matching node."},
		{"nothing", `[{"success":true}]`, "the window of ghostty was not raised: sway did not give it the focus"},
	} {
		if test.name == "nothing" {
			impatient(t)
		}
		socket := filepath.Join(dir, test.name)
		serve(t, socket, func(c net.Conn) {
			var head [14]byte
			io.ReadFull(c, head[:])
			answer := tree
			if head[10] == 0 {
				answer = test.command
			}
			binary.NativeEndian.PutUint32(head[6:], uint32(len(answer)))
			c.Write(append(head[:], answer...))
		})
		t.Setenv("SWAYSOCK", socket)
		check(t, session(t, pid), Failed, "ghostty", test.want)
	}
	for name, test := range map[string]struct {
		answer func(net.Conn)
		want   string
	}{
		"silent": {func(c net.Conn) { io.Copy(io.Discard, c) }, "sway: read unix"},
		"closes": {func(c net.Conn) {}, "sway: "},
		"large":  {func(c net.Conn) { c.Write([]byte("i3-ipc\xff\xff\xff\xff\x04\x00\x00\x00")) }, "sway: "},
	} {
		socket := filepath.Join(dir, name)
		serve(t, socket, test.answer)
		t.Setenv("SWAYSOCK", socket)
		check(t, session(t, pid), Unavailable, "ghostty", test.want)
	}
	t.Setenv("SWAYSOCK", "/nowhere")
	check(t, session(t, pid), Unavailable, "ghostty", "sway: socket /nowhere: no such file or directory")
}

func TestWindow(t *testing.T) {
	v := view{desktop: x11{}, list: []window{{id: "1", pid: 5}, {id: "2", pid: 5}, {id: "3", pid: 6}, {id: "4"}, {id: "5", pid: 7}}}
	for _, test := range []struct {
		pid            int
		said, windowID string
		want           string
	}{
		{6, "", "", "3"},
		{6, "9", "9", "3"}, // a window that is gone
		{6, "1", "2", "3"}, // another process's
		{5, "", "", ""},
		{5, "2", "1", "2"}, // the terminal knows better than what it started with
		{5, "", "1", "1"},
		{5, "3", "5", ""},
		{8, "", "", ""},
		{8, "", "4", "4"},
		{8, "3", "", ""},
	} {
		v.id = test.windowID
		got, err := v.window(&place{terminal: generic{"x"}, host: test.pid}, test.said)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%+v: got %q, %v", test, got, err)
		}
	}
}
