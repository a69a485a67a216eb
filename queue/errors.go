package queue

import (
	"errors"
	"fmt"

	"github.com/holdfastjobs/holdfast"
)

var (
	// ErrDuplicate says that the queue has this job already. The error is a
	// [DuplicateError].
	ErrDuplicate = errors.New("queue: this job is already there")
	// ErrNoRecords is the answer of [Client.Result] without [Config].Records.
	ErrNoRecords = errors.New("queue: no records: Config.Records is nil")
)

// DuplicateError says in which state the job is that is there already, with the
// same payload. It is [ErrDuplicate] to errors.Is.
type DuplicateError struct {
	Info // of the entry that is there
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("queue: enqueue %q on %q: already there, %s", e.TaskID, e.Queue, e.State)
}

// Is reports whether target is [ErrDuplicate].
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

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
