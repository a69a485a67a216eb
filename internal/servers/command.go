package servers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Command sends one command on a connection of its own and returns what comes
// back if that is a line, a number or a text. What Redis refuses is an error
// that begins as Redis's own does.
func (r *Redis) Command(ctx context.Context, words ...string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var ask strings.Builder
	fmt.Fprintf(&ask, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&ask, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(conn, ask.String()); err != nil {
		return "", err
	}
	return answer(bufio.NewReader(conn))
}

func answer(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch line[0] {
	case '-':
		return "", errors.New(line[1:])
	case '+', ':':
		return line[1:], nil
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil || n < 0 {
			return "", err // nothing there is no text
		}
		text := make([]byte, n)
		_, err = io.ReadFull(r, text)
		return string(text), err
	}
	return "", fmt.Errorf("servers: an answer that is no single value: %q", line)
}
