package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// Enqueue puts a job on its queue and says where it is.
//
// Errors: a [holdfast.FieldError] for a job or option that is not accepted, and
// then nothing was sent; a [DuplicateError] or [MismatchError] when the queue
// has this job ID already; the cause of ctx when that ended; otherwise what
// Redis said. After the last two the job may or may not be queued: the same job
// ID may be enqueued again.
func (c *Client) Enqueue(ctx context.Context, args holdfast.Args, options ...Option) (Info, error) {
	m, err := c.message(args, options)
	if err != nil {
		return Info{}, err
	}
	ctx, end := c.signals.start(ctx, m)
	info, err := c.send(ctx, m)
	end(err)
	return info, err
}

// tries bounds how often an entry may be in the way of ours and gone when we
// look at it. Each needs a job that finishes within one round trip.
const tries = 5

func (c *Client) send(ctx context.Context, m *message) (Info, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()

	headers := map[string]string{}
	m.envelope.Write(headers)
	c.config.Telemetry.Inject(ctx, headers)
	task := m.task(headers, c.config.MaxOverrun)

	producer := c.producer
	for range tries {
		if ctx.Err() != nil {
			return Info{}, m.failed(ctx, nil)
		}
		t, err := producer.EnqueueContext(ctx, task)
		if err == nil {
			return m.info(t), nil
		}
		if !errors.Is(err, asynq.ErrTaskIDConflict) {
			return Info{}, m.failed(ctx, err)
		}
		t, err = c.inspect(ctx, m.queue, m.taskID())
		if err == nil {
			return c.settle(ctx, m, t)
		}
		if !errors.Is(err, asynq.ErrTaskNotFound) && !errors.Is(err, asynq.ErrQueueNotFound) {
			return Info{}, m.failed(ctx, err)
		}
		// An asynq client announces a queue once. If it was deleted since, the
		// entry is there and the queue is unknown, until a new client announces
		// it again.
		producer = asynq.NewClientFromRedisClient(c.redis)
	}
	return Info{}, m.failed(ctx, fmt.Errorf("the entry under this ID came and went %d times", tries))
}

// bounded is ctx for one call of the client.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	slow := fmt.Errorf("no answer within %v: %w", c.config.SendTimeout, context.DeadlineExceeded)
	return context.WithTimeoutCause(ctx, c.config.SendTimeout, slow)
}

// settle says what the entry means that was there before ours.
func (c *Client) settle(ctx context.Context, m *message, t *asynq.TaskInfo) (Info, error) {
	there := m.info(t)
	switch {
	case t.Headers[holdfast.HeaderNonce] == m.envelope.Nonce:
		c.config.Logger.InfoContext(ctx, "a lost reply: the job was queued by an earlier try",
			"job_id", there.ID, "kind", there.Kind, "queue", there.Queue)
		return there, nil
	case t.Type != m.kind || holdfast.PayloadHash(t.Payload) != m.envelope.Hash:
		return Info{}, &MismatchError{there}
	}
	return Info{}, &DuplicateError{there}
}

func (m *message) failed(ctx context.Context, err error) error {
	return failed(ctx, fmt.Sprintf("enqueue %q on %q", m.taskID(), m.queue), err)
}

// failed puts the cause of an ended context in front: asynq passes on its text
// only.
func failed(ctx context.Context, what string, err error) error {
	if err != nil {
		err = plain{err}
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // the connection's own timer was first, by a hair
	}
	cause := context.Cause(ctx)
	switch {
	case cause == nil:
		return fmt.Errorf("queue: %s: %w", what, err)
	case err == nil:
		return fmt.Errorf("queue: %s: %w", what, cause)
	}
	return fmt.Errorf("queue: %s: %w (%w)", what, cause, err)
}
