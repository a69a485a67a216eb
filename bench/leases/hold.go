package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfastjobs/holdfast/bench/internal/nodes"
	"github.com/holdfastjobs/holdfast/redlock"
)

// hands is how many goroutines acquire and release; while leases are held, none
// of them is there.
const hands = 50

// hold acquires all leases, does nothing for o.ttls TTLs, counts what is still
// held, and releases. The process is measured just before, when it has held
// leases and holds none, and all the while.
func hold(ctx context.Context, l *redlock.Locker, set *nodes.Set, o options) (figures, error) {
	// Enough to open all connections and to load all scripts.
	few, err := acquire(ctx, l, "warm-up", min(o.leases, 10*hands))
	if err != nil {
		return figures{}, err
	}
	release(ctx, few)
	var f figures
	if f.none, err = watch(ctx, o.ttl); err != nil {
		return figures{}, err
	}
	f.none.heap = heap()
	began := time.Now()
	leases, err := acquire(ctx, l, "held", o.leases)
	if err != nil {
		return figures{}, err
	}
	f.acquired = time.Since(began)
	before, err := readCPU(ctx, set)
	if err != nil {
		return figures{}, err
	}
	if f.held, err = watch(ctx, time.Duration(o.ttls)*o.ttl); err != nil {
		return figures{}, err
	}
	after, err := readCPU(ctx, set)
	if err != nil {
		return figures{}, err
	}
	f.held.heap = heap()
	f.lasted, f.process, f.servers = after.at.Sub(before.at), after.process-before.process, after.servers-before.servers
	f.settle(ctx, leases)
	return f, nil
}

// settle counts what is still held, and releases that. What is lost has nothing
// on the nodes that would not run out.
func (f *figures) settle(ctx context.Context, leases []*redlock.Lease) {
	held := make([]*redlock.Lease, 0, len(leases))
	for _, s := range leases {
		if s.Context().Err() == nil {
			held = append(held, s)
		}
	}
	f.lost = len(leases) - len(held)
	outcomes := release(ctx, held)
	f.gone, f.unknown = outcomes[redlock.Expired], outcomes[redlock.Unknown]
}

// acquire takes n leases. Their contexts are all that is kept of them.
func acquire(ctx context.Context, l *redlock.Locker, name string, n int) ([]*redlock.Lease, error) {
	leases, errs := make([]*redlock.Lease, n), make([]error, hands)
	var next atomic.Int64
	var work sync.WaitGroup
	for hand := range hands {
		work.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && errs[hand] == nil; i = next.Add(1) - 1 {
				leases[i], errs[hand] = l.Acquire(ctx, redlock.Key(fmt.Sprintf("%s/%d", name, i)))
			}
		})
	}
	work.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return leases, nil
}

// release returns how many releases had which outcome.
func release(ctx context.Context, leases []*redlock.Lease) map[redlock.Outcome]int {
	outcomes := make([]redlock.Outcome, len(leases))
	var next atomic.Int64
	var work sync.WaitGroup
	for range hands {
		work.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(leases)); i = next.Add(1) - 1 {
				outcomes[i], _ = leases[i].Release(ctx) // the outcome says what the error does
			}
		})
	}
	work.Wait()
	count := map[redlock.Outcome]int{}
	for _, outcome := range outcomes {
		count[outcome]++
	}
	return count
}
