package embedded

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
)

// node is one server and the port it keeps. Fleet's mutex guards it; addr is
// written by the first start only, before anyone else sees the node.
type node struct {
	redis *miniredis.Miniredis
	addr  string
	up    bool
}

func newNode() *node {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true) // without it, keys live until someone moves the clock by hand
	return &node{redis: m}
}

// start listens on a port of the system's choice the first time, and on that
// same port from then on.
func (n *node) start() error {
	if n.up {
		return nil
	}
	if n.redis.Ctx.Err() != nil {
		// Stopping cancelled it for good, and blocking commands would end at
		// once. No connection is alive to read the fields while we write them.
		n.redis.Ctx, n.redis.CtxCancel = context.WithCancel(context.Background())
	}
	if err := n.redis.Start(); err != nil {
		return fmt.Errorf("embedded: start node %s: %w", n.addr, err)
	}
	n.addr, n.up = n.redis.Addr(), true
	return nil
}

func (n *node) stop() {
	if n.up {
		n.redis.Close()
		n.up = false
	}
}

func (n *node) url() string { return "redis://" + n.addr }
