package worker_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

var errTaken = errors.New("the lock is another's")

// stolen stands for a lock whose tenure does not last, on the first run.
func stolen(runs *int) holdfast.Middleware {
	return func(_ holdfast.Route, next holdfast.Handler) holdfast.Handler {
		return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
			if *runs++; *runs == 1 {
				job.Disown(errTaken)
			}
			return next.Handle(ctx, job)
		})
	}
}

// Whatever stands around the lock and makes of its answer.
func TestADisownedAttemptIsPutBackWhateverTheChainReturns(t *testing.T) {
	for name, answer := range map[string]func() error{
		"nil":     func() error { return nil },
		"error":   func() error { return errors.New("declined") },
		"never":   func() error { return retry.Never(errors.New("declined")) },
		"skip":    func() error { return asynq.SkipRetry },
		"revoke":  func() error { return asynq.RevokeTask },
		"panic":   func() error { panic("boom") },
		"Goexit":  func() error { runtime.Goexit(); return nil },
		"control": nil,
	} {
		t.Run(name, func(t *testing.T) {
			inNoTime(t, func(t *testing.T, b *bundle) {
				var dead deaths
				cfg := b.config()
				cfg.OnDead = dead.hear
				w := b.worker(cfg)
				runs := 0
				w.Use(func(_ holdfast.Route, next holdfast.Handler) holdfast.Handler {
					return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
						err := next.Handle(ctx, job)
						if runs == 1 && answer != nil {
							return answer()
						}
						return err
					})
				})
				lock := stolen(&runs)
				if answer == nil { // nothing is stolen: the same answer ends the job
					answer, lock = func() error { return retry.Never(errors.New("declined")) }, func(_ holdfast.Route, next holdfast.Handler) holdfast.Handler {
						return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error { runs++; return next.Handle(ctx, job) })
					}
				}
				worker.Handle(w, func(context.Context, charge) error { return nil }, lock)
				id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
				b.start(w)
				if name == "control" {
					b.until(id, asynq.TaskStateArchived)
					return
				}
				info := b.until(id, asynq.TaskStateCompleted)
				if info.Retried != 0 || runs != 2 {
					t.Errorf("retried %d, %d runs", info.Retried, runs)
				}
				dead.none(t)
			})
		})
	}
}

// asynq archives a job of another producer on its last attempt for any error, and
// deletes its entry for none: while a newer attempt runs, neither may be said.
func TestACorneredAttemptThatDoesNotOwnItsJobSaysNothingWhileTheNewerOneRuns(t *testing.T) {
	for name, disowned := range map[string]bool{"disowned": true, "control": false} {
		t.Run(name, func(t *testing.T) {
			inNoTime(t, func(t *testing.T, b *bundle) {
				var dead deaths
				started, first, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
				serve := func(finish chan struct{}, lost bool) {
					cfg := b.config()
					cfg.OnDead = dead.hear
					w := b.worker(cfg)
					worker.Handle(w, func(ctx context.Context, _ charge) error {
						started <- struct{}{}
						<-finish
						if job, _ := holdfast.JobFrom(ctx); lost {
							job.Disown(errTaken)
						}
						return nil
					})
					b.start(w)
					<-started
				}
				info, err := b.client.Enqueue(asynq.NewTask("payments.charge", []byte(`{}`)), asynq.TaskID("1"), asynq.MaxRetry(0), asynq.Retention(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				serve(first, disowned)
				client := b.redis.MakeRedisClient().(redis.UniversalClient)
				defer client.Close()
				b.away(client, info.ID)
				b.back(client, info.ID)
				serve(second, false)
				close(first)
				<-time.After(time.Minute)
				if active := b.entry(info.ID).State == asynq.TaskStateActive; active != disowned {
					t.Errorf("the newer attempt's entry is active: %v", active)
				}
				close(second)
				b.until(info.ID, asynq.TaskStateCompleted)
				dead.none(t)
			})
		})
	}
}

// W2, the control: asynq alone takes a success after the timeout for a failure.
func TestASuccessAfterTheTimeoutIsAFailureOnPlainAsynq(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		server := asynq.NewServer(b.redis, asynq.Config{LogLevel: asynq.FatalLevel})
		if err := server.Start(asynq.HandlerFunc(func(ctx context.Context, _ *asynq.Task) error { <-ctx.Done(); return nil })); err != nil {
			t.Fatal(err)
		}
		defer server.Shutdown()
		info, err := b.client.Enqueue(asynq.NewTask("payments.charge", nil), asynq.MaxRetry(0), asynq.Timeout(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if info := b.until(info.ID, asynq.TaskStateArchived); info.LastErr != context.DeadlineExceeded.Error() {
			t.Error(info.LastErr)
		}
	})
}

func TestAHandlerThatIsGivenUpIsReported(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Retry = retry.Constant(time.Hour)
		reader, spans := sdkmetric.NewManualReader(), tracetest.NewInMemoryExporter()
		cfg.Telemetry.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
		cfg.Telemetry.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
		w := b.worker(cfg)
		finish := make(chan struct{})
		worker.Handle(w, func(context.Context, charge) error { <-finish; return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 2, Timeout: time.Minute})
		b.start(w)
		b.until(id, asynq.TaskStateRetry)
		if n := sum(t, reader, "holdfast.job.overruns"); n != 1 {
			t.Errorf("%d overruns counted", n)
		}
		var events []string
		for _, span := range spans.GetSpans() {
			for _, e := range span.Events {
				events = append(events, e.Name)
			}
		}
		if len(events) != 1 || events[0] != "overrun" {
			t.Errorf("events %q", events)
		}
		close(finish)
	})
}
