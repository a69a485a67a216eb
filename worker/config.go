package worker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// Config is what [New] builds a worker from. The zero value of each field but
// Redis means its default.
type Config struct {
	// Redis is the queue's. The worker opens clients of its own and closes them.
	// Required.
	Redis asynq.RedisConnOpt

	// Queues to serve, each with its weight, at least 1: with weights 6 and 3,
	// the first is asked first two times out of three. Default: "default", 1.
	Queues map[string]int
	// StrictPriority asks a queue only while those of greater weight are empty.
	StrictPriority bool
	// Concurrency is how many handlers run at once, at least 1. Default:
	// GOMAXPROCS; handlers that mostly wait want more.
	Concurrency int

	// Retry is the delay after a counted failure. Default: [retry.Failure],
	// exponential from 1 s to 10 min, jittered.
	Retry retry.Policy
	// MaxOverrun is how long the worker waits for a handler whose context has
	// ended, other than by the worker's stop, and keeps the job's lock for it. Then
	// the attempt is given up as failed; the lock is extended no more, and runs out
	// instead of being released, as the handler still runs. It must be that of the
	// queue's clients. 1 ms to 24 h; default 1 min. -1 extends no lock past the
	// context's end: the handler has what is left of its TTL, at most 20 s.
	MaxOverrun time.Duration
	// UnknownFor is how long a job without handler is put back before it is
	// archived. 1 s to 30 days; default 1 h.
	UnknownFor time.Duration

	// Drain is how long Run waits for handlers once its context has ended.
	// 10 ms to 1 h; default 30 s.
	Drain time.Duration
	// Soft is how long handlers may go on as if nothing were, from the closing of
	// [Stopping] until their contexts end. 1 ms to Drain; default a third of it.
	Soft time.Duration

	// TaskCheckInterval is how long an idle worker waits, on average, before it
	// asks Redis again. 1 ms to 1 min; default 100 ms.
	TaskCheckInterval time.Duration
	// DelayedTaskCheckInterval is how often jobs whose delay is over are moved to
	// their queue. 10 ms to 1 min; default 1 s.
	DelayedTaskCheckInterval time.Duration

	// OnDead hears of every job that the worker archives, just before it does,
	// with the handler's own error or one of this package's. It may be called
	// more than once for one job, from several goroutines; its context lives for
	// 10 s, also during a stop, and it must end by then. A panic is logged.
	OnDead func(ctx context.Context, job *holdfast.Job, err error)

	// Logger, nil for slog.Default().
	Logger *slog.Logger
	// Telemetry, zero for the global providers.
	Telemetry holdfast.Telemetry
}

func (c Config) withDefaults() Config {
	if len(c.Queues) == 0 {
		c.Queues = map[string]int{"default": 1}
	}
	if c.Retry == nil {
		c.Retry = retry.Failure()
	}
	c.Concurrency = cmp.Or(c.Concurrency, runtime.GOMAXPROCS(0))
	c.MaxOverrun = cmp.Or(c.MaxOverrun, time.Minute)
	c.UnknownFor = cmp.Or(c.UnknownFor, time.Hour)
	c.Drain = cmp.Or(c.Drain, 30*time.Second)
	c.Soft = cmp.Or(c.Soft, c.Drain/3)
	c.TaskCheckInterval = cmp.Or(c.TaskCheckInterval, 100*time.Millisecond)
	c.DelayedTaskCheckInterval = cmp.Or(c.DelayedTaskCheckInterval, time.Second)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// check reports the first field that is out of range. asynq would ignore a blank
// queue name and a weight below 1 without a word.
func (c Config) check() error {
	for name, weight := range c.Queues {
		if err := cmp.Or(
			refuse(strings.TrimSpace(name) == "", "Queues", name, "a name"),
			refuse(weight < 1, fmt.Sprintf("Queues[%q]", name), weight, "a weight of at least 1"),
		); err != nil {
			return err
		}
	}
	return cmp.Or(
		refuse(c.Redis == nil, "Redis", nil, "the queue's Redis, such as asynq.RedisClientOpt"),
		refuse(c.Concurrency < 1, "Concurrency", c.Concurrency, "at least 1"),
		refuse(c.MaxOverrun != -1 && (c.MaxOverrun < time.Millisecond || c.MaxOverrun > 24*time.Hour), "MaxOverrun", c.MaxOverrun, "1ms to 24h, or -1"),
		within("UnknownFor", c.UnknownFor, time.Second, 30*24*time.Hour),
		within("Drain", c.Drain, 10*time.Millisecond, time.Hour),
		within("Soft", c.Soft, time.Millisecond, c.Drain),
		within("TaskCheckInterval", c.TaskCheckInterval, time.Millisecond, time.Minute),
		within("DelayedTaskCheckInterval", c.DelayedTaskCheckInterval, 10*time.Millisecond, time.Minute),
	)
}

func within(field string, d, lo, hi time.Duration) error {
	return refuse(d < lo || d > hi, field, d, fmt.Sprintf("%s to %s", lo, hi))
}

func refuse(bad bool, field string, value any, want string) error {
	if !bad {
		return nil // the interface, so that cmp.Or sees no error
	}
	return &holdfast.FieldError{Room: "worker", Field: field, Value: value, Want: want}
}
