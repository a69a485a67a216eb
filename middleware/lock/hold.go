package lock

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

// hold runs the handler under the lease and settles it, also when the handler
// panics or ends its goroutine.
func (g *guard) hold(ctx context.Context, job *holdfast.Job, lease *redlock.Lease) error {
	settled := false
	defer func() {
		if !settled {
			_, _ = lease.Release(ctx) // the panic is the news; an unreleased key is free after TTL
		}
	}()
	failure := g.next.Handle(context.WithValue(lease.Context(), jobLease{}, lease), job)
	settled = true
	if lost := givenUp(lease); lost != nil {
		return g.failedHealth(ctx, job, lease, lost, failure)
	}
	if failure != nil {
		return g.failed(ctx, job, lease, failure)
	}
	return g.done(ctx, job, lease)
}

// failed releases. The handler's verdict stands only if the attempt still owned
// the job when it fell: a newer attempt may own the queue's entry otherwise.
func (g *guard) failed(ctx context.Context, job *holdfast.Job, lease *redlock.Lease, failure error) error {
	if lost := released(ctx, lease); lost != nil {
		return g.later(ctx, job, ErrLost, errors.Join(lost, failure))
	}
	return failure
}

// failedHealth releases what was given up, and makes it a plain failure: of what
// the handler returned only the text is kept, since its verdict fell too late.
func (g *guard) failedHealth(ctx context.Context, job *holdfast.Job, lease *redlock.Lease, lost *redlock.LostError, failure error) error {
	_, _ = lease.Release(ctx) // it runs out if no node hears of it
	g.locker.Logger().WarnContext(ctx, "a handler was given up",
		"kind", job.Kind, "job_id", job.ID, "queue", job.Queue, "attempt", job.Attempt, "err", lost)
	if failure == nil {
		return fmt.Errorf("%w: %w; it returned nil afterwards", ErrGivenUp, lost)
	}
	return fmt.Errorf("%w: %w; it returned: %v", ErrGivenUp, lost, failure) //nolint:errorlint // without its verdict
}

// done records the completion. Only a recorded one is acknowledged.
func (g *guard) done(ctx context.Context, job *holdfast.Job, lease *redlock.Lease) error {
	if job.Foreign {
		if lost := released(ctx, lease); lost != nil {
			return g.later(ctx, job, ErrNotRecorded, lost)
		}
		return nil
	}
	record := holdfast.Record{Hash: job.Hash, Result: job.Result()}
	if err := lease.Finish(ctx, record, g.retention); err != nil {
		_, _ = lease.Release(ctx) // nothing, but after a record that was refused as it is
		return g.later(ctx, job, ErrNotRecorded, err)
	}
	return nil
}

// released frees the keys and returns nil if they were ours until then. When too
// few nodes answer they were: the lease was valid, and the keys are free after
// TTL.
func released(ctx context.Context, lease *redlock.Lease) error {
	outcome, _ := lease.Release(ctx)
	if lost := lease.Err(); lost != nil {
		return lost
	}
	if outcome == redlock.Expired {
		return redlock.ErrLost
	}
	return nil
}

// later puts the job back, uncounted, whatever verdict err carries.
func (g *guard) later(ctx context.Context, job *holdfast.Job, reason, err error) error {
	err = fmt.Errorf("%w: %w", reason, err)
	g.locker.Logger().WarnContext(ctx, "an attempt does not stand and the job comes again",
		"kind", job.Kind, "job_id", job.ID, "queue", job.Queue, "attempt", job.Attempt, "err", err)
	return retry.Later(err, g.backoff.Delay(1))
}
