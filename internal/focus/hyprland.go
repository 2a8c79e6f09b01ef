package focus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// hyprland is asked as hyprctl(1) does: one request for each connection.
type hyprland struct{ socket string }

var (
	hyprlandSignature = regexp.MustCompile(`^[0-9A-Za-z_]+$`)
	hyprlandAddress   = regexp.MustCompile(`^0x[0-9a-f]+$`)
)

func newHyprland(env environs) desktop {
	signature := env.get("HYPRLAND_INSTANCE_SIGNATURE")
	if !hyprlandSignature.MatchString(signature) {
		return nil
	}
	dir := env.get("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = fmt.Sprintf("/run/user/%d", os.Geteuid())
	}
	return hyprland{dir + "/hypr/" + signature + "/.socket.sock"}
}

func (hyprland) name() string { return "Hyprland" }

func (h hyprland) windows(ctx context.Context) ([]window, error) {
	out, err := h.ask(ctx, "j/clients")
	if err != nil {
		return nil, err
	}
	var clients []struct {
		Address string `json:"address"`
		PID     int    `json:"pid"`
		History int    `json:"focusHistoryID"` // 0 has the focus
	}
	if err := json.Unmarshal([]byte(out), &clients); err != nil {
		return nil, err
	}
	var list []window
	for _, c := range clients {
		list = append(list, window{c.Address, c.PID, c.History == 0})
	}
	return list, nil
}

// activate says it in Lua, and to one with a configuration of before 0.55, which
// knows no such dispatcher, in the old way.
func (h hyprland) activate(ctx context.Context, id string) error {
	if !hyprlandAddress.MatchString(id) {
		return fmt.Errorf("the address of a window is %q", id)
	}
	out, err := h.ask(ctx, `dispatch hl.dsp.focus({window="address:`+id+`"})`)
	if err == nil && out != "ok" {
		out, err = h.ask(ctx, "dispatch focuswindow address:"+id)
	}
	if err == nil && out != "ok" {
		err = errors.New(out)
	}
	return err
}

func (h hyprland) ask(ctx context.Context, request string) (string, error) {
	conn, err := dial(ctx, h.socket)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, maxOutput))
	return strings.TrimSpace(string(answer)), err
}
