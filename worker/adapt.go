package worker

import (
	"context"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// Adapt puts middlewares, the first one outermost, in front of the handlers of an
// asynq server that is there already:
//
//	server := asynq.NewServer(redis, worker.Policy(asynq.Config{Concurrency: 10}))
//	mux.Use(worker.Adapt(lock.Middleware(locker)))
//
// A server without [Policy] counts contention as a failure. The middlewares are made
// once, here, and a nil one panics. Their [holdfast.Route] is empty, since a mux does
// not say what it is asked for; the job's Args are the *asynq.Task itself, and its
// kind is the task's type, whatever characters it has.
//
// A task of a plain asynq client is a Foreign job: its ID is no idempotency key, so it
// gets the lock and no record, and its budget and timeout are asynq's. On its last
// attempt it waits for the lock in place, for up to 30 s or until its timeout; then
// asynq archives it. A job of package queue has its record and all its own limits.
//
// What the handler returns reaches asynq as it is, SkipRetry and RevokeTask included,
// but for the words of package retry, a panic, which is a [*PanicError], and what the
// middlewares say when the lock was lost. The handler runs on a goroutine of its own,
// and may outlive its context by 1 min before the lock is given up.
func Adapt(middlewares ...holdfast.Middleware) asynq.MiddlewareFunc {
	w := unconnected()
	chain := holdfast.Chain(holdfast.Route{}, w.attempt(holdfast.HandlerFunc(
		func(ctx context.Context, job *holdfast.Job) error {
			next := ctx.Value(nextKey{}).(asynq.Handler)
			return next.ProcessTask(ctx, job.Args.(*asynq.Task))
		})), middlewares...)
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
			job, err := jobOf(ctx, task)
			job.Args = task
			if err == nil {
				ctx := context.WithValue(ctx, nextKey{}, next) // a mux makes it for each task
				err = chain.Handle(holdfast.WithJob(ctx, job), job)
			}
			return w.answer(ctx, task, job, err)
		})
	}
}

type nextKey struct{}

// unconnected is a worker for its rules alone.
func unconnected() *Worker {
	cfg := Config{}.withDefaults()
	return &Worker{cfg: cfg, meter: newMeter(cfg), running: newRunning()}
}

// answer leaves asynq and the fleet's own policy a plain error as it is, of an attempt
// that owned the job.
func (w *Worker) answer(ctx context.Context, task *asynq.Task, job *holdfast.Job, err error) error {
	last := !job.Foreign && job.Attempt >= job.MaxAttempts
	if retry.Of(err).Kind == retry.KindRetry && !last && job.Disowned() == nil {
		return err
	}
	if o := w.settle(ctx, job, err); o != nil {
		return o
	}
	w.storeResult(ctx, task, job)
	return nil
}
