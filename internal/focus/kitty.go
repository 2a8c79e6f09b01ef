package focus

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// kitty knows its windows, which others call panes, by the process that it
// started in each.
type kitty struct{}

func (kitty) name() string        { return "kitty" }
func (kitty) is(comm string) bool { return comm == "kitty" }
func (kitty) multiplexer() bool   { return false }

// kittyOSWindow is a window of the desktop, as kitty @ ls lists them. What is
// is_active of a tab and a window has longer names in 0.26.
type kittyOSWindow struct {
	Platform int64 `json:"platform_window_id"` // of X11
	Focused  bool  `json:"is_focused"`
	Tabs     []struct {
		Active    bool `json:"is_active"`
		ActiveTab bool `json:"is_active_tab"`
		Windows   []struct {
			ID           int  `json:"id"`
			PID          int  `json:"pid"`
			Active       bool `json:"is_active"`
			ActiveWindow bool `json:"is_active_window"`
		} `json:"windows"`
	} `json:"tabs"`
}

func (kitty) choose(ctx context.Context, p *place) (shown, error) {
	to := p.env.get("KITTY_LISTEN_ON")
	address, ok := strings.CutPrefix(to, "unix:")
	if !ok {
		return shown{}, declined("kitty takes no commands: kitty.conf needs allow_remote_control and listen_on unix:")
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return shown{}, err
	}
	conn.Close()
	before, err := kittyWindows(ctx, to)
	if err != nil {
		return shown{}, declined("%v", err)
	}
	id, _, _ := kittyFind(before, p)
	if id == 0 {
		return shown{}, fmt.Errorf("no window of the kitty at %s holds process %d", address, p.lineage[0].PID)
	}
	if _, err := kittyCommand(ctx, to, "focus-window", "--match", "id:"+strconv.Itoa(id)); err != nil {
		return shown{}, err
	}
	after, err := kittyWindows(ctx, to)
	if err != nil {
		return shown{}, err
	}
	again, selected, w := kittyFind(after, p)
	if again != id || !selected {
		return shown{}, fmt.Errorf("kitty shows another window than %d all the same", id)
	}
	return shown{what: fmt.Sprintf("kitty window %d", id), window: strconv.FormatInt(w.Platform, 10), raised: w.Focused}, nil
}

func kittyCommand(ctx context.Context, to string, args ...string) (string, error) {
	program := "kitten"
	if _, err := exec.LookPath(program); err != nil {
		program = "kitty" // of releases before 0.28, which have no kitten
	}
	return run(ctx, nil, program, append([]string{"@", "--to", to}, args...)...)
}

func kittyWindows(ctx context.Context, to string) ([]kittyOSWindow, error) {
	out, err := kittyCommand(ctx, to, "ls")
	if err != nil {
		return nil, err
	}
	var windows []kittyOSWindow
	if err := json.Unmarshal([]byte(out), &windows); err != nil {
		return nil, fmt.Errorf("kitty: %w", err)
	}
	return windows, nil
}

// kittyFind returns the window that holds the place, 0 if none does, whether
// its window of the desktop shows it, and that.
func kittyFind(windows []kittyOSWindow, p *place) (id int, selected bool, in kittyOSWindow) {
	for _, w := range windows {
		for _, tab := range w.Tabs {
			for _, pane := range tab.Windows {
				if p.has(pane.PID) {
					return pane.ID, (tab.Active || tab.ActiveTab) && (pane.Active || pane.ActiveWindow), w
				}
			}
		}
	}
	return 0, false, kittyOSWindow{}
}
