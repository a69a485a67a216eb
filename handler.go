package holdfast

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

// Handler runs one delivery of a job. What it returns decides what happens to
// the job: nil is done, an error is a counted failure, and package retry has
// the words for everything between.
type Handler interface {
	Handle(ctx context.Context, job *Job) error
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, job *Job) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, job *Job) error { return f(ctx, job) }

// Route says what a middleware is being put around, at registration and never
// again: the moment to refuse a handler it cannot serve, by a panic in one
// sentence.
type Route struct {
	Kind string       // "" in front of handlers of every kind
	Args reflect.Type // the handler's own type; nil when it takes any
}

// Middleware puts itself around next. It is called once per registration.
type Middleware func(route Route, next Handler) Handler

// Chain puts middlewares around h, the first one outermost. It panics on a nil
// one.
func Chain(route Route, h Handler, middlewares ...Middleware) Handler {
	for i, m := range slices.Backward(middlewares) {
		if m == nil {
			panic(fmt.Sprintf("holdfast: middleware %d around kind %q is nil", i+1, route.Kind))
		}
		h = m(route, h)
	}
	return h
}
