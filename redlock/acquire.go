package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// TryAcquire makes one attempt. It returns a lease, or exactly one of
// [HeldError], [DoneError], [NoQuorumError], [ConfigError], an error that Is ctx's
// own, a field error for a bad claim, [ErrNested] and [ErrClosed]. When ctx ends it returns at
// once; what the attempt left on the nodes is cleaned up meanwhile.
func (l *Locker) TryAcquire(ctx context.Context, c Claim) (*Lease, error) {
	return l.acquire(ctx, c, func(ctx context.Context, c Claim, seen *sighting) (*Lease, error) {
		return l.try(ctx, c, l.visit(c), seen)
	})
}

// Acquire waits until it gets the lease, the job is done, Claim.Wait is over, or
// ctx ends: it tries again after 10, 50, 200 ms, then about every second, all
// jittered, and when a release is heard of. Of many in one process that wait for
// one key, those further back ask less often, in proportion, up to 5 s. It waits
// out missing quorums likewise. Errors are those of TryAcquire, where the one on
// the end of ctx also Is the reason of the last try. Waiters are not served in
// order.
func (l *Locker) Acquire(ctx context.Context, c Claim) (*Lease, error) {
	return l.acquire(ctx, c, l.wait)
}

// Do acquires key, runs f with the lease's context, and releases, also when f
// panics. It returns the error of Acquire without running f; else f's own, joined
// with a [LostError] only if the lease was lost meanwhile.
func (l *Locker) Do(ctx context.Context, key string, f func(ctx context.Context) error) (err error) {
	lease, err := l.Acquire(ctx, Key(key))
	if err != nil {
		return err
	}
	defer func() {
		// Unknown is no news for the caller: the lease runs out on its own.
		_, _ = lease.Release(ctx)
		if lost := lease.Err(); lost != nil {
			err = errors.Join(err, lost)
		}
	}()
	return f(lease.Context())
}

// sighting is what telemetry tells of a call.
type sighting struct {
	tries  int
	holder int64
}

func (l *Locker) acquire(ctx context.Context, c Claim, way func(context.Context, Claim, *sighting) (*Lease, error)) (*Lease, error) {
	c, err := c.checked(l.cfg)
	if err != nil {
		return nil, err
	}
	if err := l.nested(ctx, c); err != nil {
		return nil, err
	}
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer l.leave()
	var seen sighting
	span := l.signals.acquiring(ctx, c)
	// The span ends here: what the holder does is no part of the acquire, so the
	// lease's context does not come from it.
	lease, err := way(ctx, c, &seen)
	span.end(lease, err, seen)
	return lease, err
}

// nested looks for a key of the claim among the leases whose contexts ctx comes
// from.
func (l *Locker) nested(ctx context.Context, c Claim) error {
	for lease, ok := LeaseFrom(ctx); ok; lease, ok = LeaseFrom(lease.outer) {
		for _, key := range c.Keys {
			if lease.l == l && lease.ctx.Err() == nil && slices.Contains(lease.try.claim.Keys, key) {
				return fmt.Errorf("redlock: acquire %q: %w, under token %d", key, ErrNested, lease.token)
			}
		}
	}
	return nil
}

// visit names a call, for those whose contention is counted.
func (l *Locker) visit(c Claim) string {
	if c.Waiter == "" {
		return ""
	}
	return l.nonce()
}

func (l *Locker) try(ctx context.Context, c Claim, visit string, seen *sighting) (*Lease, error) {
	lease, err := l.newAttempt(c, visit).run(ctx)
	seen.tries++
	if held, ok := errors.AsType[*HeldError](err); ok {
		seen.holder = held.Token
	}
	return lease, err
}

// wait is the way of Acquire.
func (l *Locker) wait(ctx context.Context, c Claim, seen *sighting) (*Lease, error) {
	visit, seed := l.visit(c), ""
	var over <-chan time.Time // never, without a limit
	if c.Wait > 0 {
		limit := time.NewTimer(c.Wait)
		defer limit.Stop()
		over = limit.C
	}
	var freed *waiter
	defer func() {
		if freed != nil {
			l.wakes.leave(freed)
		}
	}()
	var last error
	for try, tries := 0, 0; ; try, tries = try+1, tries+1 {
		back := l.returns.await()
		lease, err := l.try(ctx, c, visit, seen)
		if freed != nil && (err == nil || errors.Is(err, ErrHeld)) {
			freed.unused = false
		}
		switch {
		case errors.Is(err, ErrHeld), errors.Is(err, ErrNoQuorum):
			last = err
		case ctx.Err() != nil && errors.Is(err, ctx.Err()) && last != nil:
			return nil, fmt.Errorf("%w: %w", err, last)
		default:
			return lease, err
		}
		if freed == nil {
			freed, seed = l.wakes.join(c.Keys), l.nonce()
		}
		woken := freed.woken
		if errors.Is(err, ErrNoQuorum) {
			woken = nil // what is missing is nodes; what is heard may be our own failed try, cleaned up
		} else {
			back = nil
		}
		timer := time.NewTimer(min(pauseAfter(seed, tries, try)*time.Duration(l.wakes.place(freed)), longestPause))
		select {
		case <-timer.C:
		case <-woken:
			timer.Stop()
			freed.unused, try = true, -1
		case <-back:
			timer.Stop()
		case <-over:
			timer.Stop()
			return nil, last
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w: %w", ended(ctx, "acquire"), last)
		case <-l.open.Done():
			timer.Stop()
			return nil, ErrClosed
		}
		select {
		case <-over: // of two that come at once, the end counts
			return nil, last
		default:
		}
	}
}

const longestPause = 5 * time.Second

// pauseAfter is 10, 50, 200 ms, then 1 s; give or take half.
func pauseAfter(seed string, tries, try int) time.Duration {
	steps := [...]time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond, time.Second}
	d := steps[min(try, len(steps)-1)]
	return d/2 + jitter(seed, tries, d)
}
