package workertest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/worker"
)

// NewJob is the first delivery of args, as package queue enqueues them by default: on
// "default", as attempt 1 of 25, without timeout or deadline. Change what the test is
// about, such as Attempt, before [Run]. It panics when args could not be enqueued.
func NewJob(args holdfast.Args) *holdfast.Job {
	job := &holdfast.Job{Kind: args.Kind(), ID: args.JobID(), Queue: "default", Attempt: 1, MaxAttempts: 25, EnqueuedAt: time.Now()}
	if job.ID == "" {
		job.ID = rand.Text()
	}
	payload, err := json.Marshal(args)
	for _, err := range []error{err, holdfast.CheckKind(job.Kind), holdfast.CheckJobID(job.ID)} {
		if err != nil {
			panic(fmt.Sprintf("workertest: NewJob of %T: %v", args, err))
		}
	}
	job.Payload, job.Hash = payload, holdfast.PayloadHash(payload)
	return job
}

// Run delivers job once to fn, behind middlewares, the first one outermost, as a worker
// does that [worker.Handle] was called for. It returns when the attempt is settled. A
// job is one delivery: make another for the next. What Handle panics on, it panics on.
func Run[A holdfast.Args](ctx context.Context, job *holdfast.Job, fn func(context.Context, A) error, middlewares ...holdfast.Middleware) Report {
	w := holdfast.Must(worker.New(worker.Config{Redis: nowhere{}, Logger: slog.New(slog.DiscardHandler)}))
	var ran, asked atomic.Bool // a handler that is given up goes on
	var tenure holdfast.Tenure
	watch := func(ctx context.Context, a A) error {
		tenure, _ = holdfast.TenureFrom(ctx)
		ran.Store(true)
		return fn(watched{ctx, &asked}, a)
	}
	if fn == nil {
		watch = nil
	}
	worker.Handle(w, watch, middlewares...)
	verdict, err := w.Deliver(ctx, job)
	r := Report{Verdict: verdict, Err: err, Ran: ran.Load(), AskedForToken: asked.Load(), Result: job.Result()}
	if r.Ran {
		r.Tenure = tenure // written before ran was
	}
	return r
}

// nowhere is a Redis that is never asked for.
type nowhere struct{}

func (nowhere) MakeRedisClient() any { return nil }

// watched notes that a tenure is asked for.
type watched struct {
	context.Context
	asked *atomic.Bool
}

func (w watched) Value(key any) any {
	v := w.Context.Value(key)
	if _, ok := v.(holdfast.Tenure); ok {
		w.asked.Store(true)
	}
	return v
}
