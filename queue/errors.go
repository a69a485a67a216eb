package queue

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdfastjobs/holdfast"
)

var (
	// ErrDuplicate says that the queue has this job already. The error is a
	// [DuplicateError].
	ErrDuplicate = errors.New("queue: this job is already there")
	// ErrNotDone says that a job waits, runs or was archived. The error is a
	// [NotDoneError].
	ErrNotDone = errors.New("queue: this job is not done")
	// ErrUnknownJob says that there is no entry and no record of a job: it never
	// was, or it is longer ago than both are kept.
	ErrUnknownJob = errors.New("queue: unknown job")
	// ErrRecordEnded says that a job is done and its record is gone: its retention
	// is over, it was made void, or the job ran without the lock middleware.
	ErrRecordEnded = errors.New("queue: done, without a record any more")
	// ErrNoEntry is the answer of [Client.RunAgain] when no queue keeps the job's
	// payload. Its record is void now: enqueue the job again.
	ErrNoEntry = errors.New("queue: no queue keeps this job; its record is void, enqueue it again")
	// ErrNoRecords is the answer of [Client.Result] and [Client.RunAgain] without
	// [Config].Records.
	ErrNoRecords = errors.New("queue: no records: Config.Records is nil")
)

// DuplicateError says in which state the job is that is there already, with the
// same payload. It is [ErrDuplicate] to errors.Is.
type DuplicateError struct {
	Info // of the entry that is there
}

func (e *DuplicateError) Error() string {
	text := fmt.Sprintf("queue: enqueue %q on %q: already there, %s", e.TaskID, e.Queue, e.State)
	if e.State == Archived {
		text += "; run it again (RunAgain) or delete it"
	}
	return text
}

// Is reports whether target is [ErrDuplicate].
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

// NotDoneError says in which state a job is that is not done. It is [ErrNotDone] to
// errors.Is.
type NotDoneError struct {
	Info // of its entry
}

func (e *NotDoneError) Error() string {
	return fmt.Sprintf("queue: job %q on %q is not done: %s", e.TaskID, e.Queue, e.State)
}

// Is reports whether target is [ErrNotDone].
func (e *NotDoneError) Is(target error) bool { return target == ErrNotDone }

// MismatchError says that the job ID is taken by a job with another payload. It
// is [holdfast.ErrMismatch] to errors.Is, and not [ErrDuplicate]: whoever takes
// a duplicate for success must not take this for one.
type MismatchError struct {
	Info // of the entry that is there
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("queue: enqueue %q on %q: same job ID, other payload: already there, %s", e.TaskID, e.Queue, e.State)
}

// Is reports whether target is [holdfast.ErrMismatch].
func (e *MismatchError) Is(target error) bool { return target == holdfast.ErrMismatch }

// plain is an error of asynq's without the words for asynq's own developers that
// it begins with: what Redis or the network said is what follows them.
type plain struct{ error }

func (p plain) Error() string {
	text := p.error.Error()
	for _, word := range []string{"asynq: ", "UNKNOWN: ", "INTERNAL_ERROR: ", "redis eval error: ", "redis command error: "} {
		text = strings.TrimPrefix(text, word)
	}
	return text
}

func (p plain) Unwrap() error { return p.error }
