package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
)

// Client enqueues jobs. It is safe for concurrent use; one per process is
// enough.
type Client struct {
	config   Config
	redis    redis.UniversalClient
	producer *asynq.Client
	signals  signals
}

// New returns a client. It does not connect: the first enqueue does. Errors: a
// [holdfast.FieldError]. The caller closes the client.
func New(config Config) (*Client, error) {
	config = config.withDefaults()
	if err := config.check(); err != nil {
		return nil, err
	}
	rdb, err := connect(config.Redis)
	if err != nil {
		return nil, err
	}
	return &Client{
		config:   config,
		redis:    rdb,
		producer: asynq.NewClientFromRedisClient(rdb),
		signals:  newSignals(config.Telemetry),
	}, nil
}

// Close closes the client's connections. An enqueue under way fails.
func (c *Client) Close() error {
	if err := c.redis.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("queue: close: %w", err)
	}
	return nil
}

// Result returns the record of a finished job, with the result that its handler
// stored, and false while there is none: it is not done, or its record has
// ended. Errors: [ErrNoRecords], a [holdfast.FieldError], or what Records says.
func (c *Client) Result(ctx context.Context, kind, id string) (holdfast.Record, bool, error) {
	if c.config.Records == nil {
		return holdfast.Record{}, false, ErrNoRecords
	}
	if err := checkName(holdfast.CheckKind(kind)); err != nil {
		return holdfast.Record{}, false, err
	}
	if err := checkName(holdfast.CheckJobID(id)); err != nil {
		return holdfast.Record{}, false, err
	}
	key := holdfast.JobKey(kind, id)
	record, found, err := c.config.Records.Record(ctx, key)
	if err != nil {
		return holdfast.Record{}, false, fmt.Errorf("queue: read record %q: %w", key, err)
	}
	return record, found, nil
}
