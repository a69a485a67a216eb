package holdfast

import (
	"context"
	"time"
)

// Records reads completion records: who finished a job, and with what result.
// The lock nodes keep them; the queue asks for them.
type Records interface {
	// Record returns the completion record under key (a [JobKey]), and false
	// when there is none.
	Record(ctx context.Context, key string) (Record, bool, error)
}

// Record says that a job is done. It outlives the job's entry in the queue.
type Record struct {
	Token  int64     // of the tenure that finished the job
	Hash   string    // [PayloadHash] of the payload it ran with
	At     time.Time // when, by a lock node's clock, to the millisecond
	Result []byte    // of [SetResult]; nil when there was none
}
