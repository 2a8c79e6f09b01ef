package focus

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/godbus/dbus/v5"
)

// sessionBus connects to the D-Bus of the user's session, for as long as
// patience lasts.
func sessionBus(ctx context.Context, env environs) (*dbus.Conn, error) {
	address, err := busSocket(env.get("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		return nil, err
	}
	socket, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	conn, err := dbus.NewConn(socket, dbus.WithContext(ctx))
	if err != nil {
		socket.Close()
		return nil, err
	}
	if err := errors.Join(conn.Auth(nil), conn.Hello()); err != nil {
		conn.Close()
		return nil, fmt.Errorf("D-Bus at %s: %w", address, err)
	}
	return conn, nil
}

// busSocket returns the first socket that an address of D-Bus names. Others
// than those of this machine are not used.
func busSocket(address string) (string, error) {
	if address == "" {
		return fmt.Sprintf("/run/user/%d/bus", os.Geteuid()), nil
	}
	for one := range strings.SplitSeq(address, ";") {
		options, ok := strings.CutPrefix(one, "unix:")
		if !ok {
			continue
		}
		for option := range strings.SplitSeq(options, ",") {
			key, value, _ := strings.Cut(option, "=")
			value, err := url.PathUnescape(value)
			switch {
			case err != nil:
			case key == "path":
				return value, nil
			case key == "abstract":
				return "@" + value, nil
			}
		}
	}
	return "", fmt.Errorf("the address of D-Bus is that of no local socket: %q", address)
}
