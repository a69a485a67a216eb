package lock

import "errors"

// The reasons for which a job goes back to the retry set uncounted. The queue
// shows their text beside the job.
var (
	// ErrContended: another holds the job's key or one of its resources.
	ErrContended = errors.New("lock: contended")
	// ErrNoQuorum: fewer than a majority of lock nodes answered.
	ErrNoQuorum = errors.New("lock: no quorum of lock nodes")
	// ErrNotRecorded: the handler returned nil, and no majority of lock nodes
	// confirmed that the attempt still owned the job.
	ErrNotRecorded = errors.New("lock: done, but not recorded")
	// ErrLost: the handler failed after its lock was lost.
	ErrLost = errors.New("lock: lost while the handler ran")
	// ErrInterrupted: the worker stopped while the job waited for its lock.
	ErrInterrupted = errors.New("lock: interrupted while waiting")
)

// ErrWaitedTooLong archives a job that was contended for longer than [MaxWait].
var ErrWaitedTooLong = errors.New("lock: contended for longer than MaxWait")

// ErrGivenUp is the failure of a job whose attempt was ended by [Healthy], [Stall]
// or [MaxHold]. It counts, so that a job that stalls each time ends as one that
// fails each time does.
var ErrGivenUp = errors.New("lock: given up on the handler")
