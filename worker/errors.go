package worker

import (
	"fmt"
	"strings"

	"github.com/holdfastjobs/holdfast"
)

// Reasons of the worker's own, to be matched with errors.Is in Config.OnDead
// and in middlewares. ErrTimeout, ErrExpired and ErrStopping are cancellation
// causes of the handler's context as well.
var (
	// ErrTimeout: the attempt took longer than the job's Timeout.
	ErrTimeout error = reason{"timeout", "worker: handler timed out"}
	// ErrExpired: the job's Deadline has passed.
	ErrExpired error = reason{"expired", "worker: deadline of the job has passed"}
	// ErrStopping: the worker stops, and Config.Soft is over.
	ErrStopping error = reason{"stopping", "worker: stopping"}
	// ErrOverrun: the handler still ran Config.MaxOverrun after its context had
	// ended. The worker no longer waits for it: the next attempt may overlap.
	ErrOverrun error = reason{"overrun", "worker: handler ignores the end of its context"}
	// ErrBudget: the job has no attempt left.
	ErrBudget error = reason{"budget", "worker: no attempt left"}
	// ErrUnknownKind: no worker had a handler for the kind, for Config.UnknownFor.
	ErrUnknownKind error = reason{"unknown_kind", "worker: no handler for this kind"}
	// ErrHeaders: the headers are ours and do not parse.
	ErrHeaders error = reason{"headers", "worker: headers of the job do not parse"}
	// ErrGoexit: the handler or a middleware ended its goroutine by runtime.Goexit.
	ErrGoexit error = reason{"goexit", "worker: handler or middleware ended its goroutine by runtime.Goexit"}
)

// reason is a sentinel that knows its error.type attribute.
type reason struct{ kind, text string }

func (r reason) Error() string     { return r.text }
func (r reason) ErrorType() string { return r.kind }

// PanicError is a panic in a handler or a middleware, as an error.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine that panicked; not part of the message
}

// Error names the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("worker: panic: %v", e.Value) }

// Unwrap returns Value when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrorType is the error.type attribute.
func (e *PanicError) ErrorType() string { return "panic" }

// DrainError is the answer of [Worker.Run] when handlers still ran after
// Config.Drain.
type DrainError struct {
	Jobs []*holdfast.Job // whose handlers run; none when only asynq did not stop
}

// Error names kind and ID of every job.
func (e *DrainError) Error() string {
	if len(e.Jobs) == 0 {
		return "worker: drain: no handler runs any more, but asynq did not stop in time"
	}
	names := make([]string, len(e.Jobs))
	for i, job := range e.Jobs {
		names[i] = fmt.Sprintf("%s %q", job.Kind, job.ID)
	}
	return "worker: drain: handlers still run: " + strings.Join(names, ", ")
}
