package redlock

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestANodeThatLagsHidesNoRelease(t *testing.T) {
	t.Parallel()
	type told struct {
		node  int
		token string
	}
	for name, c := range map[string]struct {
		heard []told
		want  int
	}{
		"a majority":                        {[]told{{0, "10"}, {1, "10"}}, 1},
		"the rest of the nodes is no news":  {[]told{{0, "10"}, {1, "10"}, {2, "10"}}, 1},
		"a minority":                        {[]told{{0, "10"}}, 0},
		"one node twice":                    {[]told{{0, "10"}, {0, "10"}}, 0},
		"two releases, one node each":       {[]told{{0, "10"}, {1, "12"}}, 0},
		"two releases, one node behind":     {[]told{{0, "10"}, {0, "12"}, {1, "10"}, {1, "12"}}, 2},
		"two releases, heard one by one":    {[]told{{0, "10"}, {1, "10"}, {0, "12"}, {1, "12"}}, 2},
		"tokens are numbers":                {[]told{{0, "8"}, {1, "8"}, {0, "10"}, {1, "10"}, {2, "8"}}, 2},
		"a loser told of a higher one":      {[]told{{2, "100"}, {0, "90"}, {1, "90"}}, 1},
		"what no lock script says, is none": {[]told{{0, "hello"}, {1, "hello"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, key := newLocker(t, embeddedNodes(t, 3)), newKey(t)
			waiters := []*waiter{l.wakes.join([]string{key}), l.wakes.join([]string{key}), l.wakes.join([]string{key})}
			for _, h := range c.heard {
				l.wakes.heard(h.node, l.channel(key), h.token)
			}
			woken := 0
			for _, w := range waiters {
				woken += len(w.woken)
			}
			if woken != c.want {
				t.Errorf("%d woken, want %d", woken, c.want)
			}
			for _, w := range waiters {
				l.wakes.leave(w)
			}
		})
	}
}

func TestAWakeIsHandedOnByWhoIsCancelledInItsTry(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l, key := newLocker(t, addresses(m), func(c *Config) { c.TTL = 200 * time.Millisecond }), newKey(t)
	everywhere(take(t, newLocker(t, addresses(m)), Key(key)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan error)
	go func() {
		_, err := l.Acquire(ctx, Key(key))
		gone <- err
	}()
	var first *waiter
	eventually(t, "it waits", func() bool {
		l.wakes.mu.Lock()
		defer l.wakes.mu.Unlock()
		if q := l.wakes.queues[l.channel(key)]; q != nil {
			first = q.waiters[0]
		}
		return first != nil
	})
	pause(t.Context(), 450*time.Millisecond) // by now it rests for half a second or more
	swallow(t, m[0])
	swallow(t, m[1])
	l.wakes.heard(0, l.channel(key), "10")
	l.wakes.heard(1, l.channel(key), "10")
	second := l.wakes.join([]string{key})
	defer l.wakes.leave(second)
	eventually(t, "it tries", func() bool { return len(first.woken) == 0 })
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(second.woken) == 0 {
		t.Error("nobody else was woken")
	}
}
