package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

var errHeld = errors.New("lock is held")

// contend is a middleware that finds the lock taken the first n times.
func contend(n int) holdfast.Middleware {
	return func(_ holdfast.Route, next holdfast.Handler) holdfast.Handler {
		return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
			if n--; n >= 0 {
				return retry.Later(errHeld, time.Second)
			}
			return next.Handle(ctx, job)
		})
	}
}

func TestContentionOnTheLastAttemptIsNotTheEnd(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		for name, max := range map[string]int{"of one": 1, "of two": 2} {
			t.Run(name, func(t *testing.T) {
				var dead deaths
				cfg := b.config()
				cfg.OnDead = dead.hear
				w := b.worker(cfg)
				attempts := make(chan int, 9)
				fail := func(route holdfast.Route, next holdfast.Handler) holdfast.Handler {
					contended := contend(2)(route, next)
					return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
						if job.Attempt < job.MaxAttempts {
							return errors.New("declined") // spends all attempts but the last
						}
						return contended.Handle(ctx, job)
					})
				}
				worker.Handle(w, func(ctx context.Context, _ charge) error {
					job, _ := holdfast.JobFrom(ctx)
					attempts <- job.Attempt
					return nil
				}, fail)
				id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: max})
				stop := b.start(w)
				if info := b.until(id, asynq.TaskStateCompleted); info.Retried != max-1 {
					t.Errorf("retried %d", info.Retried)
				}
				if got := <-attempts; got != max {
					t.Errorf("it ran as attempt %d of %d", got, max)
				}
				dead.none(t)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if err := b.inspector.DeleteTask("default", id); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// The control of the test above: what asynq does without the two spare retries.
func TestLaterWinsOverAsynqsWordsForNever(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		for name, word := range map[string]error{"skip": asynq.SkipRetry, "revoke": asynq.RevokeTask} {
			t.Run(name, func(t *testing.T) {
				var dead deaths
				cfg := b.config()
				cfg.OnDead = dead.hear
				w := b.worker(cfg)
				answers := make(chan error, 2)
				answers <- retry.Later(fmt.Errorf("the lock is held: %w", word), time.Second)
				answers <- nil
				worker.Handle(w, func(context.Context, charge) error { return <-answers })
				id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
				stop := b.start(w)
				if info := b.until(id, asynq.TaskStateCompleted); info.Retried != 0 {
					t.Errorf("retried %d", info.Retried)
				}
				dead.none(t)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if err := b.inspector.DeleteTask("default", id); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

func TestAForeignJobOnItsLastAttemptIsCorneredAndItsDeathIsHeard(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, func(context.Context, charge) error { return nil }, contend(1))
		info, err := b.client.Enqueue(asynq.NewTask("payments.charge", []byte(`{"id":"ch_1"}`)), asynq.TaskID("mine"), asynq.MaxRetry(0))
		if err != nil {
			t.Fatal(err)
		}
		b.start(w)
		if got := b.until(info.ID, asynq.TaskStateArchived).LastErr; got != errHeld.Error() {
			t.Errorf("last error %q", got)
		}
		job, err := dead.only(t)
		if !errors.Is(err, errHeld) || !job.Foreign || !job.Cornered || job.ID != "mine" || job.Attempt != 1 || job.MaxAttempts != 1 {
			t.Errorf("%v %+v", err, job)
		}
	})
}

func TestAForeignJobHasAsynqsOwnBudget(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		w := b.worker(cfg)
		seen := make(chan *holdfast.Job, 3)
		worker.Handle(w, func(ctx context.Context, _ charge) error {
			job, _ := holdfast.JobFrom(ctx)
			seen <- job
			return errors.New("declined")
		})
		info, err := b.client.Enqueue(asynq.NewTask("payments.charge", []byte(`{"id":"ch_1"}`)), asynq.MaxRetry(1))
		if err != nil {
			t.Fatal(err)
		}
		b.start(w)
		b.until(info.ID, asynq.TaskStateArchived)
		if first, last := <-seen, <-seen; first.Cornered || !last.Cornered || last.Attempt != 2 || last.MaxAttempts != 2 || len(seen) != 0 {
			t.Errorf("%+v %+v", first, last)
		}
	})
}

func TestAnOperatorsCancelSpendsAnAttemptAndTheBudgetHolds(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		started := make(chan struct{}, 2)
		worker.Handle(w, func(ctx context.Context, _ charge) error {
			started <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		b.start(w)
		<-started
		b.eventually(func() bool { // the subscription may not stand yet; one cancel too many ends a later delivery, too
			if err := b.inspector.CancelProcessing(id); err != nil {
				t.Fatal(err)
			}
			return b.entry(id).State != asynq.TaskStateActive
		}, func() any { return b.entry(id) })
		info := b.until(id, asynq.TaskStateArchived)
		if _, err := dead.only(t); !errors.Is(err, worker.ErrBudget) || info.Retried < 1 || len(started) != 0 {
			t.Errorf("%v, retried %d, %d more starts", err, info.Retried, len(started))
		}
	})
}
