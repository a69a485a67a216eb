package holdfast

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// MaxResult is the most that [SetResult] stores, in bytes.
const MaxResult = 64 << 10

// Job is one delivery of a job to a handler chain. The worker fills it;
// middlewares and handlers read it. Its methods are safe for concurrent use.
type Job struct {
	Kind  string
	ID    string // unique within Kind; see [Args]
	Queue string

	Payload []byte // as it was enqueued; never change it
	Hash    string // [PayloadHash] of Payload
	Args    any    // Payload decoded into the handler's own type; nil under an untyped handler

	Attempt     int           // 1 for the first; contention, shutdown and crashes do not count
	MaxAttempts int           // a counted failure at this attempt is the last
	EnqueuedAt  time.Time     // zero when the producer did not say
	Timeout     time.Duration // of one attempt; 0 is none
	Deadline    time.Time     // of the job; zero is none

	// Foreign says that another producer enqueued it: ID is only a name, that
	// may come again for new work, and no idempotency key.
	Foreign bool
	// Cornered says that the queue would archive the job for any error at all,
	// an uncounted one too: who can wait should wait in place.
	Cornered bool

	mu       sync.Mutex
	result   []byte
	disowned error
}

// Key is the job's lock and record key, as [JobKey].
func (j *Job) Key() string { return JobKey(j.Kind, j.ID) }

// Result is what the handler stored with [SetResult], or what a middleware put
// there for a duplicate; nil when nothing is.
func (j *Job) Result() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.result
}

// StoreResult sets the result as it is. It returns a [FieldError] over
// [MaxResult] bytes, and changes nothing then.
func (j *Job) StoreResult(raw []byte) error {
	if len(raw) > MaxResult {
		return &FieldError{Field: "result", Value: fmt.Sprintf("%d bytes", len(raw)), Want: "at most 64 KiB"}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.result = raw
	return nil
}

// Disown says why the job may be another attempt's by now. A lock calls it when
// its tenure did not last: the worker then puts the job back, uncounted, whatever
// the handler chain returns, panics and outer middlewares included. The first
// reason stays.
func (j *Job) Disown(why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.disowned == nil {
		j.disowned = why
	}
}

// Disowned returns the reason given to [Job.Disown], or nil.
func (j *Job) Disowned() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.disowned
}

// PayloadHash tells one payload from another, in 32 hexadecimal digits: the
// first half of its SHA-256.
func PayloadHash(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:16])
}

type jobKey struct{}

// WithJob returns a context that carries job. The worker calls it.
func WithJob(ctx context.Context, job *Job) context.Context {
	return context.WithValue(ctx, jobKey{}, job)
}

// JobFrom returns the job that ctx carries, inside a handler.
func JobFrom(ctx context.Context) (*Job, bool) {
	job, ok := ctx.Value(jobKey{}).(*Job)
	return job, ok
}

// ErrNoJob is the answer of [SetResult] outside a handler.
var ErrNoJob = errors.New("holdfast: this context carries no job")

// SetResult stores v as the result of the job that ctx carries: a []byte as it
// is, anything else as JSON. It is recorded when the handler returns nil, and a
// later duplicate is answered with it. The last call wins. Errors: [ErrNoJob], a
// value that does not marshal, and a [FieldError] over [MaxResult] bytes; then the
// result is unchanged.
func SetResult(ctx context.Context, v any) error {
	job, ok := JobFrom(ctx)
	if !ok {
		return ErrNoJob
	}
	if raw, ok := v.([]byte); ok {
		return job.StoreResult(bytes.Clone(raw))
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("holdfast: marshal result: %w", err)
	}
	return job.StoreResult(raw)
}
