package focus

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// sway is asked by the IPC of sway-ipc(7).
type sway struct{ socket string }

func newSway(env environs) desktop {
	if socket := env.get("SWAYSOCK"); socket != "" {
		return sway{socket}
	}
	return nil
}

func (sway) name() string { return "sway" }

const (
	swayCommand = 0
	swayTree    = 4
)

// swayNode is a container; one with a pid is a window.
type swayNode struct {
	ID       int64      `json:"id"`
	PID      int        `json:"pid"`
	Focused  bool       `json:"focused"`
	Nodes    []swayNode `json:"nodes"`
	Floating []swayNode `json:"floating_nodes"`
}

func (s sway) windows(ctx context.Context) ([]window, error) {
	var root swayNode
	if err := s.ask(ctx, swayTree, "", &root); err != nil {
		return nil, err
	}
	return root.windows(nil), nil
}

func (n swayNode) windows(list []window) []window {
	if n.PID != 0 {
		list = append(list, window{strconv.FormatInt(n.ID, 10), n.PID, n.Focused})
	}
	for _, children := range [...][]swayNode{n.Nodes, n.Floating} {
		for _, child := range children {
			list = child.windows(list)
		}
	}
	return list
}

func (s sway) activate(ctx context.Context, id string) error {
	var results []struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}
	if err := s.ask(ctx, swayCommand, "[con_id="+id+"] focus", &results); err != nil {
		return err
	}
	for _, r := range results {
		if !r.Success {
			return errors.New(r.Error)
		}
	}
	return nil
}

// swayHeader precedes each message.
type swayHeader struct {
	Magic        [6]byte
	Length, Kind uint32
}

func (s sway) ask(ctx context.Context, kind uint32, payload string, answer any) error {
	conn, err := dial(ctx, s.socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	h := swayHeader{[6]byte([]byte("i3-ipc")), uint32(len(payload)), kind}
	request, err := binary.Append(nil, binary.NativeEndian, h)
	if err != nil {
		return err
	}
	if _, err := conn.Write(append(request, payload...)); err != nil {
		return err
	}
	if err := binary.Read(conn, binary.NativeEndian, &h); err != nil {
		return err
	}
	if h.Kind != kind || h.Length > maxOutput {
		return fmt.Errorf("an answer of kind %d with %d bytes", h.Kind, h.Length)
	}
	data := make([]byte, h.Length)
	if _, err := io.ReadFull(conn, data); err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}
