package servers

import (
	"fmt"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// DeadAddr returns a loopback address, good until the test ends, to which dials
// get no answer at all, as with a host that is gone or a firewall that drops: its
// one place for a connection is taken, and Linux drops what asks for another.
func DeadAddr(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	syscall.CloseOnExec(fd)
	addr, err := listenForOne(fd)
	if err != nil {
		tb.Fatal(err)
	}
	taken, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = taken.Close() })
	return addr
}

func listenForOne(fd int) (string, error) {
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", fmt.Errorf("servers: bind: %w", err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		return "", fmt.Errorf("servers: listen: %w", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return "", fmt.Errorf("servers: name of a socket: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port)), nil
}
