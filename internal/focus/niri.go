package focus

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// niri is asked in lines of JSON, see niri-ipc.
type niri struct{ socket string }

func newNiri(env environs) desktop {
	if socket := env.get("NIRI_SOCKET"); socket != "" {
		return niri{socket}
	}
	return nil
}

func (niri) name() string { return "niri" }

func (n niri) windows(ctx context.Context) ([]window, error) {
	var ok struct {
		Windows []struct {
			ID      uint64 `json:"id"`
			PID     int    `json:"pid"`
			Focused bool   `json:"is_focused"`
		}
	}
	if err := n.ask(ctx, `"Windows"`, &ok); err != nil {
		return nil, err
	}
	var list []window
	for _, w := range ok.Windows {
		list = append(list, window{strconv.FormatUint(w.ID, 10), w.PID, w.Focused})
	}
	return list, nil
}

func (n niri) activate(ctx context.Context, id string) error {
	return n.ask(ctx, `{"Action":{"FocusWindow":{"id":`+id+`}}}`, new(string))
}

// ask decodes what the answer has under Ok.
func (n niri) ask(ctx context.Context, request string, ok any) error {
	conn, err := dial(ctx, n.socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request+"\n"); err != nil {
		return err
	}
	var answer struct {
		Ok  json.RawMessage
		Err string
	}
	if err := json.NewDecoder(io.LimitReader(conn, maxOutput)).Decode(&answer); err != nil {
		return err
	}
	if answer.Ok == nil {
		return errors.New(answer.Err)
	}
	return json.Unmarshal(answer.Ok, ok)
}
