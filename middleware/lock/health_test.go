package lock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

// untilEnd waits for the end of ctx, or for long enough to be sure of none.
func untilEnd(ctx context.Context) error {
	timer := time.NewTimer(1500 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func TestAHandlerThatIsGivenUpFailsWhateverItReturns(t *testing.T) {
	broken := errors.New("no connection to the database")
	for name, c := range map[string]struct {
		option lock.Option
		why    redlock.Why
	}{
		"unhealthy": {lock.Healthy(func(context.Context) error { return broken }), redlock.LostUnhealthy},
		"stalled":   {lock.Stall(300 * time.Millisecond), redlock.LostStalled},
		"max hold":  {lock.MaxHold(300 * time.Millisecond), redlock.LostMaxHold},
		"nothing":   {lock.MaxHold(0), ""}, // the control
	} {
		t.Run(name, func(t *testing.T) {
			onEachKind(t, func(t *testing.T, n nodes) {
				l := n.locker(t)
				for returned, id := range map[error]string{nil: "nil", errDeclined: "error", retry.Never(errDeclined): "never", retry.Later(errDeclined, time.Second): "later"} {
					var cause error
					h := &handler{do: func(ctx context.Context) error {
						cause = untilEnd(ctx)
						return returned
					}}
					job := delivery(id, id)
					err := deliver(t, guarded(l, h, c.option), job)
					if c.why == "" {
						want(t, err, retry.Of(returned).Kind, returned)
						continue
					}
					want(t, err, retry.KindRetry, lock.ErrGivenUp)
					lost, ok := errors.AsType[*redlock.LostError](err)
					if !ok || lost.Why != c.why || !errors.Is(cause, redlock.ErrLost) || errors.Is(err, errDeclined) {
						t.Errorf("%s: %v, and the handler's context ended with %v", id, err, cause)
					}
					if c.why == redlock.LostUnhealthy && !errors.Is(err, broken) {
						t.Errorf("what the check said is left out: %v", err)
					}
					if returned != nil && !strings.Contains(err.Error(), "card declined") {
						t.Errorf("what the handler said is left out: %v", err)
					}
					// It is not done, and it is free.
					h.do = nil
					want(t, deliver(t, guarded(l, h), job), retry.KindDone, nil)
					if runs := h.runs.Load(); runs != 2 {
						t.Errorf("%s: ran %d times", id, runs)
					}
				}
			})
		})
	}
}

func TestBeatsKeepAHandlerFromStalling(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l := n.locker(t)
		h := &handler{do: func(ctx context.Context) error {
			// Another lock below the job's, which nobody asks for beats.
			return l.Do(ctx, "r/below", func(ctx context.Context) error {
				tick := time.NewTicker(50 * time.Millisecond)
				defer tick.Stop()
				for range 30 {
					select {
					case <-tick.C:
						lock.Beat(ctx)
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				}
				return nil
			})
		}}
		want(t, deliver(t, guarded(l, h, lock.Stall(500*time.Millisecond)), delivery("ch_1", "a1")), retry.KindDone, nil)
		lock.Beat(t.Context()) // outside a handler it is nothing
	})
}

func TestOneHandlersHealthIsNoMatterOfAnothers(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l := n.locker(t)
		var asked atomic.Int32
		well := &handler{do: untilEnd}
		healthy := guarded(l, well, lock.Healthy(func(ctx context.Context) error {
			if _, ok := holdfast.TenureFrom(ctx); !ok {
				return errors.New("asked without the job's context")
			}
			asked.Add(1)
			return nil
		}))
		ended := make(chan error, 1)
		go func() { ended <- deliver(t, healthy, delivery("well", "a1")) }()
		ill := guarded(l, &handler{do: untilEnd}, lock.Healthy(func(context.Context) error { panic("boom") }))
		want(t, deliver(t, ill, delivery("ill", "a2")), retry.KindRetry, lock.ErrGivenUp)
		want(t, <-ended, retry.KindDone, nil)
		if asked.Load() == 0 {
			t.Error("the healthy one was never asked")
		}
	})
}
