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

func contentionIsCounted(t *testing.T, nodes []Node) {
	l, a, b := newLocker(t, nodes), newKey(t), newKey(t)
	claim := Claim{Keys: []string{a, b}, Waiter: "w1"}
	holder := take(t, l, Key(a))
	var first time.Time
	for want := 1; want <= 3; want++ {
		var err error
		if want < 3 {
			_, err = l.TryAcquire(t.Context(), claim)
		} else { // many tries of one call count once
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			_, err = l.Acquire(ctx, claim)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		held, ok := errors.AsType[*HeldError](err)
		if !ok || held.Count != want || held.Since.IsZero() {
			t.Fatalf("want count %d: %+v", want, held)
		}
		if want == 1 {
			first = held.Since
		}
		if held.Since.Sub(first).Abs() > 100*time.Millisecond {
			t.Fatalf("since %v, first %v", held.Since, first)
		}
	}
	// Another key of the same claim goes on counting; another waiter does not.
	other := take(t, l, Key(b))
	release(t, holder, Released)
	if _, err := l.TryAcquire(t.Context(), Claim{Keys: []string{b}, Waiter: "w2"}); func() int { h, _ := errors.AsType[*HeldError](err); return h.Count }() != 1 {
		t.Fatal(err)
	}
	_, err := l.TryAcquire(t.Context(), claim)
	if held, ok := errors.AsType[*HeldError](err); !ok || held.Count != 4 || held.Key != b {
		t.Fatalf("%+v", err)
	}
	release(t, other, Released)
	s := take(t, l, claim)
	if s.Contentions() != 4 || s.Since().Sub(first).Abs() > 100*time.Millisecond {
		t.Fatal(s.Contentions(), s.Since(), first)
	}
	release(t, s, Released)
	if s := take(t, l, claim); s.Contentions() != 0 || !s.Since().IsZero() {
		t.Fatal("a grant did not forget the count:", s.Contentions())
	}
}

func diedIsTold(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	dead := take(t, l, Claim{Keys: []string{key}, TTL: short})
	if dead.Abandoned() {
		t.Fatal("control: nobody died")
	}
	stall(dead)
	next, err := l.Acquire(t.Context(), Key(key))
	if err != nil || !next.Abandoned() {
		t.Fatal(err, "the next holder does not hear of the death")
	}
	if tenure, _ := holdfast.TenureFrom(next.Context()); !tenure.Abandoned {
		t.Fatal("nor does its handler")
	}
	release(t, next, Released)
	if s := take(t, l, Key(key)); s.Abandoned() {
		t.Fatal("a release is taken for a death")
	}
}

func tokensIncrease(t *testing.T, nodes []Node) {
	lockers := []*Locker{newLocker(t, nodes), newLocker(t, nodes)}
	rapid.Check(t, func(r *rapid.T) {
		key := newKey(t)
		last := int64(0)
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			l := lockers[rapid.IntRange(0, 1).Draw(r, "locker")]
			c := job(key)
			c.TTL = short
			if rapid.Bool().Draw(r, "give up") {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rapid.IntRange(0, 2).Draw(r, "ms"))*time.Millisecond)
				if s, err := l.TryAcquire(ctx, c); err == nil {
					last = above(r, s, last)
					_, _ = s.Release(ctx)
				}
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

func scriptForgotten(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	for range 3 {
		s := take(t, l, Key(key))
		for _, n := range l.nodes {
			if err := n.redis.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		release(t, s, Released)
	}
}

func releaseWakes(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	holder := take(t, l, Key(key))
	got := make(chan error, 1)
	go func() {
		s, err := newLocker(t, nodes).Acquire(t.Context(), Key(key))
		if err == nil {
			_, err = s.Release(t.Context())
		}
		got <- err
	}()
	pause(t.Context(), 300*time.Millisecond) // it waits about a second by now
	start := time.Now()
	release(t, holder, Released)
	if err := <-got; err != nil || time.Since(start) > 400*time.Millisecond {
		t.Fatal(err, time.Since(start))
	}
}

// busiest runs n workers that each hold a key of theirs for some turns, and
// returns how many were inside at once.
func busiest(t *testing.T, l *Locker, n int, key func(worker int) string) int {
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			err := l.Do(t.Context(), key(i), func(ctx context.Context) error {
				now := inside.Add(1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				pause(ctx, time.Millisecond)
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

func nobodyOverlaps(t *testing.T, nodes []Node) {
	const workers = 10
	l, shared := newLocker(t, nodes), newKey(t)
	if most := busiest(t, l, workers, func(int) string { return shared }); most != 1 {
		t.Fatalf("%d inside at once", most)
	}
	if most := busiest(t, l, workers, func(int) string { return newKey(t) }); most < 2 {
		t.Fatal("control: without exclusion they should overlap")
	}
}
