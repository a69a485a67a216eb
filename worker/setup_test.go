package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

// bundle is a queue Redis of the test's own and what a producer and an operator
// have of it.
type bundle struct {
	t         *testing.T
	pace      time.Duration // of every poll: a bubble's minutes are many
	redis     asynq.RedisConnOpt
	client    *asynq.Client
	inspector *asynq.Inspector
}

func newBundle(t *testing.T, opt asynq.RedisConnOpt) *bundle {
	b := &bundle{t: t, pace: 10 * time.Millisecond, redis: opt, client: asynq.NewClient(opt), inspector: asynq.NewInspector(opt)}
	t.Cleanup(func() {
		if err := errors.Join(b.client.Close(), b.inspector.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// onEach runs test on the embedded Redis and on a real one.
func onEach(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, newBundle(t, embeddedRedis(t)))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, newBundle(t, realRedis(t)))
	})
}

// inNoTime runs test on an embedded Redis without a socket, in a bubble whose
// clock jumps: hours of retries take a moment.
func inNoTime(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		t.Cleanup(func() {
			m.Close()
			<-time.After(time.Minute) // for goroutines of asynq and go-redis that are on their way out
		})
		b := newBundle(t, pipe{m})
		b.pace = 2 * time.Second
		test(t, b)
	})
}

// pipe reaches a miniredis without a socket.
type pipe struct{ *miniredis.Miniredis }

func (p pipe) MakeRedisClient() any {
	return redis.NewClient(&redis.Options{
		Addr:   "127.0.0.1:0", // a number: go-redis looks names up, and the resolver is no part of the bubble
		Dialer: func(context.Context, string, string) (net.Conn, error) { return p.Dial() },
	})
}

// config is a worker's that does not dawdle.
func (b *bundle) config() worker.Config {
	return worker.Config{
		Redis:                    b.redis,
		Concurrency:              4,
		Retry:                    retry.Constant(0),
		TaskCheckInterval:        b.pace,
		DelayedTaskCheckInterval: b.pace,
		Logger:                   slog.New(slog.DiscardHandler),
	}
}

func (b *bundle) worker(cfg worker.Config) *worker.Worker {
	b.t.Helper()
	w, err := worker.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

// start runs w until the returned function, or the end of the test, stops it;
// the function returns what Run did.
func (b *bundle) start(w *worker.Worker) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- w.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-result
	})
	b.t.Cleanup(func() {
		if err := stop(); err != nil {
			b.t.Errorf("Run: %v", err)
		}
	})
	return stop
}

// enqueue does what the queue does, with one attempt unless e says otherwise,
// and returns asynq's task ID.
func (b *bundle) enqueue(args holdfast.Args, e holdfast.Envelope) string {
	b.t.Helper()
	payload, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.enqueueRaw(args.Kind(), payload, e)
}

func (b *bundle) enqueueRaw(kind string, payload []byte, e holdfast.Envelope) string {
	b.t.Helper()
	e.JobID, e.EnqueuedAt, e.MaxAttempts = "ch_1", time.Now(), max(e.MaxAttempts, 1)
	headers := make(map[string]string)
	e.Write(headers)
	info, err := b.client.Enqueue(asynq.NewTaskWithHeaders(kind, payload, headers),
		asynq.TaskID(kind+":"+e.JobID),
		asynq.MaxRetry(e.MaxAttempts+2),
		asynq.Timeout(e.Timeout+time.Hour),
		asynq.Retention(time.Hour))
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// entry is the queue's entry of a job.
func (b *bundle) entry(id string) *asynq.TaskInfo {
	b.t.Helper()
	info, err := b.inspector.GetTaskInfo("default", id)
	if err != nil {
		b.t.Fatal(err)
	}
	return info
}

// until waits for the job to be in a state.
func (b *bundle) until(id string, state asynq.TaskState) *asynq.TaskInfo {
	b.t.Helper()
	var info *asynq.TaskInfo
	b.eventually(func() bool {
		info = b.entry(id)
		return info.State == state
	}, func() any { return []any{id, info.State, info.LastErr} })
	return info
}

func (b *bundle) eventually(ok func() bool, otherwise func() any) {
	b.t.Helper()
	tick, deadline := time.NewTicker(b.pace), time.NewTimer(1500*b.pace)
	defer tick.Stop()
	defer deadline.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			b.t.Fatalf("it never happened: %v", otherwise())
		}
	}
}

// deaths collects what OnDead hears.
type deaths struct {
	mu   sync.Mutex
	jobs []*holdfast.Job
	errs []error
}

func (d *deaths) hear(_ context.Context, job *holdfast.Job, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs, d.errs = append(d.jobs, job), append(d.errs, err)
}

// only returns the one death there was.
func (d *deaths) only(t *testing.T) (*holdfast.Job, error) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.errs) != 1 {
		t.Fatalf("OnDead was called %d times, want once: %v", len(d.errs), d.errs)
	}
	return d.jobs[0], d.errs[0]
}

func (d *deaths) none(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.errs) != 0 {
		t.Fatalf("OnDead was called: %v", d.errs)
	}
}

type charge struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount_cents"`
}

func (charge) Kind() string    { return "payments.charge" }
func (c charge) JobID() string { return c.ID }

type chargeV2 struct{ charge }

func (chargeV2) Kind() string { return "payments.charge_v2" }
