package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

func TestATimeoutIsCounted(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, func(ctx context.Context, _ charge) error { <-ctx.Done(); return ctx.Err() })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 2, Timeout: 20 * time.Millisecond})
		b.start(w)
		info := b.until(id, asynq.TaskStateArchived)
		const want = "worker: handler timed out after 20ms: context deadline exceeded"
		if info.Retried != 1 || info.LastErr != want {
			t.Errorf("retried %d, last error %q", info.Retried, info.LastErr)
		}
		if _, err := dead.only(t); !errors.Is(err, worker.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestSuccessAfterTheTimeoutIsSuccess(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, func(ctx context.Context, _ charge) error { <-ctx.Done(); return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{Timeout: 20 * time.Millisecond})
		b.start(w)
		if info := b.until(id, asynq.TaskStateCompleted); info.Retried != 0 {
			t.Errorf("retried %d", info.Retried)
		}
		dead.none(t)
	})
}

func TestAJobPastItsDeadlineDoesNotRun(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, func(context.Context, charge) error { t.Error("the handler ran"); return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 25, Deadline: time.Now()})
		b.start(w)
		b.until(id, asynq.TaskStateArchived)
		if _, err := dead.only(t); !errors.Is(err, worker.ErrExpired) {
			t.Error(err)
		}
	})
}

func TestADeadlineInMidRunEndsTheJob(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, func(ctx context.Context, _ charge) error { <-ctx.Done(); return ctx.Err() })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 25, Timeout: time.Hour, Deadline: time.Now().Add(200 * time.Millisecond)})
		b.start(w)
		if info := b.until(id, asynq.TaskStateArchived); info.Retried != 0 {
			t.Errorf("retried %d", info.Retried)
		}
		if _, err := dead.only(t); !errors.Is(err, worker.ErrExpired) {
			t.Error(err)
		}
	})
}

func TestAHandlerThatIgnoresItsTimeoutIsGivenUpAndStillWaitedFor(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Retry, cfg.Drain = retry.Constant(time.Hour), time.Minute
		w := b.worker(cfg)
		finish := make(chan struct{})
		worker.Handle(w, func(context.Context, charge) error { <-finish; return nil })
		began := time.Now()
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 2, Timeout: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- w.Run(ctx) }()
		info := b.until(id, asynq.TaskStateRetry)
		if took := time.Since(began); took < 2*time.Minute || took > 2*time.Minute+4*b.pace || info.Retried != 1 {
			t.Errorf("given up after %s, retried %d: %s", took, info.Retried, info.LastErr)
		}
		cancel()
		if err := <-result; err == nil || err.Error() != `worker: drain: handlers still run: payments.charge "ch_1"` {
			t.Error(err)
		}
		close(finish)
	})
}

func TestRetriesFollowThePolicyAndTheErrorsOwnDelay(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Retry = retry.Exponential(time.Minute, time.Hour)
		w := b.worker(cfg)
		var starts []time.Duration
		began := time.Now()
		answers := []error{errors.New("plain"), errors.New("plain"), retry.After(errors.New("own"), 10*time.Minute), retry.Later(errors.New("put back"), 100*time.Millisecond), nil}
		worker.Handle(w, func(context.Context, charge) error {
			starts = append(starts, time.Since(began))
			return answers[len(starts)-1]
		})
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 4})
		b.start(w)
		info := b.until(id, asynq.TaskStateCompleted)
		want := []time.Duration{0, time.Minute, 3 * time.Minute, 13 * time.Minute, 13 * time.Minute}
		for i, at := range starts {
			if off := (at - want[i]).Abs(); off > 4*time.Duration(i+1)*b.pace {
				t.Errorf("start %d was at %s, want %s", i+1, at, want[i])
			}
		}
		if info.Retried != 3 || len(starts) != 5 {
			t.Errorf("retried %d, %d starts", info.Retried, len(starts))
		}
	})
}

func TestARetryPolicyThatPanicsCostsAMinuteAndNoProcess(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Retry = panicking{}
		w := b.worker(cfg)
		runs := 0
		worker.Handle(w, func(context.Context, charge) error {
			if runs++; runs == 1 {
				return errors.New("declined")
			}
			return nil
		})
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 2})
		b.start(w)
		began := time.Now()
		b.until(id, asynq.TaskStateCompleted)
		if took := time.Since(began); took < 59*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

type panicking struct{}

func (panicking) Delay(int) time.Duration { panic("policy") }
