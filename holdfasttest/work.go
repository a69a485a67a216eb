package holdfasttest

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/holdfastjobs/holdfast/worker"
)

// Work starts a worker on the fleet's Redis, with the handlers that register gives it,
// until the test ends or the returned function is called, which waits for it to drain.
// A field of cfg that is zero has the worker's default, but the check intervals, which
// are 10 ms, and Drain, 5 s. The test fails when the worker does.
func (f *Fleet) Work(cfg worker.Config, register func(w *worker.Worker)) (stop func()) {
	f.t.Helper()
	cfg.TaskCheckInterval = cmp.Or(cfg.TaskCheckInterval, 10*time.Millisecond)
	cfg.DelayedTaskCheckInterval = cmp.Or(cfg.DelayedTaskCheckInterval, 10*time.Millisecond)
	cfg.Drain = cmp.Or(cfg.Drain, 5*time.Second)
	if cfg.Redis == nil {
		cfg.Redis = f.Nodes
	}
	w, err := worker.New(cfg)
	if err != nil {
		f.t.Fatalf("holdfasttest: %v", err)
	}
	register(w)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		f.closed("worker", <-ended)
	})
	f.t.Cleanup(stop)
	return stop
}
