package servers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
)

// pingRedis succeeds if the Redis at addr serves and is the process pid: where
// two starts pick the same port, the loser must not take the winner for itself.
// It speaks the protocol by hand, since client libraries log every refusal.
func pingRedis(ctx context.Context, addr string, pid int) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(conn, "PING\r\nINFO server\r\nQUIT\r\n"); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn) // ends because of QUIT
	if err != nil {
		return err
	}
	if pong, _, _ := bytes.Cut(answer, []byte("\r\n")); string(pong) != "+PONG" {
		return fmt.Errorf("%s answers %q", addr, pong) // such as LOADING
	}
	if !bytes.Contains(answer, fmt.Appendf(nil, "\nprocess_id:%d\r\n", pid)) {
		return fmt.Errorf("%s is another server", addr)
	}
	return nil
}
