package redlock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// tokens proposes them: microseconds of the nodes' time, even, never the same
// twice. The local wall clock plays no part.
type tokens struct {
	mu   sync.Mutex
	last int64
}

// propose returns a token above all earlier ones and above seen. Whatever lies
// ahead of the nodes' time by more than bound is ignored, since every node would
// refuse it: one fast clock must not stop a key. If it is our own last token
// that is ignored (the nodes' clocks came back by more than bound), an old token
// may come again; the nonce of its attempt does not.
func (t *tokens) propose(now, seen int64, bound time.Duration) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := now + bound.Microseconds()
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

// nodeNow is the nodes' time in microseconds: our clock plus the median of how
// far theirs are ahead. It is 0 before any node told.
func (l *Locker) nodeNow() int64 {
	var ahead []time.Duration
	for _, n := range l.nodes {
		if a := n.ahead.Load(); a != nil {
			ahead = append(ahead, *a)
		}
	}
	if len(ahead) == 0 {
		return 0
	}
	slices.Sort(ahead)
	return (l.cfg.Clock.Now() + ahead[len(ahead)/2]).Microseconds()
}

// readClocks makes sure that a majority of the nodes' clocks is known, before the
// first proposal.
func (l *Locker) readClocks(ctx context.Context) error {
	known := 0
	for _, n := range l.nodes {
		if n.ahead.Load() != nil {
			known++
		}
	}
	if known >= l.need {
		return nil
	}
	answers := l.ask(func(ctx context.Context, n *node) (reply, error) {
		return reply{code: codeOK}, n.readTime(ctx)
	})
	return l.collect(ctx, "read time", answers, func(seen []vote, pending int) bool {
		return count(seen, codeOK) >= l.need
	})
}

// nodeTime is microseconds of a node's clock as a time.
func nodeTime(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}
