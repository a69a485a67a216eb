package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// Each rival is a process of its own, with its own connections: their requests
// reach the nodes in different orders, so that votes split.
func TestSplitVotesResolveAndAllGetTheirTurn(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			const rivals, turns = 8, 3
			nodes, key := realNodes(t, n), newKey(t)
			lockers := make([]*Locker, rivals)
			for i := range lockers {
				lockers[i] = newLocker(t, nodes)
				release(t, await(t, lockers[i], Key(newKey(t))), Released)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			var inside, got atomic.Int64
			allAtOnce(rivals, func(i int) {
				for range turns {
					err := lockers[i].Do(ctx, key, func(context.Context) error {
						if inside.Add(1) != 1 {
							t.Error("two inside at once")
						}
						got.Add(1)
						inside.Add(-1)
						return nil
					})
					if err != nil {
						t.Errorf("rival %d: %v", i, err)
					}
				}
			})
			if got.Load() != rivals*turns {
				t.Errorf("%d turns of %d", got.Load(), rivals*turns)
			}
		})
	}
}

func TestAMinorityOfOursDoesNotBlockOurRetryOnRealNodes(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	d := r.door(t)
	l, key := rigLocker(t, d.nodes), newKey(t)
	for i := range d.proxies {
		d.proxies[(i+1)%3].Cut()
		d.proxies[(i+2)%3].Cut()
		if _, err := l.TryAcquire(t.Context(), Key(key)); !errors.Is(err, ErrNoQuorum) {
			t.Fatal(err)
		}
		d.heal(t)
		start := time.Now()
		s := await(t, l, Key(key))
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("half a TTL and more: %v", took)
		}
		release(t, s, Released)
	}
}
