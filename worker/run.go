package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// startTime is how long Redis may take to answer the first time.
const startTime = 4 * time.Second

// Run takes jobs until ctx ends, then drains: no new job is taken, [Stopping]
// closes at once, the handlers' contexts end after Config.Soft, and Run returns
// nil when the last handler did. So it does when ctx ends before Redis answered.
//
// When handlers still run after Config.Drain, Run returns a [*DrainError] that
// names them. It does not hand their jobs to other workers, as they would run
// twice at once; end the process, or let it live and they are settled as they
// return. Other errors: Redis that does not answer at the start, within 5 s; no
// handler; a second call.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.start(); err != nil {
		return err
	}
	client, err := connect(ctx, w.cfg.Redis)
	if err != nil && errors.Is(err, context.Cause(ctx)) {
		return nil // nothing ran, so nothing is left to drain
	}
	if err != nil {
		return err
	}
	// The inspector has a client of its own, so that what it waits for is
	// nothing that the server waits for.
	inspecting := w.cfg.Redis.MakeRedisClient().(redis.UniversalClient)
	w.inspector = asynq.NewInspectorFromRedisClient(inspecting)

	client.AddHook(newAcks(w.cfg))
	server := asynq.NewServerFromRedisClient(client, w.asynqConfig())
	if err := server.Start(asynq.HandlerFunc(w.deliver)); err != nil {
		return errors.Join(fmt.Errorf("worker: run: %w", err), client.Close(), inspecting.Close())
	}
	<-ctx.Done()

	close(w.stopping)
	soft := time.AfterFunc(w.cfg.Soft, w.running.end)
	defer soft.Stop()
	stopped := make(chan error, 1)
	go func() { // outlives Run only when handlers do
		server.Stop()
		w.running.wait()
		server.Shutdown()
		stopped <- errors.Join(client.Close(), inspecting.Close())
	}()
	drain := time.NewTimer(w.cfg.Drain)
	defer drain.Stop()
	select {
	case err := <-stopped:
		return err
	case <-drain.C:
		w.running.end()
		return &DrainError{Jobs: w.running.list()}
	}
}

func (w *Worker) start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return errors.New("worker: run: Run was called before")
	}
	if len(w.handlers) == 0 {
		return errors.New("worker: run: no handler is registered")
	}
	w.started = true
	return nil
}

func (w *Worker) asynqConfig() asynq.Config {
	return asynq.Config{
		Concurrency:              w.cfg.Concurrency,
		Queues:                   w.cfg.Queues,
		StrictPriority:           w.cfg.StrictPriority,
		TaskCheckInterval:        w.cfg.TaskCheckInterval,
		DelayedTaskCheckInterval: w.cfg.DelayedTaskCheckInterval,
		RetryDelayFunc:           w.retryDelay,
		IsFailure:                isFailure,
		ErrorHandler:             asynq.ErrorHandlerFunc(w.failed),
		Logger:                   asynqLogger{w.cfg.Logger},
		LogLevel:                 asynq.WarnLevel,
		// After this asynq hands running jobs to the next worker. Never: Run
		// waits for them, or says which.
		ShutdownTimeout: math.MaxInt64,
	}
}

// connect opens a client and asks Redis for a sign of life. The client's own
// timeouts and retries could take half a minute; closing it cuts them short.
func connect(ctx context.Context, opt asynq.RedisConnOpt) (redis.UniversalClient, error) {
	client, ok := opt.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, fmt.Errorf("worker: run: %T makes no redis.UniversalClient", opt)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("no answer within %s", startTime))
	defer cancel()
	answer := make(chan error, 1)
	var ping sync.WaitGroup
	ping.Go(func() { answer <- client.Ping(ctx).Err() })
	var err error
	select {
	case err = <-answer:
		if err == nil {
			return client, nil
		}
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // whatever the client made of it
		err = context.Cause(ctx)
	}
	err = errors.Join(fmt.Errorf("worker: run: reach the queue's Redis: %w", err), client.Close())
	ping.Wait()
	return nil, err
}
