package redlock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfastjobs/holdfast"
)

func TestTokensIncreaseWhateverHappens(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { tokensIncrease(t, embeddedNodes(t, 3)) })
	t.Run("real", func(t *testing.T) { tokensIncrease(t, realNodes(t, 5)) })
}

func tokensIncrease(t *testing.T, nodes []Node) {
	lockers := []*Locker{newLocker(t, nodes), newLocker(t, nodes)}
	rapid.Check(t, func(r *rapid.T) {
		key := newKey(t)
		last := int64(0)
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			l := lockers[rapid.IntRange(0, 1).Draw(r, "locker")]
			c := job(key)
			if rapid.Bool().Draw(r, "give up") {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rapid.IntRange(0, 2).Draw(r, "ms"))*time.Millisecond)
				if s, err := l.TryAcquire(ctx, c); err == nil {
					last = above(r, s, last)
					_, _ = s.Release(ctx)
				} // else what it left is cleaned up behind our back, while we go on
				cancel()
				continue
			}
			s, err := l.Acquire(t.Context(), c)
			if err != nil {
				r.Fatal(err)
			}
			last = above(r, s, last)
			switch rapid.IntRange(0, 9).Draw(r, "end") {
			case 0:
				stall(s)
				expire(t, s)
			case 1:
				if err := s.Finish(t.Context(), holdfast.Record{}, 0); err != nil {
					r.Fatal(err)
				}
				return
			default:
				_, _ = s.Release(t.Context())
			}
		}
	})
}

func above(r *rapid.T, s *Lease, last int64) int64 {
	if s.Token() <= last {
		r.Fatalf("token %d after %d", s.Token(), last)
	}
	return s.Token()
}

// busiest runs n workers that each hold a key for a while, and
// returns how many were inside at once.
func busiest(t *testing.T, l *Locker, n int, hold time.Duration, key func(worker int) string) int {
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			err := l.Do(t.Context(), key(i), func(ctx context.Context) error {
				now := inside.Add(1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				pause(ctx, hold)
				inside.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return int(most.Load())
}

func TestAHundredNeverOverlap(t *testing.T) {
	for kind, nodes := range map[string][]Node{"embedded": embeddedNodes(t, 1), "real": realNodes(t, 3)} {
		t.Run(kind, func(t *testing.T) {
			l, shared := newLocker(t, nodes), newKey(t)
			if most := busiest(t, l, 100, time.Millisecond, func(int) string { return shared }); most != 1 {
				t.Fatalf("%d inside at once", most)
			}
			if most := busiest(t, l, 100, 200*time.Millisecond, func(int) string { return newKey(t) }); most < 2 {
				t.Fatal("control: without exclusion they should overlap")
			}
		})
	}
}

func TestALeaseOutlivesItsTTLWhileItIsExtended(t *testing.T) {
	for kind, nodes := range map[string][]Node{"embedded": embeddedNodes(t, 3), "real": realNodes(t, 3)} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l, key := newLocker(t, nodes), newKey(t)
			s := take(t, l, Claim{Keys: []string{key}, TTL: 2 * time.Second})
			pause(t.Context(), 2500*time.Millisecond)
			if err := s.Check(t.Context()); err != nil || s.Context().Err() != nil {
				t.Fatal(err, context.Cause(s.Context()))
			}
			if _, err := l.TryAcquire(t.Context(), Key(key)); !errors.Is(err, ErrHeld) {
				t.Fatal(err)
			}
			release(t, s, Released)
		})
	}
}

// Alone: on a shared node it would make other tests' scripts vanish twice in a row.
func TestAScriptThatANodeForgotIsLoadedAgain(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { scriptForgotten(t, addresses(minis(t))) })
	t.Run("real", func(t *testing.T) { scriptForgotten(t, realNodes(t, 3)) })
}

func scriptForgotten(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	for range 3 {
		s := take(t, l, Key(key))
		for _, n := range l.nodes {
			if err := n.client().ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		release(t, s, Released)
	}
}
