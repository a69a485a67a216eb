package lock_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

// death is what OnDead heard, and what the job's lock was like then.
type death struct {
	err  error
	lock error // of an acquire by another: redlock.ErrHeld, or nil
	at   time.Time
}

// lastAttempt runs a job's only attempt, with a timeout of 1 s, and returns how it
// ended. It stops the worker when the test ends.
func (f *fleet) lastAttempt(t *testing.T, overrun time.Duration, log *lines, handle func(ctx context.Context) error, opts ...lock.Option) <-chan death {
	t.Helper()
	thief := f.locker(t)
	deaths := make(chan death, 1)
	w := holdfast.Must(worker.New(worker.Config{
		Redis: f.redis, MaxOverrun: overrun, TaskCheckInterval: 20 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil)),
		OnDead: func(ctx context.Context, _ *holdfast.Job, err error) {
			d := death{err: err, at: time.Now()}
			lease, err := thief.TryAcquire(ctx, redlock.Key("j/charge/ch_1"))
			for errors.Is(err, redlock.ErrNoQuorum) { // a machine that is too busy
				lease, err = thief.TryAcquire(ctx, redlock.Key("j/charge/ch_1"))
			}
			if d.lock = err; err == nil {
				_, _ = lease.Release(ctx)
			}
			deaths <- d
		},
	}))
	worker.Handle(w, func(ctx context.Context, _ charge) error { return handle(ctx) }, lock.Middleware(f.locker(t), opts...))
	holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: "ch_1"}, queue.MaxAttempts(1), queue.Timeout(time.Second)))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return deaths
}

func (d death) want(t *testing.T, err, lock error) {
	t.Helper()
	if !errors.Is(d.err, err) || !errors.Is(d.lock, lock) {
		t.Errorf("it ended with %v, and another's acquire then with %v; want %v and %v", d.err, d.lock, err, lock)
	}
}

func TestALockIsNotReleasedWhileItsHandlerRuns(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var log lines
		finish := make(chan struct{})
		defer close(finish)
		ended := f.lastAttempt(t, 100*time.Millisecond, &log, func(context.Context) error {
			<-finish // whatever its context says
			return nil
		})
		(<-ended).want(t, worker.ErrOverrun, redlock.ErrHeld)
		lease, err := f.locker(t).Acquire(t.Context(), redlock.Claim{Keys: []string{"j/charge/ch_1"}, Wait: 10 * time.Second})
		if err != nil {
			t.Fatalf("it did not run out: %v", err)
		}
		_, _ = lease.Release(t.Context())
		if log.count("TestALockIsNotReleasedWhileItsHandlerRuns") == 0 {
			t.Error("the log does not say what the handler is at")
		}
	})
}

// The control: a lock whose handler has returned is free at once.
func TestALockIsReleasedWhenItsHandlerReturnsLate(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var log lines
		ended := f.lastAttempt(t, time.Minute, &log, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		(<-ended).want(t, worker.ErrTimeout, nil)
	})
}

func TestWithoutOverrunAHandlerHasWhatIsLeftOfItsLock(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var log lines
		finish, timeout := make(chan struct{}), make(chan time.Time, 1)
		defer close(finish)
		ended := f.lastAttempt(t, -1, &log, func(ctx context.Context) error {
			<-ctx.Done()
			timeout <- time.Now()
			<-finish
			return nil
		})
		d := <-ended
		d.want(t, worker.ErrOverrun, redlock.ErrHeld)
		if waited := d.at.Sub(<-timeout); waited > time.Second {
			t.Errorf("given up after %v, and the TTL is 1s", waited)
		}
	})
}

func TestWithoutOverrunASuccessThatIsALittleLateIsOne(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var log lines
		_ = f.lastAttempt(t, -1, &log, func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
		f.done(t, 20*time.Second, "ch_1")
	})
}

// A handler that was given up and does not heed it is answered for while the lock
// stands, so that the failure counts.
func TestAHandlerThatHangsIsGivenUpBeforeItsLockRunsOut(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var log lines
		finish := make(chan struct{})
		defer close(finish)
		ended := f.lastAttempt(t, time.Minute, &log, func(context.Context) error {
			<-finish
			return nil
		}, lock.MaxHold(300*time.Millisecond))
		(<-ended).want(t, lock.ErrGivenUp, redlock.ErrHeld)
	})
}

// After that, its failure is not its own to tell.
func TestAHandlerThatWasGivenUpAndReturnsTooLateAnswersLater(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		for name, returned := range map[string]error{"nil": nil, "never": retry.Never(errDeclined)} {
			h := &handler{do: func(ctx context.Context) error {
				<-ctx.Done()
				<-time.After(1100 * time.Millisecond) // a TTL
				return returned
			}}
			job := delivery(name, "a1")
			want(t, deliver(t, guarded(n.locker(t), h, lock.MaxHold(50*time.Millisecond)), job), retry.KindLater, lock.ErrLost)
			if job.Disowned() == nil {
				t.Error("the worker is not told")
			}
		}
	})
}

// What runs between lock and handler may end its goroutine, and the lock with it.
func TestAPanicAfterTheLockWasLostDisownsTheJob(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		thief, l := n.locker(t), n.locker(t)
		for id, lost := range map[string]bool{"lost": true, "held": false} {
			h := &handler{do: func(context.Context) error {
				if lost {
					n.steal(t, thief, "j/charge/"+id)
				}
				panic("boom")
			}}
			job := delivery(id, "a1")
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic did not go on")
					}
				}()
				_ = deliver(t, guarded(l, h), job)
			}()
			if disowned := job.Disowned() != nil; disowned != lost {
				t.Errorf("%s: disowned %v", id, disowned)
			}
		}
	})
}
