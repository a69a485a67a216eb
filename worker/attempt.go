package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// attempt is the innermost layer: whether the handler may run at all, until
// when, and on a goroutine of its own.
func (w *Worker) attempt(h holdfast.Handler) holdfast.Handler {
	return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
		if job.Attempt > job.MaxAttempts {
			return retry.Never(fmt.Errorf("%w: attempt %d of %d", ErrBudget, job.Attempt, job.MaxAttempts))
		}
		if !job.Deadline.IsZero() && !time.Now().Before(job.Deadline) {
			return retry.Never(fmt.Errorf("%w: it was %s", ErrExpired, job.Deadline.UTC().Format(time.RFC3339)))
		}
		outer := ctx
		ctx, cancel := limit(outer, job)
		defer cancel()
		err := w.call(outer, ctx, job, h)
		if err == nil {
			return nil // in time or not: what is done is done
		}
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, ErrExpired):
			return retry.Never(because(cause, err))
		case errors.Is(cause, ErrTimeout) && errors.Is(err, context.DeadlineExceeded):
			return because(cause, err)
		}
		return err
	})
}

// limit returns the handler's own context: it ends with the delivery's, and at
// the attempt's timeout or the job's deadline, whichever comes first.
func limit(ctx context.Context, job *holdfast.Job) (context.Context, context.CancelFunc) {
	var end time.Time
	var cause error
	if job.Timeout > 0 {
		end, cause = time.Now().Add(job.Timeout), fmt.Errorf("%w after %s", ErrTimeout, job.Timeout)
	}
	if !job.Deadline.IsZero() && (end.IsZero() || job.Deadline.Before(end)) {
		end, cause = job.Deadline, ErrExpired
	}
	if end.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, end, cause)
}

// because puts the reason why the context ended in front of the handler's error,
// once.
func because(cause, err error) error {
	if errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// call runs h, and gives up one that never returns.
func (w *Worker) call(outer, ctx context.Context, job *holdfast.Job, h holdfast.Handler) error {
	run := w.apart(ctx, job, h)
	select {
	case err := <-run.returned:
		return err
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), ErrStopping) {
		return <-run.returned // Config.Drain says how long Run waits
	}
	return w.overrun(outer, ctx, job, run)
}

// run is a handler at work on a goroutine of its own.
type run struct {
	returned  chan error             // gets one
	goroutine atomic.Pointer[string] // its name, once it has begun
}

// apart runs h on a goroutine of its own, which the caller need not wait for, and
// which runtime.Goexit may end in the place of the caller's: that is an error then.
func (w *Worker) apart(ctx context.Context, job *holdfast.Job, h holdfast.Handler) *run {
	r := &run{returned: make(chan error, 1)}
	w.running.enter(job)
	go func() {
		defer w.running.leave(job)
		r.goroutine.Store(goroutine())
		err := ErrGoexit
		defer func() { r.returned <- err }()
		err = w.catch(ctx, job, h)
	}()
	return r
}

// catch turns a panic of h into a *PanicError.
func (w *Worker) catch(ctx context.Context, job *holdfast.Job, h holdfast.Handler) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p := &PanicError{Value: v, Stack: debug.Stack()}
			w.log(job).ErrorContext(ctx, "handler panicked", "err", p, "stack", string(p.Stack))
			err = p
		}
	}()
	return h.Handle(ctx, job)
}
