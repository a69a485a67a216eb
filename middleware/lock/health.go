package lock

import (
	"context"
	"math"
	"time"

	"github.com/holdfastjobs/holdfast/redlock"
)

// Healthy is asked before each extension of the lock, about every third of its
// TTL, and has as long again to answer. An error, a panic or no answer is the end
// of the attempt: the lock is extended no more, the handler's context is cancelled
// with a [redlock.LostError] as the cause, and the job fails with [ErrGivenUp],
// which counts, whatever the handler returns then.
//
// The handler is cancelled and not killed: nothing can stop a goroutine from
// outside. One that does not heed its context goes on, without its lock, which
// another can have within a TTL. f must be safe for concurrent use with handlers,
// since one f is asked for all jobs of this handler; ctx is the job's.
func Healthy(f func(ctx context.Context) error) Option {
	if f == nil {
		panic("lock: Healthy takes a function, and got nil")
	}
	return func(s *settings) { s.healthy = f }
}

// Stall ends an attempt whose handler has not called [Beat] for d, in the same way
// as [Healthy] does: 10 ms or more. 0, the default, asks for no beats. It begins
// when the lock is granted.
func Stall(d time.Duration) Option {
	if d != 0 {
		d = between("Stall", d, 10*time.Millisecond, math.MaxInt64)
	}
	return func(s *settings) { s.stall = d }
}

// MaxHold ends an attempt that has held its lock for d, in the same way as
// [Healthy] does, however healthy it is. 0, the default, is never.
func MaxHold(d time.Duration) Option {
	d = between("MaxHold", d, 0, math.MaxInt64)
	return func(s *settings) { s.maxHold = d }
}

type jobLease struct{}

// Beat tells that the handler makes progress: for [Stall]. ctx is the handler's, or
// comes from it, also below further locks. Elsewhere it does nothing. It costs a
// reading of the clock.
func Beat(ctx context.Context) {
	if lease, ok := ctx.Value(jobLease{}).(*redlock.Lease); ok {
		lease.Beat()
	}
}

// givenUp is why the handler's own health ended the lease, or nil.
func givenUp(lease *redlock.Lease) *redlock.LostError {
	lost, ok := lease.Err().(*redlock.LostError) //nolint:errorlint // it is never wrapped
	if !ok {
		return nil
	}
	if why := lost.Why; why == redlock.LostUnhealthy || why == redlock.LostStalled || why == redlock.LostMaxHold {
		return lost
	}
	return nil
}
