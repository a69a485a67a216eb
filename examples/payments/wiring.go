package main

import (
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

// newLocker connects to the lock nodes. Two seconds are how long a dead worker
// blocks its accounts, and how long a lock node that is new, or has restarted,
// gives no lock. Embedded nodes cannot tell that they restarted: they are ungated.
func newLocker(nodes []string, namespace string, ungated bool, t holdfast.Telemetry) (*redlock.Locker, error) {
	return redlock.New(redlock.Config{
		Nodes: redlock.URLs(nodes...), Namespace: namespace, Ungated: ungated,
		TTL: 2 * time.Second, MaxTTL: 2 * time.Second, NodeTimeout: 200 * time.Millisecond, Telemetry: t,
	})
}

// locked lets one worker at a time run a payment, and one payment at a time
// touch an account. Who finds the account taken waits a moment in place, as its
// payments are short, and then in the retry set.
func locked(locker *redlock.Locker) holdfast.Middleware {
	return lock.Middleware(locker,
		lock.Also(func(c Charge) []string { return []string{"account/" + c.Account} }),
		lock.InPlace(260*time.Millisecond))
}

// newWorker makes a worker that charges payments.
func newWorker(redis asynq.RedisConnOpt, queues map[string]int, concurrency int, store Store, t holdfast.Telemetry, around ...holdfast.Middleware) (*worker.Worker, error) {
	w, err := worker.New(worker.Config{
		Redis: redis, Queues: queues, Concurrency: concurrency,
		Retry: retry.Jitter(retry.Exponential(time.Second, time.Minute), 0.5), Telemetry: t,
	})
	if err != nil {
		return nil, err
	}
	worker.Handle(w, store.Charge, around...)
	return w, nil
}

// newQueue connects a producer. A nil records leaves results out.
func newQueue(redis asynq.RedisConnOpt, records holdfast.Records, t holdfast.Telemetry) (*queue.Client, error) {
	return queue.New(queue.Config{Redis: redis, Records: records, MaxAttempts: 10, Telemetry: t})
}
