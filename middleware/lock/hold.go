package lock

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

// hold runs the handler under the lease and settles it, also when a middleware
// panics or ends its goroutine.
func (g *guard) hold(ctx context.Context, job *holdfast.Job, lease *redlock.Lease) error {
	h := &hold{lease: lease}
	settled := false
	defer func() {
		if settled {
			return
		}
		if lost := h.release(ctx); lost != nil {
			_ = g.later(ctx, job, ErrLost, lost) // the worker reads it from the job
		}
	}()
	failure := g.next.Handle(holdfast.WithHold(context.WithValue(lease.Context(), jobLease{}, lease), h), job)
	settled = true
	if lost := givenUp(lease); lost != nil {
		return g.failedHealth(ctx, job, h, lost, failure)
	}
	if failure != nil {
		return g.failed(ctx, job, h, failure)
	}
	return g.done(ctx, job, h)
}

// failed releases. The handler's verdict stands only if the attempt still owned
// the job when it fell: a newer attempt may own the queue's entry otherwise.
func (g *guard) failed(ctx context.Context, job *holdfast.Job, h *hold, failure error) error {
	if lost := h.release(ctx); lost != nil {
		return g.later(ctx, job, ErrLost, errors.Join(lost, failure))
	}
	return failure
}

// failedHealth releases what was given up, and makes it a plain failure: of what
// the handler returned only the text is kept, since its verdict fell too late. A
// lock that has run out meanwhile may be another's, and then so is the failure.
func (g *guard) failedHealth(ctx context.Context, job *holdfast.Job, h *hold, lost *redlock.LostError, failure error) error {
	stands := h.lease.Left() > 0
	_ = h.release(ctx) // lost it is
	if !stands {
		return g.later(ctx, job, ErrLost, errors.Join(lost, failure))
	}
	g.locker.Logger().WarnContext(ctx, "a handler was given up",
		"kind", job.Kind, "job_id", job.ID, "queue", job.Queue, "attempt", job.Attempt, "err", lost)
	if failure == nil {
		return fmt.Errorf("%w: %w; it returned nil afterwards", ErrGivenUp, lost)
	}
	return fmt.Errorf("%w: %w; it returned: %v", ErrGivenUp, lost, failure) //nolint:errorlint // without its verdict
}

// done records the completion. Only a recorded one is acknowledged.
func (g *guard) done(ctx context.Context, job *holdfast.Job, h *hold) error {
	if h.left.Load() { // a middleware's nil, in the place of the worker's error
		return g.later(ctx, job, ErrNotRecorded, errStillRuns)
	}
	if job.Foreign {
		if lost := h.release(ctx); lost != nil {
			return g.later(ctx, job, ErrNotRecorded, lost)
		}
		return nil
	}
	record := holdfast.Record{Hash: job.Hash, Result: job.Result()}
	if err := h.lease.Finish(ctx, record, g.retention); err != nil {
		_, _ = h.lease.Release(ctx) // nothing, but after a record that was refused as it is
		return g.later(ctx, job, ErrNotRecorded, err)
	}
	return nil
}

// later puts the job back, uncounted, whatever verdict err carries, and whatever
// outer middlewares make of the answer.
func (g *guard) later(ctx context.Context, job *holdfast.Job, reason, err error) error {
	err = fmt.Errorf("%w: %w", reason, err)
	g.locker.Logger().WarnContext(ctx, "an attempt does not stand and the job comes again",
		"kind", job.Kind, "job_id", job.ID, "queue", job.Queue, "attempt", job.Attempt, "err", err)
	err = retry.Later(err, g.backoff.Delay(1))
	job.Disown(err)
	return err
}
