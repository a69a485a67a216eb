package redlock

import (
	"context"
	"sync"
	"time"
)

// tokens proposes them: microseconds of the nodes' time, even, never the same
// twice. The local wall clock plays no part.
type tokens struct {
	bound time.Duration

	mu   sync.Mutex
	last int64
}

// propose returns a token above all earlier ones and above seen. Whatever lies
// ahead of the nodes' time by more than bound is ignored, since every node would
// refuse it: one fast clock must not stop a key. If it is our own last token
// that is ignored (the nodes' clocks came back by more than bound), an old token
// may come again; the nonce of its attempt does not.
func (t *tokens) propose(now, seen int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := now + t.bound.Microseconds()
	next := now
	for _, term := range []int64{seen, t.last} {
		if term <= most {
			next = max(next, term+2)
		}
	}
	next += next & 1
	t.last = next
	return next
}

// readClocks makes sure, before the first proposal, that a majority of the nodes'
// clocks is known, and one that agrees, if there is any: who knows no such
// majority cannot tell a clock that is off. Joining a node reads its clock, so
// there is seldom anything to ask.
func (l *Locker) readClocks(ctx context.Context, ttl, now time.Duration) error {
	if l.clocks.agreed(margin(ttl), now) {
		return nil
	}
	return l.collect(ctx, "read time", l.ask("TIME"), func(seen []vote, pending int) bool {
		return count(seen, codeOK) >= l.need && (pending == 0 || l.clocks.agreed(margin(ttl), l.cfg.Clock.Now()))
	})
}

// nodeTime is microseconds of a node's clock as a time.
func nodeTime(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}
