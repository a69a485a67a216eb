package redlock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// Lease is one tenure: the claim's keys, held under one token. It is extended by
// itself until [Lease.Release], [Lease.Finish], [Lease.Lapse] or loss, whatever
// happens to the context it was acquired with: settle every lease. It is safe for
// concurrent use.
type Lease struct {
	l     *Locker
	try   *attempt
	token int64

	abandoned   bool
	contentions int
	since       time.Time
	acquired    time.Duration // by the locker's clock
	began       time.Time     // for metrics

	outer  context.Context // of the acquire
	ctx    context.Context
	cancel context.CancelCauseFunc

	until  atomic.Int64 // end of validity, by the locker's clock; what the keeper looks at
	renew  atomic.Int64 // when to extend; never while a round is under way
	beaten atomic.Int64 // when the holder last made progress
	lapsed atomic.Bool  // set once: no extension begins any more

	mu      sync.Mutex
	ends    []time.Duration // per node: until when its grant surely lives, less the margin; 0 is none
	lost    *LostError      // set once
	settled bool            // set once: no extension re-arms anything

	settling sync.Mutex // one settlement at a time
	last     *settlement
}

type leaseKey struct{}

// LeaseFrom returns the innermost lease whose context ctx is or comes from.
func LeaseFrom(ctx context.Context) (*Lease, bool) {
	lease, ok := ctx.Value(leaseKey{}).(*Lease)
	return lease, ok
}

func newLease(ctx context.Context, a *attempt, t *tally) *Lease {
	s := &Lease{
		l: a.l, try: a, token: t.token, abandoned: t.abandoned(len(a.claim.Keys)),
		ends: make([]time.Duration, len(a.l.nodes)), began: time.Now(),
	}
	var since int64
	s.contentions, since = t.waited(codeOK, 1)
	s.since = nodeTime(since)
	var first time.Duration
	for _, v := range t.votes {
		if t.granted(v) {
			s.ends[v.node] = s.endOf(v.sent)
			first, s.acquired = max(first, v.sent), max(s.acquired, v.heard)
		}
	}
	s.until.Store(int64(validity(s.ends, a.l.need)))
	s.renew.Store(int64(first + s.renewAfter(0)))
	s.beaten.Store(int64(s.acquired))
	s.outer = ctx
	ctx = context.WithValue(ctx, leaseKey{}, s)
	ctx = holdfast.WithTenure(ctx, holdfast.Tenure{Keys: s.Keys(), Token: s.token, Abandoned: s.abandoned})
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

// Context is live while the lease is held. It comes from the context of the
// acquire, ends with it, and carries [holdfast.Tenure] and the lease. When the
// lease is lost it ends with a [LostError] as its cause, before validity ends if
// the process runs, else within one tick (at most 50 ms, and TTL/20) after it
// runs again. Settling ends it too.
//
// [holdfast.Tenure]: https://pkg.go.dev/github.com/holdfastjobs/holdfast#Tenure
func (s *Lease) Context() context.Context { return s.ctx }

// Token is the fencing token: positive, even, below 2^53, and larger than that
// of every earlier tenure of any of the keys.
func (s *Lease) Token() int64 { return s.token }

// Keys are the keys held, without repetition, in the claim's order.
func (s *Lease) Keys() []string { return slices.Clone(s.try.claim.Keys) }

// Abandoned says that somebody who held or tried to take one of the keys before
// did not clean up: a strong hint that it died, and no proof.
func (s *Lease) Abandoned() bool { return s.abandoned }

// Contentions is in how many earlier calls this claim's Waiter met contention; 0
// when it is not counted.
func (s *Lease) Contentions() int { return s.contentions }

// Since is when the Waiter first met contention, by a lock node's clock; zero
// when it did not, or is not counted.
func (s *Lease) Since() time.Time { return s.since }

// Err is nil while the lease is held or settled without loss, else the
// [LostError].
func (s *Lease) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil {
		return nil
	}
	return s.lost
}

// endOf is until when a grant that was asked for at sent surely lives: the node
// cannot have received the request before, and its clock may gain the margin.
func (s *Lease) endOf(sent time.Duration) time.Duration {
	ttl := s.try.claim.TTL.Truncate(time.Microsecond)
	return sent + ttl - margin(ttl)
}

// end is the end of validity.
func (s *Lease) end() time.Duration { return time.Duration(s.until.Load()) }

// confirm notes that a node granted or extended what was asked for at sent. An
// answer counts for its own request's time only, however late it comes.
func (s *Lease) confirm(node int, sent time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil && !s.settled {
		s.ends[node] = max(s.ends[node], s.endOf(sent))
		s.until.Store(int64(validity(s.ends, s.l.need)))
	}
}

// lose ends the lease for good, once, unless it was settled before.
func (s *Lease) lose(why Why, causes ...error) {
	s.mu.Lock()
	if s.lost != nil || s.settled {
		s.mu.Unlock()
		return
	}
	s.lost = &LostError{Key: s.try.claim.Keys[0], Token: s.token, Why: why, Err: errors.Join(causes...)}
	s.mu.Unlock()
	s.cancel(s.lost)
	s.l.keeper.remove(s)
	s.l.signals.lost(s)
}
