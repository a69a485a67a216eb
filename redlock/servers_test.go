package redlock

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// realServers are the redis-server processes of this package's tests: seven,
// started by the first test that wants any.
var realServers struct {
	once    sync.Once
	err     error
	running []*exec.Cmd
	addrs   []string
}

func realNodes(tb testing.TB, n int) []Node {
	tb.Helper()
	s := &realServers
	s.once.Do(func() { s.err = startServers(7) })
	if s.err != nil {
		tb.Fatalf("%v\ninstall it: apt-get install redis-server", s.err)
	}
	urls := make([]string, n)
	for i := range urls {
		urls[i] = fmt.Sprintf("n%d=redis://%s", i, s.addrs[i])
	}
	return URLs(urls...)
}

func startServers(n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		addr := ln.Addr().String()
		_, port, _ := net.SplitHostPort(addr)
		_ = ln.Close()
		cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--loglevel", "warning")
		if err := cmd.Start(); err != nil {
			return err
		}
		realServers.running = append(realServers.running, cmd)
		realServers.addrs = append(realServers.addrs, addr)
		if err := ping(ctx, addr); err != nil {
			return err
		}
	}
	return nil
}

func ping(ctx context.Context, addr string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

func stopServers() {
	for _, cmd := range realServers.running {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
