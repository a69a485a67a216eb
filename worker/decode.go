package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// DecodeError says that a payload is not JSON for the handler's type. The job is
// archived at once: the same bytes will not decode next time.
type DecodeError struct {
	Kind string
	Type reflect.Type
	Err  error // of encoding/json or of an UnmarshalJSON; it may quote the payload
}

// Error names kind, Go type, what was wrong and at which byte. It never quotes
// the payload, as it ends up in Redis, logs and traces; Err's own text may.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("worker: decode payload of %s into %s: %s", e.Kind, e.Type, e.problem())
}

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// ErrorType is the error.type attribute.
func (e *DecodeError) ErrorType() string { return "decode" }

func (e *DecodeError) problem() string {
	if syntax, ok := errors.AsType[*json.SyntaxError](e.Err); ok {
		return fmt.Sprintf("%s at offset %d", syntax, syntax.Offset)
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](e.Err); ok {
		value, _, _ := strings.Cut(mismatch.Value, " ") // "number 4111…" holds the number itself
		return fmt.Sprintf("field %q wants %s, found %s at offset %d", mismatch.Field, mismatch.Type, value, mismatch.Offset)
	}
	return fmt.Sprintf("refused by its type (%T)", e.Err)
}
