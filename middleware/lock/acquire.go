package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// cornered is how long a job waits in place that cannot go back.
const cornered = 30 * time.Second

// acquire tries once, and then in place for as long as the job may wait there.
func (g *guard) acquire(ctx context.Context, job *holdfast.Job, claim redlock.Claim) (*redlock.Lease, error) {
	claim.Wait = g.inPlace
	if job.Cornered {
		claim.Wait = max(claim.Wait, cornered)
	}
	if claim.Wait == 0 {
		return g.locker.TryAcquire(ctx, claim)
	}
	return g.locker.Acquire(ctx, claim)
}

// refused says what becomes of a job that did not get its lock. Nothing of it
// ran.
func (g *guard) refused(ctx context.Context, job *holdfast.Job, err error) error {
	if done, ok := errors.AsType[*redlock.DoneError](err); ok {
		g.quorum(ctx)
		return g.duplicate(ctx, job, done.Record)
	}
	if held, ok := errors.AsType[*redlock.HeldError](err); ok {
		g.quorum(ctx)
		return g.contended(ctx, held)
	}
	if errors.Is(err, redlock.ErrNoQuorum) {
		attempt, first := g.outage.attempt()
		if first {
			g.locker.Logger().WarnContext(ctx, "no quorum of lock nodes, jobs wait", "kind", job.Kind, "err", err)
		}
		return retry.Later(fmt.Errorf("%w: %w", ErrNoQuorum, err), g.noQuorum.Delay(attempt))
	}
	if _, bad := errors.AsType[*holdfast.FieldError](err); bad || errors.Is(err, redlock.ErrNested) {
		return retry.Never(fmt.Errorf("lock: %w", err))
	}
	return retry.Later(fmt.Errorf("%w: %w", ErrInterrupted, err), g.backoff.Delay(1))
}

// duplicate answers for a job that is done: with its result, or, when the ID
// came with another payload, not at all.
func (g *guard) duplicate(ctx context.Context, job *holdfast.Job, record holdfast.Record) error {
	if record.Hash != job.Hash {
		return retry.Never(fmt.Errorf("%w: done at %s with payload hash %s, this one has %s",
			holdfast.ErrMismatch, record.At.UTC().Format(time.RFC3339), record.Hash, job.Hash))
	}
	if err := job.StoreResult(record.Result); err != nil {
		return retry.Never(err)
	}
	g.count.duplicate(ctx, job.Kind)
	g.locker.Logger().InfoContext(ctx, "duplicate skipped",
		"kind", job.Kind, "job_id", job.ID, "queue", job.Queue, "token", record.Token)
	return nil
}

// contended puts the job back, after a delay that the nodes' count decides.
func (g *guard) contended(ctx context.Context, held *redlock.HeldError) error {
	if g.maxWait > 0 && held.Waited > g.maxWait {
		return retry.Never(fmt.Errorf("%w of %v: %w", ErrWaitedTooLong, g.maxWait, held))
	}
	delay := g.backoff.Delay(held.Count)
	trace.SpanFromContext(ctx).AddEvent("contended", trace.WithAttributes(
		holdfast.AttrLockHolder.Int64(held.Token),
		holdfast.AttrContentions.Int(held.Count),
		attribute.Float64("holdfast.retry.delay", delay.Seconds()),
	))
	return retry.Later(fmt.Errorf("%w: %w", ErrContended, held), delay)
}

// quorum says that a majority of lock nodes answered, and tells of the end of an
// outage.
func (g *guard) quorum(ctx context.Context) {
	if lasted := g.outage.over(); lasted > 0 {
		g.locker.Logger().InfoContext(ctx, "a quorum of lock nodes is back", "after", lasted)
	}
}
