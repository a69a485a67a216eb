package holdfast

import (
	"errors"
	"fmt"
	"strings"
)

// ErrMismatch says that a job ID came a second time with another payload. Both
// the queue, at enqueue, and the lock middleware, at execution, answer with it.
var ErrMismatch = errors.New("holdfast: same job ID, other payload")

// FieldError is bad input or bad configuration: which field, what it held, and
// what it may hold.
type FieldError struct {
	Room  string // the package that refuses; "" for this one
	Field string
	Value any
	Want  string // the accepted range, in words
	Err   error  // the cause, which may quote the value; nil when there is none
}

// maxValue is the most of a bad value that is worth reading, in bytes.
const maxValue = 80

// Error names room, field, value and accepted range, in this order.
func (e *FieldError) Error() string {
	room := e.Room
	if room == "" {
		room = "holdfast"
	}
	if s, ok := e.Value.(string); ok {
		if len(s) > maxValue {
			s = strings.ToValidUTF8(s[:maxValue], "") + "…"
		}
		return fmt.Sprintf("%s: %s: %q is not accepted: want %s", room, e.Field, s, e.Want)
	}
	return fmt.Sprintf("%s: %s: %v is not accepted: want %s", room, e.Field, e.Value, e.Want)
}

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }
