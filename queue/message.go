package queue

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// message is one call of Enqueue, checked and encoded.
type message struct {
	settings
	kind     string
	payload  []byte
	envelope holdfast.Envelope
	start    time.Time
}

func (m *message) taskID() string { return taskID(m.kind, m.envelope.JobID) }

func taskID(kind, id string) string { return kind + ":" + id }

func (c *Client) message(args holdfast.Args, options []Option) (*message, error) {
	if v := reflect.ValueOf(args); args == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, refuse(true, "Args", fmt.Sprintf("nil of type %T", args), "a job")
	}
	now := time.Now()
	s, err := c.config.settings(options)
	if err != nil {
		return nil, err
	}
	if err := s.check(now); err != nil {
		return nil, err
	}
	kind, id := args.Kind(), args.JobID()
	if err := checkName(holdfast.CheckKind(kind)); err != nil {
		return nil, err
	}
	if id == "" {
		id = uuid.Must(uuid.NewV7()).String()
	}
	if err := checkName(holdfast.CheckJobID(id)); err != nil {
		return nil, err
	}
	payload, err := c.encode(args)
	if err != nil {
		return nil, err
	}
	m := &message{settings: s, kind: kind, payload: payload, start: s.start(now)}
	m.envelope = holdfast.Envelope{
		JobID:       id,
		Nonce:       uuid.NewString(),
		Hash:        holdfast.PayloadHash(payload),
		EnqueuedAt:  now,
		Timeout:     s.timeout,
		MaxAttempts: s.maxAttempts,
	}
	if s.deadline != nil {
		m.envelope.Deadline = *s.deadline
	}
	return m, nil
}

// encode keeps the words of encoding/json out of its message: they may quote the
// value. They are the error's cause.
func (c *Client) encode(args holdfast.Args) ([]byte, error) {
	payload, err := json.Marshal(args)
	if err != nil {
		return nil, &holdfast.FieldError{Room: "queue", Field: "Args", Value: fmt.Sprintf("%T", args), Want: "a value that encoding/json can marshal", Err: err}
	}
	if len(payload) > c.config.MaxPayload {
		return nil, refuse(true, "Args", fmt.Sprintf("%T of %d bytes", args, len(payload)), fmt.Sprintf("at most %d bytes (Config.MaxPayload)", c.config.MaxPayload))
	}
	return payload, nil
}

// Asynq's own limits only back up those of the worker, so they lie behind them:
// it must not give up first on a running job, nor count the last attempt before
// the worker did. It gets no deadline: it would requeue a running handler.
//
// Its clock starts with the delivery, the handler's only with the handler, and it
// ends with the answer. So behind the timeout and MaxOverrun there is room for
// the wait for a lock in place, up to 5 s; for the settling of that lock, up to
// its MaxTTL, 10 s by default; and for as much again.
const (
	behindTimeout  = 30 * time.Second
	behindAttempts = 2
)

func (m *message) task(headers map[string]string, maxOverrun time.Duration) *asynq.Task {
	return asynq.NewTaskWithHeaders(m.kind, m.payload, headers,
		asynq.TaskID(m.taskID()),
		asynq.Queue(m.queue),
		asynq.Timeout(wholeSeconds(m.timeout+max(maxOverrun, 0)+behindTimeout)),
		asynq.MaxRetry(m.maxAttempts+behindAttempts),
		asynq.Retention(wholeSeconds(m.retention)),
		asynq.ProcessAt(m.start),
	)
}
