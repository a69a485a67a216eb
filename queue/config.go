package queue

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// Config says how jobs are enqueued. The zero value of a field is its default.
type Config struct {
	// Redis is the queue's Redis, 6.2 or later. Required. The client opens
	// connections of its own, apart from those of any asynq server. Timeouts
	// left at zero in an asynq.RedisClientOpt are one second here.
	Redis asynq.RedisConnOpt

	// Records is what [Client.Result] and [Client.RunAgain] ask: the locker of
	// package redlock. It may be nil; they answer [ErrNoRecords] then.
	Records holdfast.Records

	// Queue, Timeout, Retention and MaxAttempts hold where an enqueue says
	// nothing else by an option of the same name ([On] for Queue), which also
	// gives their ranges. Defaults: "default", 30 minutes, 24 hours, 25.
	Queue       string
	Timeout     time.Duration
	Retention   time.Duration
	MaxAttempts int

	// MaxPayload is the largest encoded payload, in bytes: 1 KiB to 64 MiB,
	// 256 KiB by default. Larger things belong in a store, their key in the job.
	MaxPayload int

	// MaxOverrun is how long a handler may take to return once its timeout has
	// ended its context: up to 24 hours, one minute by default; -1 is none. It
	// must be that of the workers. Only after it, and thirty seconds, does asynq give up on
	// a running job by itself.
	MaxOverrun time.Duration

	// SendTimeout bounds one call, an enqueue with all its tries: 10 ms to one
	// minute, 3 seconds by default.
	SendTimeout time.Duration

	// Parallel is how many jobs [Client.EnqueueAll] sends at a time: 1 to 256,
	// 16 by default.
	Parallel int

	Logger    *slog.Logger // nil is slog.Default()
	Telemetry holdfast.Telemetry
}

func (c Config) withDefaults() Config {
	c.Queue = cmp.Or(c.Queue, "default")
	c.Timeout = cmp.Or(c.Timeout, 30*time.Minute)
	c.Retention = cmp.Or(c.Retention, 24*time.Hour)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 25)
	c.MaxPayload = cmp.Or(c.MaxPayload, 256<<10)
	c.MaxOverrun = cmp.Or(c.MaxOverrun, time.Minute)
	c.SendTimeout = cmp.Or(c.SendTimeout, 3*time.Second)
	c.Parallel = cmp.Or(c.Parallel, 16)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

func (c Config) check() error {
	return cmp.Or(
		refuse(c.Redis == nil, "Redis", nil, "an asynq.RedisConnOpt"),
		checkQueue(c.Queue),
		checkTimeout(c.Timeout),
		checkRetention(c.Retention),
		checkMaxAttempts(c.MaxAttempts),
		refuse(c.MaxPayload < 1<<10 || c.MaxPayload > 64<<20, "MaxPayload", fmt.Sprintf("%d bytes", c.MaxPayload), "1 KiB to 64 MiB"),
		refuse(c.MaxOverrun < -1 || c.MaxOverrun > 24*time.Hour, "MaxOverrun", c.MaxOverrun, "up to 24h, or -1"),
		refuse(c.SendTimeout < 10*time.Millisecond || c.SendTimeout > time.Minute, "SendTimeout", c.SendTimeout, "10ms to 1m"),
		refuse(c.Parallel < 1 || c.Parallel > 256, "Parallel", c.Parallel, "1 to 256"),
	)
}
