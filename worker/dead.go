package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
)

// deadTime is what OnDead has.
const deadTime = 10 * time.Second

// failed is asynq's ErrorHandler. asynq calls it with the answer that it is about
// to act on, just before it does; so OnDead hears of archives here and nowhere
// else, and never of an answer that asynq ignored.
func (w *Worker) failed(ctx context.Context, task *asynq.Task, err error) {
	o, ours := errors.AsType[*outcome](err)
	if !ours { // asynq's context ended, and asynq did not wait for ours
		job, _ := jobOf(ctx, task)
		o = &outcome{job: job, err: fmt.Errorf("worker: asynq ended the attempt: %w", err), counted: isFailure(err), dead: job.Cornered}
		o.moot = errors.Is(err, asynq.ErrLeaseExpired) // past its lease asynq does not touch the entry
		o.text = text(o.err)
	}
	log := w.log(o.job).With("err", o.text)
	switch {
	case o.moot:
		log.WarnContext(ctx, "an attempt that does not own its job any more has ended")
	case o.dead:
		log.ErrorContext(ctx, "job is archived")
		w.onDead(ctx, o)
	case o.counted:
		log.WarnContext(ctx, "job failed and is tried again")
	default:
		log.DebugContext(ctx, "job is put back")
	}
}

func (w *Worker) onDead(ctx context.Context, o *outcome) {
	if w.cfg.OnDead == nil {
		return
	}
	ctx = holdfast.WithJob(context.WithoutCancel(ctx), o.job)
	ctx = trace.ContextWithSpanContext(ctx, o.span)
	ctx, cancel := context.WithTimeout(ctx, deadTime)
	defer cancel()
	defer func() {
		if v := recover(); v != nil { // on asynq's own goroutine: it would end the process
			w.log(o.job).ErrorContext(ctx, "OnDead panicked", "err", v)
		}
	}()
	w.cfg.OnDead(ctx, o.job, o.err)
}
