package holdfast

import (
	"context"
	"time"
)

// Records reads completion records, which say who finished a job and with what
// result, and takes them back. The lock nodes keep them; the queue asks for them.
type Records interface {
	// Record returns the completion record under key (a [JobKey]), and false
	// when there is none.
	Record(ctx context.Context, key string) (Record, bool, error)

	// Void makes the record under key void for retention, so that its job may run
	// again. It waits, until ctx ends, for whoever holds the key.
	Void(ctx context.Context, key string, retention time.Duration) error
}

// Record says that a job is done. It outlives the job's entry in the queue.
type Record struct {
	Token  int64     // of the tenure that finished the job
	Hash   string    // [PayloadHash] of the payload it ran with
	At     time.Time // when, by a lock node's clock, to the millisecond
	Result []byte    // of [SetResult]; nil when there was none
}

// Hold is the lock that a handler runs under, for the worker that waits for the
// handler's goroutine: only the worker knows whether that still runs, and only
// the lock knows for how long the attempt may still be answered for. It is safe
// for concurrent use.
type Hold interface {
	// Stands returns for how long the lock surely stands by itself, 0 when it is
	// over, and whether it is still extended.
	Stands() (left time.Duration, extended bool)
	// Lapse extends the lock no more.
	Lapse()
	// Leave says that the handler still runs and that nobody waits for it any
	// longer: the lock lapses, and is not released either.
	Leave()
}

type holdKey struct{}

// WithHold returns a context that carries h. The lock calls it.
func WithHold(ctx context.Context, h Hold) context.Context {
	return context.WithValue(ctx, holdKey{}, h)
}

// HoldFrom returns the innermost lock that ctx runs under, if there is one.
func HoldFrom(ctx context.Context) (Hold, bool) {
	h, ok := ctx.Value(holdKey{}).(Hold)
	return h, ok
}
