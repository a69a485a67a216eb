package queue

import (
	"errors"
	"fmt"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// Client enqueues jobs, and answers for those that are done. It is safe for concurrent use; one per process is
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
