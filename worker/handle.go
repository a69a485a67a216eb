package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/holdfastjobs/holdfast"
)

// handler is what the registry knows of a kind.
type handler struct {
	holdfast.Handler
	decode func(payload []byte) (any, error)
}

// Handle registers fn for the kind of A, a struct or a pointer to one, and puts
// middlewares around it, the first one outermost. The kind matches exactly: the
// handler of payments.charge never sees payments.charge_v2.
//
// It panics, in one sentence, when A's zero value has no well-formed kind, when
// the kind has a handler already, and after [Worker.Run].
func Handle[A holdfast.Args](w *Worker, fn func(context.Context, A) error, middlewares ...holdfast.Middleware) {
	args := reflect.TypeFor[A]()
	if args.Kind() == reflect.Interface {
		panic(fmt.Sprintf("worker: Handle needs a function of a concrete type, and %s is an interface", args))
	}
	if fn == nil {
		panic(fmt.Sprintf("worker: Handle for %s got a nil function", args))
	}
	zero, _ := blank[A]()
	kind := zero.Kind()
	if err := holdfast.CheckKind(kind); err != nil {
		panic(fmt.Sprintf("worker: Handle: the kind of a zero %s: %v", args, err))
	}
	typed := holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
		a, ok := job.Args.(A)
		if !ok {
			return fmt.Errorf("worker: handle %s: a middleware replaced Args by %T", kind, job.Args)
		}
		return fn(ctx, a)
	})
	w.register(kind, handler{
		Handler: holdfast.Chain(holdfast.Route{Kind: kind, Args: args}, w.attempt(typed), middlewares...),
		decode: func(payload []byte) (any, error) {
			a, target := blank[A]()
			if err := json.Unmarshal(payload, target); err != nil {
				return nil, &DecodeError{Kind: kind, Type: args, Err: err}
			}
			if args.Kind() == reflect.Pointer {
				return a, nil
			}
			return *target.(*A), nil
		},
	})
}

func (w *Worker) register(kind string, h handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		panic(fmt.Sprintf("worker: Handle %s must come before Run", kind))
	}
	if _, taken := w.handlers[kind]; taken {
		panic(fmt.Sprintf("worker: Handle %s was called before", kind))
	}
	w.handlers[kind] = h
}

// blank returns a zero A and where to decode into: for a pointer type, a new
// zero value and itself, so that neither a method called on it nor a payload of
// null meets a nil pointer.
func blank[A any]() (A, any) {
	t := reflect.TypeFor[A]()
	if t.Kind() == reflect.Pointer {
		a := reflect.New(t.Elem()).Interface().(A)
		return a, a
	}
	a := new(A)
	return *a, a
}
