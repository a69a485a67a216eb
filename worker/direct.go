package worker

import (
	"context"
	"fmt"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// Deliver hands the job to its handler as Run would, through decoding, middlewares,
// budget and timeout, and returns what a queue would be told, with the error that
// says why: [retry.KindDone] acknowledges, KindRetry counts a failure and KindLater
// does not, each with its delay, and KindNever archives. It is for tests, which have
// package workertest for it: there is no queue, no span, no OnDead, and a kind
// without handler is archived at once.
//
// Register before, and call it from as many goroutines as you like, with a job each.
func (w *Worker) Deliver(ctx context.Context, job *holdfast.Job) (retry.Verdict, error) {
	ctx, done := w.running.begin(ctx, job)
	defer done()
	ctx = context.WithValue(holdfast.WithJob(ctx, job), stoppingKey{}, w.stopping)
	err := <-w.apart(ctx, job, holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
		if _, known := w.handlers[job.Kind]; !known {
			return retry.Never(fmt.Errorf("%w: %q", ErrUnknownKind, job.Kind))
		}
		return w.handle(ctx, job)
	})).returned
	return w.settle(ctx, job, err).verdict(), err
}

// verdict is what the outcome says to the queue.
func (o *outcome) verdict() retry.Verdict {
	switch {
	case o == nil:
		return retry.Verdict{Kind: retry.KindDone}
	case o.dead:
		return retry.Verdict{Kind: retry.KindNever}
	case o.counted:
		return retry.Verdict{Kind: retry.KindRetry, Delay: o.delay}
	}
	return retry.Verdict{Kind: retry.KindLater, Delay: o.delay}
}
