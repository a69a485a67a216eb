package workertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// Why a [Lock] puts a job back.
var (
	ErrContended = errors.New("workertest: contended")
	ErrLost      = errors.New("workertest: lost while the handler ran")
)

// Lock is a lock of memory. Its [Lock.Middleware] treats a job as the lock middleware
// does: it runs under a tenure, its success is recorded, and a duplicate of it is
// acknowledged with the recorded result, or refused with [holdfast.ErrMismatch]. A
// Foreign job has no record. The zero value is ready; it is safe for concurrent use.
type Lock struct {
	// Token is that of the first tenure, each further one's is larger by 2. Default 2.
	Token int64
	// Abandoned says in every tenure that the holder before died.
	Abandoned bool

	mu      sync.Mutex
	granted int64
	contend int
	lost    error              // of the next tenure
	held    map[string]*tenure // by job key
	records map[string]holdfast.Record
}

// Contend makes the next n deliveries find the lock held by another: they are put back
// after 1 s, uncounted, and the handler does not run.
func (l *Lock) Contend(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.contend = n
}

// Lose takes the lock from whoever holds it, or from the next to get it if nobody does:
// the handler's context ends with cause, or [ErrLost] for nil, and whatever the handler
// returns, the job is put back.
func (l *Lock) Lose(cause error) {
	if cause == nil {
		cause = ErrLost
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) == 0 {
		l.lost = cause
	}
	for _, t := range l.held {
		t.lose(cause)
	}
}

// Middleware is a [holdfast.Middleware].
func (l *Lock) Middleware(_ holdfast.Route, next holdfast.Handler) holdfast.Handler {
	return holdfast.HandlerFunc(func(ctx context.Context, job *holdfast.Job) error {
		t, err := l.take(ctx, job)
		if t == nil {
			return err
		}
		defer l.release(job, t) // after a panic, too
		err = next.Handle(t.ctx, job)
		return l.settle(job, t, err)
	})
}

// tenure is one grant; the Lock's mutex guards lost.
type tenure struct {
	holdfast.Tenure
	ctx    context.Context
	cancel context.CancelCauseFunc
	lost   error
}

func (t *tenure) lose(cause error) {
	t.lost = cause
	t.cancel(cause)
}

// take returns a tenure, or none and what the job is answered.
func (l *Lock) take(ctx context.Context, job *holdfast.Job) (*tenure, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := job.Key()
	if record, done := l.records[key]; done && !job.Foreign {
		if record.Hash != job.Hash {
			return nil, retry.Never(fmt.Errorf("workertest: %w", holdfast.ErrMismatch))
		}
		return nil, job.StoreResult(record.Result)
	}
	if l.contend > 0 || l.held[key] != nil {
		l.contend = max(0, l.contend-1)
		return nil, retry.Later(ErrContended, time.Second)
	}
	l.granted = max(l.granted+2, l.Token, 2)
	t := &tenure{Tenure: holdfast.Tenure{Keys: []string{key}, Token: l.granted, Abandoned: l.Abandoned}}
	t.ctx, t.cancel = context.WithCancelCause(holdfast.WithTenure(ctx, t.Tenure))
	if l.lost != nil {
		t.lose(l.lost)
		l.lost = nil
	}
	if l.held == nil {
		l.held, l.records = make(map[string]*tenure), make(map[string]holdfast.Record)
	}
	l.held[key] = t
	return t, nil
}

// settle records a success that was still the holder's to record.
func (l *Lock) settle(job *holdfast.Job, t *tenure, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.lost != nil {
		return retry.Later(fmt.Errorf("%w: %w", ErrLost, errors.Join(t.lost, err)), time.Second)
	}
	if err == nil && !job.Foreign {
		l.records[job.Key()] = holdfast.Record{Token: t.Token, Hash: job.Hash, Result: job.Result()}
	}
	return err
}

func (l *Lock) release(job *holdfast.Job, t *tenure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, job.Key())
	t.cancel(nil)
}
