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
