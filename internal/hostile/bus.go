//go:build !(386 || arm)

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"

	"tongs-agents/fsstore"
)

// bus is a session bus at which a notification server is.
type bus struct {
	conn          *dbus.Conn
	notifications chan notification
}

// notification is what is to be shown.
type notification struct{ summary, body string }

const (
	notifyService = "org.freedesktop.Notifications"
	notifyPath    = "/org/freedesktop/Notifications"
)

func (w *world) newBus() (*bus, error) {
	config := filepath.Join(w.dir, "bus.conf")
	text := `<busconfig><type>session</type><listen>unix:path=` + filepath.Join(w.dir, "bus") + `</listen>
<policy context="default"><allow send_destination="*"/><allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("dbus-daemon", "--nofork", "--print-address", "--config-file", config)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w.atEnd(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("dbus-daemon: %w", err)
	}
	b := &bus{notifications: make(chan notification, 100)}
	if b.conn, err = dbus.Connect("unix:path=" + filepath.Join(w.dir, "bus")); err != nil {
		return nil, err
	}
	w.atEnd(func() { b.conn.Close() })
	if err := b.conn.Export(b, notifyPath, notifyService); err != nil {
		return nil, err
	}
	_, err = b.conn.RequestName(notifyService, dbus.NameFlagDoNotQueue)
	return b, err
}

func (b *bus) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"body", "body-markup", "actions"}, nil
}

func (b *bus) Notify(app string, replaces uint32, icon, summary, body string, actions []string, hints map[string]dbus.Variant, timeout int32) (uint32, *dbus.Error) {
	b.notifications <- notification{summary, body}
	return 1, nil
}

func (b *bus) CloseNotification(id uint32) *dbus.Error { return nil }

// follower is a watch that runs.
type follower struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	out  bytes.Buffer
	errs bytes.Buffer
}

func (f *follower) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(p)
}

func (f *follower) printed() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.String()
}

func (t *trial) follow(args ...string) (*follower, error) {
	f := &follower{cmd: t.prepare(context.Background(), t.state, cli(append([]string{"watch"}, args...)...))}
	f.cmd.Stdout, f.cmd.Stderr = f, &f.errs
	return f, f.cmd.Start()
}

// stop ends it as Ctrl-C does.
func (f *follower) stop() {
	syscall.Kill(-f.cmd.Process.Pid, syscall.SIGINT)
	f.cmd.Wait()
}

// nudge makes a session come to need the user, once and again, until done says
// that it has been seen.
func (t *trial) nudge(session string, done func() bool) error {
	r := t.fullRecord()
	delete(t.sessions, r.Session)
	r.Session, t.sessions[t.imported] = session, "other"
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		for _, status := range []fsstore.Status{fsstore.Running, fsstore.Waiting} {
			r.Status = status
			if err := t.must(t.state, importing(r)); err != nil {
				return err
			}
		}
		for range 50 {
			if done() {
				r.Status, r.RemovedAt = fsstore.Ended, time.Now().Unix()
				return t.must(t.state, importing(r))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	t.check(false, "nothing is seen of a session that waits")
	return nil
}

// tryNotifications: a notification says the text, and no more is markup in it.
func tryNotifications(t *trial) error {
	f, err := t.follow("--notify")
	if err != nil {
		return err
	}
	defer f.stop()
	var seen *notification
	if err := t.nudge("notified", func() bool {
		select {
		case n := <-t.stage.bus.notifications:
			seen = &n
		default:
		}
		return seen != nil
	}); err != nil || seen == nil {
		return err
	}
	t.check(acts(seen.summary, false) == "" && !strings.Contains(seen.summary, "\n"), "the summary has %s: %q", acts(seen.summary, false), seen.summary)
	body, err := markupText(seen.body)
	t.check(err == nil && acts(body, false) == "" && strings.Count(body, "\n") <= 1, "the body: %v, %s: %q", err, acts(body, false), seen.body)
	t.check(strings.Contains(body, t.word()), "the body shows nothing of the text: %q", seen.body)
	return nil
}

// tryWatch: a transition is one line, and a command gets texts as they are.
func tryWatch(t *trial) error {
	var followers []*follower
	for _, args := range [][]string{nil, {"--json"}, {"--exec", `printf '%s|%s|%s|%s\n' "$TONGS_AGENTS_DETAIL" "$TONGS_AGENTS_TITLE" "$TONGS_AGENTS_CWD" "$TONGS_AGENTS_REPO"`}} {
		f, err := t.follow(args...)
		if err != nil {
			return err
		}
		defer f.stop()
		followers = append(followers, f)
	}
	if err := t.nudge("watched", func() bool {
		for i, f := range followers {
			if strings.Count(f.printed(), "\n") < 2 || i == 2 && !strings.Contains(f.printed(), "|") {
				return false
			}
		}
		return true
	}); err != nil {
		return err
	}
	for i, f := range followers {
		out := f.printed()
		bad := acts(out, false)
		if i == 1 {
			bad = actsAsJSON(out)
		}
		t.check(bad == "", "watch %d prints %s: %q", i, bad, out)
		t.check(strings.Contains(out, t.word()), "watch %d shows nothing of the text: %q", i, out)
		for line := range strings.Lines(out) {
			if i == 1 {
				t.check(json.Valid([]byte(line)), "a line that is no JSON: %q", line)
			}
		}
	}
	return nil
}
