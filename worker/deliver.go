package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// deliver is what asynq calls with each job. asynqs is its own context: once it ends,
// asynq has settled the job without us and ignores what deliver returns.
func (w *Worker) deliver(asynqs context.Context, task *asynq.Task) error {
	job, err := jobOf(asynqs, task)
	ctx, done := w.running.begin(asynqs, job)
	defer done()
	ctx = context.WithValue(holdfast.WithJob(ctx, job), stoppingKey{}, w.stopping)
	_, known := w.handlers[job.Kind]
	ctx, process := w.meter.start(ctx, task, job, known)

	if err == nil {
		// A middleware may call runtime.Goexit, too. It would take asynq's goroutine
		// along, and with it the worker slot until asynq's own timeout.
		err = <-w.apart(ctx, job, holdfast.HandlerFunc(w.handle)).returned
	}
	o := w.settle(ctx, job, err)
	if o == nil {
		w.storeResult(ctx, task, job)
	}
	process.end(ctx, o)
	if o == nil {
		return nil // not o: a nil *outcome is no nil error
	}
	o.span = process.span.SpanContext()
	if job.Cornered && job.Disowned() != nil {
		o.moot = w.yield(asynqs, job)
	}
	return o
}

// handle is everything around the attempt but telemetry.
func (w *Worker) handle(ctx context.Context, job *holdfast.Job) error {
	h, known := w.handlers[job.Kind]
	if !known {
		return w.unknown(ctx, job)
	}
	select {
	case <-w.stopping:
		// asynq had taken it off the queue when the stop began. A cornered job
		// runs all the same: asynq would archive it for any answer but nil.
		if !job.Cornered {
			return retry.Later(ErrStopping, time.Second)
		}
	default:
	}
	args, err := h.decode(job.Payload)
	if err != nil {
		return retry.Never(err)
	}
	job.Args = args
	return w.layer(0).Handle(ctx, job)
}

// jobOf reads the job that ctx and task describe. The error, when the headers
// are ours and do not parse, comes with what is known of the job.
func jobOf(ctx context.Context, task *asynq.Task) (*holdfast.Job, error) {
	id, _ := asynq.GetTaskID(ctx)
	queue, _ := asynq.GetQueueName(ctx)
	retried, _ := asynq.GetRetryCount(ctx)
	maxRetry, _ := asynq.GetMaxRetry(ctx)
	job := &holdfast.Job{
		Kind:        task.Type(),
		ID:          id,
		Queue:       queue,
		Payload:     task.Payload(),
		Hash:        holdfast.PayloadHash(task.Payload()),
		Attempt:     retried + 1,
		MaxAttempts: maxRetry + 1,
		Cornered:    retried >= maxRetry, // asynq's own test, made before it asks us
	}
	e, ours, err := holdfast.ReadEnvelope(task.Headers())
	if err == nil && ours && (e.MaxAttempts < 1 || e.Timeout < 0) {
		err = fmt.Errorf("max attempts %d, timeout %s", e.MaxAttempts, e.Timeout)
	}
	if err != nil {
		return job, retry.Never(fmt.Errorf("%w: %w", ErrHeaders, err))
	}
	if !ours {
		job.Foreign = true
		return job, nil
	}
	job.ID = e.JobID
	job.EnqueuedAt = e.EnqueuedAt
	job.Timeout = e.Timeout
	job.Deadline = e.Deadline
	job.MaxAttempts = e.MaxAttempts
	return job, nil
}

// storeResult hands the job's result to asynq, where its CLI and asynqmon show
// it while the entry is retained. The write creates the entry when it is gone,
// for good, so it must not come after asynq settled the job.
func (w *Worker) storeResult(ctx context.Context, task *asynq.Task, job *holdfast.Job) {
	result := job.Result()
	if result == nil || task.ResultWriter() == nil {
		return
	}
	// Write itself refuses once asynq's context has ended.
	if _, err := task.ResultWriter().Write(result); err != nil {
		w.log(job).WarnContext(ctx, "result of a finished job was not stored in the queue", "err", err)
	}
}
