package worker_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

func TestAHandlerSeesItsExactKindOnly(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		w := b.worker(b.config())
		seen := make(chan string, 2)
		worker.Handle(w, func(_ context.Context, c charge) error { seen <- "charge " + c.ID; return nil })
		worker.Handle(w, func(_ context.Context, c *chargeV2) error { seen <- "charge_v2 " + c.ID; return nil })
		b.enqueue(chargeV2{charge{ID: "ch_1"}}, holdfast.Envelope{})
		b.start(w)
		if got := <-seen; got != "charge_v2 ch_1" {
			t.Error(got)
		}
		b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		if got := <-seen; got != "charge ch_1" {
			t.Error(got)
		}
	})
}

func TestTheJobIsWhatTheEnvelopeSays(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		w := b.worker(b.config())
		seen := make(chan *holdfast.Job, 1)
		worker.Handle(w, func(ctx context.Context, c charge) error {
			job, _ := holdfast.JobFrom(ctx)
			seen <- job
			return holdfast.SetResult(ctx, "receipt 7")
		})
		deadline := time.Now().Add(time.Hour).Truncate(time.Second)
		id := b.enqueue(charge{ID: "ch_1", Amount: 500}, holdfast.Envelope{MaxAttempts: 3, Timeout: time.Minute, Deadline: deadline})
		b.start(w)
		job := <-seen
		if job.Kind != "payments.charge" || job.ID != "ch_1" || job.Queue != "default" || job.Foreign || job.Cornered {
			t.Errorf("%+v", job)
		}
		if job.Attempt != 1 || job.MaxAttempts != 3 || job.Timeout != time.Minute || !job.Deadline.Equal(deadline) || job.EnqueuedAt.IsZero() {
			t.Errorf("%+v", job)
		}
		if job.Args != (charge{ID: "ch_1", Amount: 500}) || job.Hash != holdfast.PayloadHash(job.Payload) {
			t.Errorf("%+v", job)
		}
		if got := string(b.until(id, asynq.TaskStateCompleted).Result); got != `"receipt 7"` {
			t.Errorf("the result in the queue is %s", got)
		}
	})
}

func TestAFailureIsCountedAndTheLastOneIsArchived(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		declined := errors.New("card declined \xff")
		worker.Handle(w, func(context.Context, charge) error { return declined })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 2})
		b.start(w)
		info := b.until(id, asynq.TaskStateArchived)
		if info.Retried != 1 || info.LastErr != "card declined \uFFFD" {
			t.Errorf("retried %d, last error %q", info.Retried, info.LastErr)
		}
		if job, err := dead.only(t); !errors.Is(err, declined) || job.ID != "ch_1" || job.Attempt != 2 {
			t.Error(job, err)
		}
	})
}

func TestAPanicIsAFailureWithItsStack(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, explode)
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		b.start(w)
		if got := b.until(id, asynq.TaskStateArchived).LastErr; got != "worker: panic: boom" {
			t.Errorf("last error %q", got)
		}
		_, err := dead.only(t)
		if p, ok := errors.AsType[*worker.PanicError](err); !ok || p.Value != "boom" || !strings.Contains(string(p.Stack), "explode") {
			t.Error(err)
		}
	})
}

func TestAPanicInAMiddlewareIsAFailureToo(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		w := b.worker(b.config())
		w.Use(func(holdfast.Route, holdfast.Handler) holdfast.Handler {
			return holdfast.HandlerFunc(func(context.Context, *holdfast.Job) error { panic("bang") })
		})
		worker.Handle(w, func(context.Context, charge) error { return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		b.start(w)
		if got := b.until(id, asynq.TaskStateArchived).LastErr; got != "worker: panic: bang" {
			t.Errorf("last error %q", got)
		}
	})
}

func explode(context.Context, charge) error { panic("boom") }

func TestGoexitIsAFailureWhereverItIsCalled(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		exit := func(holdfast.Route, holdfast.Handler) holdfast.Handler {
			return holdfast.HandlerFunc(func(context.Context, *holdfast.Job) error { runtime.Goexit(); return nil })
		}
		done := func(context.Context, charge) error { return nil }
		for name, register := range map[string]func(w *worker.Worker){
			"handler": func(w *worker.Worker) {
				worker.Handle(w, func(context.Context, charge) error { runtime.Goexit(); return nil })
			},
			"middleware":           func(w *worker.Worker) { worker.Handle(w, done, exit) },
			"outermost middleware": func(w *worker.Worker) { w.Use(exit); worker.Handle(w, done) },
		} {
			t.Run(name, func(t *testing.T) {
				var dead deaths
				cfg := b.config()
				cfg.OnDead = dead.hear
				w := b.worker(cfg)
				register(w)
				id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
				stop := b.start(w)
				b.until(id, asynq.TaskStateArchived)
				if _, err := dead.only(t); !errors.Is(err, worker.ErrGoexit) {
					t.Error(err)
				}
				if err := stop(); err != nil { // nothing is left that the drain would wait for
					t.Error(err)
				}
				if err := b.inspector.DeleteTask("default", id); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

func TestAnUndecodablePayloadIsArchivedAtOnceAndNotQuoted(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, func(context.Context, charge) error { t.Error("the handler ran"); return nil })
		id := b.enqueueRaw("payments.charge", []byte(`{"id":4242424242424242}`), holdfast.Envelope{MaxAttempts: 25})
		b.start(w)
		info := b.until(id, asynq.TaskStateArchived)
		const want = `worker: decode payload of payments.charge into worker_test.charge: field "id" wants string, found number at offset 22`
		if info.Retried != 0 || info.LastErr != want {
			t.Errorf("retried %d, last error %q", info.Retried, info.LastErr)
		}
		if _, err := dead.only(t); !errors.As(err, new(*worker.DecodeError)) {
			t.Error(err)
		}
	})
}

func TestHeadersThatDoNotParseAreArchived(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var dead deaths
		cfg := b.config()
		cfg.OnDead = dead.hear
		w := b.worker(cfg)
		worker.Handle(w, func(context.Context, charge) error { t.Error("the handler ran"); return nil })
		headers := map[string]string{holdfast.HeaderJobID: "ch_1", holdfast.HeaderEnqueuedAt: "yesterday"}
		info, err := b.client.Enqueue(asynq.NewTaskWithHeaders("payments.charge", []byte(`{}`), headers))
		if err != nil {
			t.Fatal(err)
		}
		b.start(w)
		if got := b.until(info.ID, asynq.TaskStateArchived).LastErr; !strings.Contains(got, holdfast.HeaderEnqueuedAt) {
			t.Errorf("last error %q", got)
		}
		if _, err := dead.only(t); !errors.Is(err, worker.ErrHeaders) {
			t.Error(err)
		}
	})
}

func TestNeverIsArchivedAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		for name, err := range map[string]error{"never": retry.Never(errors.New("no such account")), "skip": asynq.SkipRetry, "revoke": asynq.RevokeTask} {
			t.Run(name, func(t *testing.T) {
				var dead deaths
				cfg := b.config()
				cfg.OnDead = func(ctx context.Context, job *holdfast.Job, err error) {
					dead.hear(ctx, job, err)
					panic("OnDead itself")
				}
				w := b.worker(cfg)
				worker.Handle(w, func(context.Context, charge) error { return err })
				id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 25})
				stop := b.start(w)
				if info := b.until(id, asynq.TaskStateArchived); info.LastErr != err.Error() {
					t.Errorf("last error %q", info.LastErr)
				}
				if _, got := dead.only(t); !errors.Is(got, err) {
					t.Error(got)
				}
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
