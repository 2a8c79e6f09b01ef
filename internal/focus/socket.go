package focus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// ownSocket reports why a path is not that of a socket of ours.
func ownSocket(path string) error {
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\x00\n") {
		return fmt.Errorf("%q is not the absolute path of a socket", path)
	}
	var st unix.Stat_t
	if err := linux.Fstatat(linux.CWD, path, &st); err != nil {
		return fmt.Errorf("socket %s: %w", path, errors.Unwrap(err))
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return fmt.Errorf("%s is not a socket", path)
	case st.Uid != uint32(os.Geteuid()):
		return fmt.Errorf("socket %s is another user's", path)
	}
	return nil
}

// dial connects to a socket of ours, for as long as patience lasts. A name that
// begins with @ is an abstract one, which has no owner; its server has.
func dial(ctx context.Context, address string) (*net.UnixConn, error) {
	if !strings.HasPrefix(address, "@") {
		if err := ownSocket(address); err != nil {
			return nil, err
		}
	}
	c, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, fmt.Errorf("nothing answers at %s: %w", address, cause(err))
	}
	conn := c.(*net.UnixConn)
	if err := ownPeer(conn); err != nil {
		conn.Close()
		return nil, fmt.Errorf("socket %s: %w", address, err)
	}
	deadline, ok := ctx.Deadline()
	if d := time.Now().Add(patience); !ok || d.Before(deadline) {
		deadline = d
	}
	conn.SetDeadline(deadline)
	return conn, nil
}

// ownPeer reports whether the other end was opened by another user.
func ownPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var peerErr error
	if err := raw.Control(func(fd uintptr) {
		peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if peerErr != nil {
		return peerErr
	}
	if peer.Uid != uint32(os.Geteuid()) {
		return errors.New("its server is another user's")
	}
	return nil
}

// cause is the innermost error, without the call and the address.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
