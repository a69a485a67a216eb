package redlock

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestGoroutinesGrowWithNodesAndNotWithLeases(t *testing.T) {
	l := newLocker(t, realNodes(t, 3), func(c *Config) { c.TTL = 10 * time.Second })
	free(t, l, newKey(t))
	before := quiet(t)
	for range 200 {
		take(t, l, Key(newKey(t)))
	}
	if now := quiet(t); now > before+20 {
		t.Fatalf("%d goroutines before, %d with 200 leases", before, now)
	}
}

// quiet waits until no command is in flight, and counts goroutines.
func quiet(tb testing.TB) (n int) {
	tb.Helper()
	n = runtime.NumGoroutine()
	eventually(tb, "quiet", func() bool {
		pause(tb.Context(), 50*time.Millisecond)
		was := n
		n = runtime.NumGoroutine()
		return n == was
	})
	return n
}

func TestSubscribersGrowWithNodesAndNotWithWaiters(t *testing.T) {
	l, key := newLocker(t, embeddedNodes(t, 3)), newKey(t)
	s := take(t, l, Key(key))
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 20 {
		waiting.Go(func() {
			if _, err := l.Acquire(ctx, Key(key)); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrHeld) {
				t.Error(err)
			}
		})
	}
	eventually(t, "all wait", func() bool {
		l.wakes.mu.Lock()
		defer l.wakes.mu.Unlock()
		q := l.wakes.queues[l.channel(key)]
		return q != nil && len(q.waiters) == 20
	})
	for i, n := range l.nodes {
		subs, err := n.client().PubSubNumSub(t.Context(), l.channel(key)).Result()
		if err != nil || subs[l.channel(key)] > 1 {
			t.Errorf("node %d: %v, %v", i, subs, err)
		}
	}
	cancel()
	waiting.Wait()
	if len(l.wakes.queues) != 0 {
		t.Error("channels without waiters are kept")
	}
	release(t, s, Released)
}
