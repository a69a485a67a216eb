package embedded

import (
	"context"
	"fmt"
	"time"

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
	return &node{redis: miniredis.NewMiniRedis()}
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

// tick is how often TTLs run down.
const tick = 10 * time.Millisecond

// age lets the TTLs of nodes run down until stop is closed, each time by what has
// passed since the last: a key may end that much too late, or too early if it was
// written in between. That is a tick, and more on a machine that is late with it.
// Locks can live with that: their deadlines are values, compared with TIME.
//
// miniredis can do so by itself, with ClockTTL, but at every access to its
// database, several times within a script, and it looks at each key every time:
// with a thousand keys a lock script takes milliseconds.
func age(stop <-chan struct{}, nodes ...*node) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		now := time.Now()
		for _, n := range nodes {
			n.redis.FastForward(now.Sub(last))
		}
		last = now
	}
}
