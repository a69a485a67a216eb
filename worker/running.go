package worker

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/holdfastjobs/holdfast"
)

// running is the set of deliveries and their goroutines at work. A handler
// can outlive its delivery (see ErrOverrun), so a job is in it as long as either
// lives.
type running struct {
	mu    sync.Mutex
	gone  *sync.Cond // one left
	jobs  map[*holdfast.Job]int
	ends  map[*holdfast.Job]context.CancelCauseFunc
	ended bool
}

func newRunning() *running {
	r := &running{jobs: make(map[*holdfast.Job]int), ends: make(map[*holdfast.Job]context.CancelCauseFunc)}
	r.gone = sync.NewCond(&r.mu)
	return r
}

// begin adds a delivery and returns its context, that end can end, and a
// function that takes the delivery out again.
func (r *running) begin(ctx context.Context, job *holdfast.Job) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[job]++
	r.ends[job] = cancel
	if r.ended {
		cancel(ErrStopping)
	}
	return ctx, func() {
		cancel(nil)
		r.mu.Lock()
		delete(r.ends, job)
		r.mu.Unlock()
		r.leave(job)
	}
}

// enter adds a goroutine to a job that is in the set; it ends with leave.
func (r *running) enter(job *holdfast.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[job]++
}

func (r *running) leave(job *holdfast.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobs[job]--; r.jobs[job] == 0 {
		delete(r.jobs, job)
		r.gone.Broadcast()
	}
}

// end ends the context of every delivery, and of those to come, with ErrStopping.
func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for _, cancel := range r.ends {
		cancel(ErrStopping)
	}
}

// wait returns when the set is empty.
func (r *running) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.jobs) > 0 {
		r.gone.Wait()
	}
}

// list returns the jobs in the set.
func (r *running) list() []*holdfast.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.jobs))
}
