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
	// As many as will be at work at once, so that all connections are there.
	few, err := acquire(ctx, l, "warm-up", min(o.leases, 10*hands))
	if err != nil {
		return figures{}, err
	}
	release(ctx, few)
	var f figures
	if f.none, err = watch(ctx, o.ttl); err != nil {
		return figures{}, err
	}
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
	f.lasted, f.process, f.servers = after.at.Sub(before.at), after.process-before.process, after.servers-before.servers
	for _, s := range leases {
		if s.Context().Err() != nil {
			f.lost++
		}
	}
	f.gone = release(ctx, leases) - f.lost
	return f, nil
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

// release returns how many of the leases the nodes did not hold any more, or
// would not say.
func release(ctx context.Context, leases []*redlock.Lease) int {
	var next, gone atomic.Int64
	var work sync.WaitGroup
	for range hands {
		work.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(leases)); i = next.Add(1) - 1 {
				// The outcome says what the error does.
				if outcome, _ := leases[i].Release(ctx); outcome != redlock.Released {
					gone.Add(1)
				}
			}
		})
	}
	work.Wait()
	return int(gone.Load())
}
