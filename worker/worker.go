package worker

import (
	"context"
	"fmt"
	"sync"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// Worker takes jobs off the queues and runs their handlers. Register with
// [Handle] and [Worker.Use], then call [Worker.Run], once.
type Worker struct {
	cfg       Config
	meter     meter
	running   *running
	stopping  chan struct{} // closed when Run's context ends
	inspector *asynq.Inspector
	warned    warned

	mu       sync.Mutex // for the registration; all of it is read-only once started
	started  bool
	handlers map[string]handler
	outer    []holdfast.Handler // of Use, each around the next
}

// New checks cfg, and connects to nothing yet. Errors: [holdfast.FieldError].
func New(cfg Config) (*Worker, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Worker{
		cfg:      cfg,
		meter:    newMeter(cfg),
		running:  newRunning(),
		stopping: make(chan struct{}),
		handlers: make(map[string]handler),
	}, nil
}

// Use puts middlewares around the handlers of every kind, the first one
// outermost, outside of those given to [Handle]. Their Route is empty. It may be
// called before or after Handle. It panics on a nil one and after [Worker.Run].
func (w *Worker) Use(middlewares ...holdfast.Middleware) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		panic("worker: Use must come before Run")
	}
	for i, m := range middlewares {
		if m == nil {
			panic(fmt.Sprintf("worker: Use: middleware %d is nil", i+1))
		}
		inner := len(w.outer) + 1
		w.outer = append(w.outer, m(holdfast.Route{}, holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
			return w.layer(inner).Handle(ctx, job)
		})))
	}
}

// layer is the i-th handler from outside: those of Use, then the kind's own.
func (w *Worker) layer(i int) holdfast.Handler {
	if i < len(w.outer) {
		return w.outer[i]
	}
	return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
		return w.handlers[job.Kind].Handle(ctx, job)
	})
}

type stoppingKey struct{}

// Stopping returns a channel that is closed as soon as the worker that runs this
// handler begins to stop, Config.Soft before the handler's context ends: the
// moment to finish a batch early. Outside of a handler it is nil, and blocks for
// ever.
func Stopping(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(stoppingKey{}).(chan struct{})
	return c
}
