package worker_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/worker"
)

func TestAStopTellsHandlersWaitsForThemAndTakesNoNewJob(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Soft = 10 * time.Second // longer than the test: told, not cut off
		w := b.worker(cfg)
		started, told, finish := make(chan string, 2), make(chan struct{}), make(chan struct{})
		worker.Handle(w, func(ctx context.Context, c charge) error {
			started <- c.ID
			<-worker.Stopping(ctx)
			close(told)
			<-finish
			return ctx.Err()
		})
		worker.Handle(w, func(_ context.Context, c chargeV2) error { started <- "new job"; return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		stop := b.start(w)
		<-started
		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()
		<-told
		later := b.enqueue(chargeV2{}, holdfast.Envelope{})
		select {
		case err := <-stopped:
			t.Fatalf("Run returned before its handler: %v", err)
		case <-time.After(5 * cfg.TaskCheckInterval):
		}
		close(finish)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if got := b.entry(id).State; got != asynq.TaskStateCompleted {
			t.Error(got)
		}
		if info := b.entry(later); info.State == asynq.TaskStateCompleted || info.Retried != 0 || len(started) != 0 {
			t.Errorf("a job that came after the stop is %s, retried %d", info.State, info.Retried)
		}
	})
}

func TestAJobCutOffByTheStopIsNotCounted(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Soft, cfg.OnDead = time.Millisecond, (&deaths{}).hear
		w := b.worker(cfg)
		started := make(chan struct{})
		worker.Handle(w, func(ctx context.Context, c charge) error {
			close(started)
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), worker.ErrStopping) {
				t.Error(context.Cause(ctx))
			}
			return errors.New("driver: bad connection") // as some say it
		})
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		stop := b.start(w)
		<-started
		if err := stop(); err != nil {
			t.Error(err)
		}
		// Pending when the drain lasted past its delay: asynq had moved it on.
		if info := b.entry(id); info.State != asynq.TaskStateRetry && info.State != asynq.TaskStatePending || info.Retried != 0 {
			t.Errorf("%s, retried %d, on its only attempt", info.State, info.Retried)
		}
	})
}

func TestAHandlerThatOutlastsTheDrainIsNamedAndKeepsItsJob(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Drain = 30 * time.Millisecond
		w := b.worker(cfg)
		started, finish := make(chan struct{}), make(chan struct{})
		worker.Handle(w, func(context.Context, charge) error { close(started); <-finish; return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-started; cancel() }()
		err := w.Run(ctx)
		drain, ok := errors.AsType[*worker.DrainError](err)
		if !ok || len(drain.Jobs) != 1 || err.Error() != `worker: drain: handlers still run: payments.charge "ch_1"` {
			t.Fatal(err)
		}
		if got := b.entry(id).State; got != asynq.TaskStateActive {
			t.Errorf("%s: another worker could take it", got)
		}
		close(finish) // the process lives on: the job is settled after all
		b.until(id, asynq.TaskStateCompleted)
	})
}

func TestRunSaysThatRedisIsDown(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connects, and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	for name, addr := range map[string]string{"refused": "127.0.0.1:1", "silent": silent.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := worker.New(worker.Config{Redis: asynq.RedisClientOpt{Addr: addr}})
			if err != nil {
				t.Fatal(err)
			}
			worker.Handle(w, func(context.Context, charge) error { return nil })
			began := time.Now()
			err = w.Run(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "worker: run: reach the queue's Redis: ") {
				t.Error(err)
			}
			t.Log(err, time.Since(began))
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			if err := w.Run(t.Context()); err == nil {
				t.Error("a second Run began")
			}
		})
	}
}

func TestAStopBeforeRedisAnsweredIsAStop(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("SIGTERM"))
	soon, cancelSoon := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancelSoon)
	for name, ctx := range map[string]context.Context{"at once": ended, "while it waits": soon} {
		t.Run(name, func(t *testing.T) {
			w, err := worker.New(worker.Config{Redis: asynq.RedisClientOpt{Addr: silent.Addr().String()}})
			if err != nil {
				t.Fatal(err)
			}
			worker.Handle(w, func(context.Context, charge) error { return nil })
			began := time.Now()
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestRunWithoutHandlersIsAMistake(t *testing.T) {
	w, err := worker.New(worker.Config{Redis: asynq.RedisClientOpt{Addr: "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err == nil {
		t.Error("it ran")
	}
}
