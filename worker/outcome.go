package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// maxText is the most of an error's text that is kept in Redis, in bytes.
const maxText = 4 << 10

// outcome is the error that asynq gets for every job that is not done: it says
// what to do with the job, whatever the error beneath would make of itself.
type outcome struct {
	job     *holdfast.Job
	err     error  // what the chain returned
	text    string // of err, as it is kept in Redis
	delay   time.Duration
	counted bool
	dead    bool
	moot    bool              // the queue's entry is out of this attempt's reach
	span    trace.SpanContext // of the delivery
}

// Error is what asynq stores and asynqmon shows.
func (o *outcome) Error() string { return o.text }

// Is makes asynq archive the job. There is no Unwrap: asynq must not find a word
// of its own further down.
func (o *outcome) Is(target error) bool { return o.dead && target == asynq.SkipRetry }

// settle decides what err means for the job; nil means done.
func (w *Worker) settle(ctx context.Context, job *holdfast.Job, err error) *outcome {
	if why := job.Disowned(); why != nil && retry.Of(err).Kind != retry.KindLater {
		// Something outside of the lock has another opinion. The job may be a newer
		// attempt's, and is not ours to end.
		err = retry.Later(errors.Join(why, err), retry.Of(why).Delay)
	}
	if err == nil {
		return nil
	}
	o := &outcome{job: job, err: err, text: text(err)}
	verdict := retry.Of(err)
	switch {
	case verdict.Kind == retry.KindLater: // first: the job may no longer be ours to give up
		o.delay = max(wholeSeconds(verdict.Delay), time.Second)
	case verdict.Kind == retry.KindNever, errors.Is(err, asynq.SkipRetry), errors.Is(err, asynq.RevokeTask):
		o.dead = true
	case errors.Is(context.Cause(ctx), ErrStopping):
		o.delay = time.Second
	default:
		o.counted = true
		o.dead = job.Attempt >= job.MaxAttempts
		if verdict.Kind == retry.KindAfter {
			o.delay = wholeSeconds(verdict.Delay)
		} else {
			o.delay = w.backoff(job.Attempt)
		}
	}
	o.dead = o.dead || job.Cornered
	return o
}

// text is err in words that Redis can keep: asynq's encoding refuses a message
// that is not UTF-8, and the job would never leave its active list. fmt survives
// an Error method that panics; calling it here does not.
func text(err error) string {
	s := fmt.Sprint(err)
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// backoff is the delay after a counted failure. A policy is the user's code, and
// asynq asks for delays where a panic would end the process.
func (w *Worker) backoff(attempt int) (d time.Duration) {
	defer func() {
		if v := recover(); v != nil {
			w.cfg.Logger.Error("retry policy panicked", "attempt", attempt, "err", v)
			d = time.Minute
		}
	}()
	return wholeSeconds(w.cfg.Retry.Delay(attempt))
}

// wholeSeconds rounds up: asynq keeps Unix seconds and cuts off the rest.
func wholeSeconds(d time.Duration) time.Duration {
	return max(0, (d + time.Second - 1).Truncate(time.Second))
}

// isFailure is asynq's IsFailure: whether Retried goes up.
func isFailure(err error) bool {
	if o, ok := errors.AsType[*outcome](err); ok {
		return o.counted
	}
	return !errors.Is(err, asynq.ErrLeaseExpired) // a worker that died is not the job's fault
}

// retryDelay is asynq's RetryDelayFunc. A job whose worker died has waited for
// more than a minute already.
func (w *Worker) retryDelay(retried int, err error, _ *asynq.Task) time.Duration {
	if o, ok := errors.AsType[*outcome](err); ok {
		return o.delay
	}
	if errors.Is(err, asynq.ErrLeaseExpired) {
		return 0
	}
	return w.backoff(retried + 1)
}
