package queue

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hibiken/asynq"
)

// proxy stands between a client and a Redis. While deaf is positive, it counts
// down at each integer reply, which is what asynq's enqueue script gives: the
// command was applied, the client gets a closed connection.
type proxy struct {
	net.Listener
	target string
	ctx    context.Context // of the test
	deaf   atomic.Int64
	lost   atomic.Int64
	wg     sync.WaitGroup
	mu     sync.Mutex
	conns  []net.Conn
}

func through(t *testing.T, redis asynq.RedisClientOpt) (*proxy, asynq.RedisClientOpt) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, target: redis.Addr, ctx: t.Context()}
	p.wg.Go(p.serve)
	t.Cleanup(func() {
		p.cut()
		p.wg.Wait()
	})
	return p, asynq.RedisClientOpt{Addr: l.Addr().String()}
}

// cut closes every connection and takes no other.
func (p *proxy) cut() {
	_ = p.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) serve() {
	for {
		client, err := p.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(p.ctx, "tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.wg.Go(func() { pipe(server, client, func([]byte) bool { return true }) })
		p.wg.Go(func() { pipe(client, server, p.heard) })
	}
}

// pipe copies until one end closes or pass refuses a chunk, and closes both.
func pipe(to, from net.Conn, pass func([]byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if err != nil || !pass(chunk[:n]) {
			return
		}
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) heard(reply []byte) bool {
	if !bytes.HasPrefix(reply, []byte(":")) || p.deaf.Load() <= 0 {
		return true
	}
	p.deaf.Add(-1)
	p.lost.Add(1)
	return false
}
